// A session from its options to its end.
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/unit/agent/session_fixture.h"

using namespace hprof;
using Texts = std::vector<std::string>;

namespace {

void check_given_back(SessionFixture& f) {
  CHECK(f.session->parts().memory.used() == 0);
  CHECK(f.jvm.disposed == 0);
  CHECK_FALSE(f.jvm.is_environment_used());
  CHECK(f.jvm.blocks == 0);
  CHECK(f.jvm.weak_refs() == 0);
  CHECK(f.jvm.global_refs == 0);
  CHECK(f.jvm.enabled().empty());
}

}  // namespace

TEST_CASE("with wrong options nothing of the VM is touched") {
  SessionFixture f;
  CHECK_FALSE(f.load("watch=y,depht=4"));
  CHECK(f.jvm.enabled().empty());
  CHECK(f.session->parts().jvmti == nullptr);
  CHECK(f.take_heard().empty());
  CHECK(f.written().empty());
}

TEST_CASE("a collector that cannot be created ends the load, and leaves nothing") {
  SessionFixture f;
  heard().create_status = HPROF_UNSUPPORTED;
  CHECK_FALSE(f.load("watch=y"));
  CHECK(access(f.file.c_str(), F_OK) != 0);
  f.session->dispose();
  check_given_back(f);
}

TEST_CASE("what a start that failed has begun is stopped") {
  SessionFixture f;
  heard().start_status = HPROF_FAILED;
  f.run("watch=y");
  CHECK(f.take_heard() == Texts{"create", "start", "stop"});
  CHECK_FALSE(f.session->parts().units.is_collecting());
}

TEST_CASE("while an attach starts the collectors, a dump is not left to the VM's attach thread") {
  SessionFixture f;
  REQUIRE(f.load("watch=y"));
  const Control& control = f.session->parts().control;
  bool waits = false;
  heard().on_start = [&] { waits = control.is_waited_for_by_attach(); };
  f.jvm.on(f.main, [&] { REQUIRE(f.session->start_attached()); });
  CHECK(waits);
  CHECK_FALSE(control.is_waited_for_by_attach());
}

TEST_CASE("a want that stands for nothing is not granted") {
  SessionFixture f;
  f.run("watch=y");
  const uint64_t granted = f.session->parts().settings.granted;
  CHECK(granted < 1ull << HPROF_NEED_COUNT);
  CHECK((granted & HPROF_NEED_GC_EVENTS) != 0);
}

TEST_CASE("the VM's death stops the collectors after the last report, which is written whole") {
  SessionFixture f;
  f.run("watch=y");
  f.take_heard();
  f.die();
  CHECK(f.take_heard() == Texts{"report exit", "stop"});
  CHECK(f.session->phase() == Session::Phase::kDead);
  CHECK(f.written().find("HPROF NOTE: the watcher was here\n") != std::string::npos);
  f.die();
  CHECK(f.take_heard().empty());
}

TEST_CASE("the last report is left out where it is not wanted, or nothing ran") {
  SessionFixture f;
  SUBCASE("doe=n") { f.run("watch=y,doe=n"); }
  SUBCASE("start=n") { f.run("watch=y,start=n"); }
  f.die();
  for (const std::string& line : f.take_heard()) CHECK(line != "report exit");
  CHECK(f.written().find("the watcher was here") == std::string::npos);
}

TEST_CASE("a request is answered by a report of its own") {
  SessionFixture f;
  f.run("watch=y");
  f.jvm.post_data_dump_request();
  f.wait_for("report request");
  f.jvm.post_data_dump_request();
  f.die();
  const Texts lines = f.take_heard();
  CHECK(lines.back() == "stop");
  CHECK(lines[lines.size() - 2] == "report exit");
}

