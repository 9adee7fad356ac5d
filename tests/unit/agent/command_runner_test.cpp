// Commands of a control connection, carried out.
#include <algorithm>
#include <doctest/doctest.h>

#include "core/protocol/command_target.h"
#include "tests/unit/agent/session_fixture.h"

using namespace hprof;
using Texts = std::vector<std::string>;

namespace {

std::string said(const Answer& answer) {
  return (answer.good ? "ok " : "error ") + std::string(answer.last_text);
}

// With the file and its size, which end the answer.
bool is_written(const SessionFixture& f, const Answer& answer) {
  return said(answer).rfind("ok reports written: 1, " + f.file + " (", 0) == 0;
}

}  // namespace

TEST_CASE("start, stop, report and reset do so, and say what came of it") {
  SessionFixture f;
  f.run("watch=y,start=n");
  CHECK(f.take_heard() == Texts{"create"});
  CHECK(said(f.command(CommandKind::kReport)) == "error nothing was collected yet: start first");
  CHECK(said(f.command(CommandKind::kStart)) == "ok running: 1");
  CHECK(said(f.command(CommandKind::kStart)) == "ok running: 1");
  CHECK(is_written(f, f.command(CommandKind::kReport)));
  CHECK(said(f.command(CommandKind::kStop)) == "ok stopped");
  CHECK(is_written(f, f.command(CommandKind::kReport)));
  CHECK(f.take_heard() == Texts{"start", "report command", "stop", "report command"});
  CHECK(said(f.command(CommandKind::kReset)) == "ok forgotten: all that was seen");
  CHECK(said(f.command(CommandKind::kReport)) == "error nothing was collected yet: start first");
  CHECK(f.take_heard() == Texts{"reset"});
}

TEST_CASE("a collector that does not start is said to") {
  SessionFixture f;
  f.run("watch=y,start=n");
  heard().start_status = HPROF_FAILED;
  CHECK(said(f.command(CommandKind::kStart)) == "error running: 0 of 1: watcher does not run");
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_MONITOR_WAIT));
  heard().start_status = HPROF_OK;
  CHECK(said(f.command(CommandKind::kStart)) == "ok running: 1");
}

TEST_CASE("a report that fails is said to, the next one is written") {
  SessionFixture f;
  f.run("watch=y");
  heard().report_status = HPROF_FAILED;
  CHECK(said(f.command(CommandKind::kReport)) == "error reports that failed: 1: it failed");
  heard().report_status = HPROF_NO_MEMORY;
  CHECK(said(f.command(CommandKind::kReport))
            .find("error reports that failed: 1: what it hears: no memory for the report") == 0);
  heard().report_status = HPROF_OK;
  CHECK(is_written(f, f.command(CommandKind::kReport)));
}

TEST_CASE("commands for what no collector has are refused by name") {
  SessionFixture f;
  f.run("watch=y");
  f.take_heard();
  const auto refuses = [&](CommandKind kind, const char* what) {
    return said(f.command(kind, 1)).find(std::string("error no collector was chosen that has ") + what) == 0;
  };
  CHECK(refuses(CommandKind::kDumpHeap, "heap dumps"));
  CHECK(refuses(CommandKind::kSites, "allocation sites"));
  CHECK(refuses(CommandKind::kAllocTraces, "allocation sites"));
  CHECK(refuses(CommandKind::kClearSites, "allocation sites"));
  CHECK(f.take_heard().empty());
}

TEST_CASE("what has samples is reported, switched and cleared by the commands for samples") {
  SessionFixture f;
  f.run("watch=y,start=n");
  f.take_heard();
  CHECK(said(f.command(CommandKind::kCpuSampling, 0)) == "ok sampling is off");
  CHECK(f.take_heard().empty());  // it does not run
  CHECK(said(f.command(CommandKind::kCpuSampling, 1)) == "ok sampling is on");
  CHECK(is_written(f, f.command(CommandKind::kSamples)));
  CHECK(said(f.command(CommandKind::kClearCpu)) == "ok forgotten: CPU samples");
  const std::string on = "control " + std::to_string(HPROF_CONTROL_CPU_SAMPLING) + " 1";
  CHECK(f.take_heard() == Texts{"start", on, "report command", "reset"});
}

TEST_CASE("a depth is set, within its limit, and passed on") {
  SessionFixture f;
  f.run("watch=y,depth=4");
  f.take_heard();
  CHECK(said(f.command(CommandKind::kDepth, 9)) == "ok depth: 9");
  CHECK(f.session->parts().settings.depth == 9);
  CHECK(f.take_heard() == Texts{"control " + std::to_string(HPROF_CONTROL_DEPTH) + " 9"});
  f.command(CommandKind::kDepth, 4000000000u);
  CHECK(f.session->parts().settings.depth < 4000000000u);
}

TEST_CASE("status says what runs, and help names the commands") {
  SessionFixture f;
  f.run("watch=y");
  Answer status = f.command(CommandKind::kStatus);
  CHECK(said(status) == "ok running");
  CHECK(std::string(status.lines_text).find("watcher: running\n") == 0);
  CHECK(std::string(status.lines_text).find("output: " + f.file) != std::string::npos);
  f.command(CommandKind::kStop);
  status = f.command(CommandKind::kStatus);
  CHECK(said(status) == "ok idle");
  CHECK(std::string(status.lines_text).find("watcher: stopped\n") == 0);
  CHECK(std::string(f.command(CommandKind::kHelp).lines_text).find("dump heap") != std::string::npos);
}

TEST_CASE("the VM collects garbage, and ends only where that is allowed") {
  SessionFixture f;
  f.run("watch=y");
  CHECK(said(f.command(CommandKind::kForceGc)) == "ok collected");
  CHECK(f.jvm.collections == 1);
  CHECK(said(f.command(CommandKind::kExit)) == "error not allowed: needs the option allow=exit");
}

TEST_CASE("commands come to an end with the session") {
  SessionFixture f;
  f.run("watch=y");
  REQUIRE(f.detach());
  Answer answer;
  Command command;
  CHECK_FALSE(f.session->parts().control.perform(command, &answer));
}
