// What encoders are told of reports.
#include <doctest/doctest.h>
#include <string>

#include "tests/unit/agent/session_fixture.h"

using namespace hprof;

namespace {

const std::vector<hprof_report_info>& reports() { return heard().reports; }

bool is_forward(const hprof_report_info& info) {
  return info.begin_ns != 0 && info.begin_ns <= info.end_ns && info.begin_wall_ns <= info.end_wall_ns;
}

void report(SessionFixture& f, uint32_t flags) {
  REQUIRE(f.session->control().acquire(platform::kNoDeadline));
  f.session->reports().report({sizeof(hprof_report), HPROF_REPORT_COMMAND, 0, flags, 0, nullptr});
  f.session->control().release();
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