TEST_CASE("where the VM has no thread for the agent, the last report is written by the one that ends it") {
  SessionFixture f;
  f.jvm.refuses_agent_threads = true;
  f.run("watch=y");
  f.take_heard();
  f.die();
  CHECK(f.take_heard() == Texts{"report exit", "stop"});
  CHECK(f.written().find("the watcher was here") != std::string::npos);
}

TEST_CASE("a report that fails costs nothing but itself") {
  SessionFixture f;
  f.run("watch=y");
  heard().report_status = HPROF_FAILED;
  f.die();
  CHECK(f.session->phase() == Session::Phase::kDead);
  CHECK(f.written().find("the watcher was here") == std::string::npos);
}

TEST_CASE("a detached session has written its report and given everything back") {
  SessionFixture f;
  f.run("watch=y");
  FakeVm::Thread& thread = f.jvm.add_thread("t");
  f.jvm.post_thread_start(thread);
  f.take_heard();
  CHECK(f.detach());
  CHECK(f.take_heard() == Texts{"report exit", "stop", "destroy"});
  check_given_back(f);
  CHECK(f.written().find("the watcher was here") != std::string::npos);
  CHECK_FALSE(f.detach());
  f.die();  // of the VM, later
  CHECK(f.take_heard().empty());
}

TEST_CASE("the VM dies while a session is detached: one of the two ends it") {
  SessionFixture f;
  f.run("watch=y");
  f.take_heard();
  std::atomic<bool> reporting{false}, goes_on{false};
  heard().on_report = [&] {
    reporting = true;
    wait_until([&] { return goes_on.load(); });
  };
  std::thread detaching([&] { CHECK(f.detach()); });
  wait_until([&] { return reporting.load(); });
  std::thread dying([&] { f.die(); });
  goes_on = true;
  detaching.join();
  dying.join();
  CHECK(f.take_heard() == Texts{"report exit", "stop", "destroy"});
  CHECK(f.session->phase() == Session::Phase::kDead);
}

TEST_CASE("a session is finished once, however fast its thread is") {
  for (int i = 0; i < 60; i++) {
    SessionFixture f;
    f.run("watch=y");
    f.take_heard();
    CHECK(f.detach());
    CHECK(f.take_heard() == Texts{"report exit", "stop", "destroy"});
  }
}

TEST_CASE("a VM that dies before it lived leaves an output that is closed") {
  SessionFixture f;
  REQUIRE(f.load("watch=y"));
  f.session->unload();
  CHECK(f.written().find("JAVA PROFILE 1.0.1") == 0);
  f.session->dispose();
}

namespace {

const std::vector<hprof_report_info>& reports() { return heard().reports; }

bool is_forward(const hprof_report_info& info) {
  return info.begin_ns != 0 && info.begin_ns <= info.end_ns && info.begin_wall_ns <= info.end_wall_ns;
}

void report(SessionFixture& f, uint32_t flags) {
  REQUIRE(f.session->parts().control.acquire(platform::kNoDeadline));
  f.session->parts().reports.report({sizeof(hprof_report), HPROF_REPORT_COMMAND, 0, flags, 0, nullptr});
  f.session->parts().control.release();
}

}  // namespace

TEST_CASE("each report of a collector is told with its number, reason, unit and texts") {
  SessionFixture f;
  f.run("watch=y,format=watch,labels=app:shop;zone:b");
  f.command(CommandKind::kReport);
  f.die();
  REQUIRE(reports().size() == 2);
  CHECK(heard().ends == std::vector<hprof_status>{HPROF_OK, HPROF_OK});
  CHECK(reports()[0].sequence == 1);
  CHECK(reports()[1].sequence == 2);
  CHECK(reports()[0].reason == HPROF_REPORT_COMMAND);
  CHECK(reports()[1].reason == HPROF_REPORT_EXIT);
  CHECK(std::string(reports()[0].unit) == "watcher");
  CHECK(std::string(reports()[0].labels) == "app:shop;zone:b");
  CHECK(std::string(reports()[0].suffix) == ".watch");
  CHECK(std::string(reports()[0].content_type) == "text/x-watch");
}

TEST_CASE("windows begin when the collector does, or was reset, and end with the report or its stop") {
  SessionFixture f;
  f.run("watch=y,format=watch");
  f.command(CommandKind::kReport);
  f.command(CommandKind::kReport);
  f.command(CommandKind::kReset);
  f.command(CommandKind::kReport);
  f.command(CommandKind::kStop);
  f.command(CommandKind::kReport);
  f.command(CommandKind::kReport);
  REQUIRE(reports().size() == 5);
  for (const auto& info : reports()) {
    CHECK(is_forward(info));
    CHECK(info.cumulative == 1);
  }
  CHECK(reports()[1].begin_ns == reports()[0].begin_ns);
  CHECK(reports()[1].end_ns >= reports()[0].end_ns);
  CHECK(reports()[2].begin_ns >= reports()[1].end_ns);
  CHECK(reports()[3].begin_ns == reports()[2].begin_ns);
  CHECK(reports()[4].end_ns == reports()[3].end_ns);
  CHECK(reports()[4].end_wall_ns == reports()[3].end_wall_ns);
}

TEST_CASE("a report of what is new begins where the one before ended") {
  SessionFixture f;
  f.run("watch=y,format=watch");
  report(f, HPROF_SITES_INCREMENTAL);
  report(f, HPROF_SITES_INCREMENTAL);
  report(f, 0);
  REQUIRE(reports().size() == 3);
  CHECK(reports()[0].cumulative == 0);
  CHECK(reports()[1].cumulative == 0);
  CHECK(reports()[2].cumulative == 1);
  CHECK(reports()[1].begin_ns == reports()[0].end_ns);
  CHECK(reports()[2].begin_ns == reports()[0].begin_ns);
  for (const auto& info : reports()) CHECK(is_forward(info));
}

TEST_CASE("an output says once what ran and how, but no option that may be a secret") {
  SessionFixture f;
  f.run("watch=y,depth=3,labels=key:secret");
  f.command(CommandKind::kReport);
  f.die();
  const std::string text = f.written(), note = "HPROF NOTE: program , process " + std::to_string(getpid());
  const size_t at = text.find(note);
  REQUIRE(at != std::string::npos);
  CHECK(text.find(", 2 processors; options watch=y depth=3 verbose=n\n", at) != std::string::npos);
  CHECK(text.find("HPROF NOTE: program", at + 1) == std::string::npos);
  CHECK(text.find("secret") == std::string::npos);
}

TEST_CASE("what a format without notes loses until the end of a report is said") {
  SessionFixture f;
  f.run("watch=y,format=watch");
  const auto said = [&f] {
    f.command(CommandKind::kReport);
    char text[300] = "";
    TextWriter line(text, sizeof text);
    f.session->parts().log.last().put(&line, "nothing");
    return std::string(text);
  };
  CHECK(said() == ": nothing");
  heard().lost_at_end = 5;
  CHECK(said().find("lost 5 rows") != std::string::npos);
  CHECK(said().find("lost 10 rows") != std::string::npos);
}

TEST_CASE("the end of a report that failed says so") {
  SessionFixture f;
  f.run("watch=y,format=watch");
  heard().report_status = HPROF_FAILED;
  f.command(CommandKind::kReport);
  CHECK(heard().ends == std::vector<hprof_status>{HPROF_FAILED});
}

TEST_CASE("the depth that an encoder needs stands where the user gave none") {
  const auto depth = [](const std::string& options) {
    SessionFixture f;
    f.run("watch=y" + options);
    return f.session->parts().settings.depth;
  };
  CHECK(depth("") == 4);
  CHECK(depth(",format=watch") == 512);
  CHECK(depth(",format=watch,depth=8") == 8);
  CHECK(depth(",format=watch,depth=600") == 600);
}
