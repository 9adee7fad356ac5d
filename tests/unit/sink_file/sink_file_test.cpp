// The file sink: names, files that exist, disks that are full.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/agent/services/service_tables.h"
#include "platform/platform.h"
#include "tools/mock/sink_run.h"

extern "C" const hprof_module* hprof_module_sink_file(const hprof_offer*, const char**);

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_sink_file, "sink_file"); }

std::string name_of(const std::string& pattern, uint32_t sequence = 1, const char* suffix = ".txt") {
  MockHost host;
  SinkRun sink(host, unit(), pattern, {}, 1, sequence, suffix);
  REQUIRE(sink.opened == HPROF_OK);
  return sink.name();
}

// The name taken with force=n while `existing` are there.
std::string spare_name(const std::string& wanted, const std::vector<std::string>& existing,
                       uint32_t force = HPROF_EXISTING_KEEP, uint32_t sequence = 1,
                       const char* suffix = ".txt") {
  MockHost host;
  for (const auto& path : existing) host.files[path] = {path, "old", false, false};
  SinkRun sink(host, unit(), wanted, {}, force, sequence, suffix);
  if (sink.opened != HPROF_OK) return "";
  for (const auto& path : existing) CHECK(host.files[path].bytes == "old");
  return sink.name();
}

}  // namespace

TEST_CASE("the pid, the time and the number of the output come into the name") {
  CHECK(name_of("java.hprof.txt") == "java.hprof.txt");
  CHECK(name_of("a%p-%t-%n.txt") == "a4711-20260102030405-1.txt");
  CHECK(name_of("%n%n", 12) == "1212");
  CHECK(name_of("100%%") == "100%");
  CHECK(name_of("100%") == "100%");
  CHECK(name_of("%x%") == "%x%");
  CHECK(name_of("%%p") == "%p");
}

TEST_CASE("a later output does not take the place of an earlier one") {
  CHECK(name_of("java.hprof", 2, "") == "java.hprof.2");
  CHECK(name_of("java.hprof", 2) == "java.hprof.2");
  CHECK(name_of("java.hprof.txt", 3) == "java.hprof.3.txt");
  CHECK(name_of("a.TXT", 3) == "a.3.TXT");
  CHECK(name_of("java.hprof.html", 2, ".html") == "java.hprof.2.html");
  CHECK(name_of("java.hprof.pb.gz", 2, ".pb") == "java.hprof.2.pb.gz");
  CHECK(name_of("a.json", 2, ".json") == "a.2.json");
  CHECK(name_of("a.heat", 2, ".heat") == "a.2.heat");
  CHECK(name_of("a.heat", 2) == "a.heat.2");
  CHECK(name_of("a.gz", 2) == "a.gz.2");
  CHECK(name_of("dump-%n.hprof", 2) == "dump-2.hprof");
  CHECK(name_of("/dev/null", 2) == "/dev/null");
}

TEST_CASE("with force=n an existing file is kept, and the pid comes into the name") {
  CHECK(spare_name("java.hprof.txt", {}) == "java.hprof.txt");
  CHECK(spare_name("java.hprof.txt", {"java.hprof.txt"}) == "java.hprof.4711.txt");
  CHECK(spare_name("java.hprof", {"java.hprof"}, HPROF_EXISTING_KEEP, 1, "") == "java.hprof.4711");
  CHECK(spare_name("x.txt", {"x.txt", "x.4711.txt"}) == "x.4711.2.txt");
  CHECK(spare_name(".txt", {".txt"}) == ".4711.txt");
  std::vector<std::string> all = {"x", "x.4711.txt"};
  for (int n = 2; n <= 9; n++) all.push_back("x.4711." + std::to_string(n) + ".txt");
  CHECK(spare_name("x", all) == "");
}

TEST_CASE("a name that gets the pid ends in the format's suffix, as in the original") {
  CHECK(spare_name("pre", {"pre"}) == "pre.4711.txt");
  CHECK(spare_name("pre.out", {"pre.out"}) == "pre.out.4711.txt");
  CHECK(spare_name("pre.TXT", {"pre.TXT"}) == "pre.4711.TXT");
  CHECK(spare_name("pre.txt.gz", {"pre.txt.gz"}) == "pre.4711.txt.gz");
  CHECK(spare_name("pre.pb", {"pre.pb"}, HPROF_EXISTING_KEEP, 1, ".pb") == "pre.4711.pb");
  CHECK(spare_name("pre.txt", {"pre.txt"}, HPROF_EXISTING_KEEP, 1, "") == "pre.txt.4711");
}

TEST_CASE("with the policy of an attach an existing file is kept, and the next gets a number") {
  const uint32_t number = HPROF_EXISTING_NUMBER;
  CHECK(spare_name("java.hprof.txt", {}, number) == "java.hprof.txt");
  CHECK(spare_name("java.hprof.txt", {"java.hprof.txt"}, number) == "java.hprof.2.txt");
  CHECK(spare_name("a", {"a", "a.2", "a.3"}, number) == "a.4");
  CHECK(spare_name("a", {"a", "a.2"}, number, 2) == "a.3");
  CHECK(spare_name("a", {}, number, 2) == "a.2");
  CHECK(spare_name("a%n", {"a2"}, number, 2) == "a2.2");
  MockHost host;
  host.files["x.txt"] = {"x.txt", "old", false, false};
  SinkRun sink(host, unit(), "x.txt", {}, number);
  CHECK(host.said("x.txt is kept (force=y replaces it): writing to x.2.txt"));
}

TEST_CASE("a file that a living process writes is left alone, whatever the policy") {
  MockHost host;
  for (uint32_t force : {HPROF_EXISTING_REPLACE, HPROF_EXISTING_NUMBER, HPROF_EXISTING_KEEP}) {
    SinkRun first(host, unit(), "x.txt", {}, HPROF_EXISTING_REPLACE);
    CHECK(first.write_all("first") == 5);
    std::string other;
    {
      SinkRun second(host, unit(), "x.txt", {}, force);
      CHECK(second.opened == HPROF_OK);
      other = second.name();
    }
    CHECK(other == (force == HPROF_EXISTING_NUMBER ? "x.2.txt" : "x.4711.txt"));
    CHECK(host.files["x.txt"].bytes == "first");
    if (force == HPROF_EXISTING_REPLACE) {
      CHECK(host.said("x.txt is in use by a running VM: writing to x.4711.txt"));
    }
    host.files.erase(other);
  }
}

TEST_CASE("mode= opens the file to readers, and not unless it is said") {
  MockHost host;
  SinkRun(host, unit(), "a");
  CHECK(host.files["a"].mode == 0600);
  SinkRun(host, unit(), "b", {{"mode", "0640"}});
  CHECK(host.files["b"].mode == 0640);
  SinkRun(host, unit(), "c", {{"mode", "0644"}});
  CHECK(host.files["c"].mode == 0644);
}

TEST_CASE("the other name is said") {
  MockHost host;
  host.files["x.txt"] = {"x.txt", "old", false, false};
  SinkRun sink(host, unit(), "x.txt", {}, 0);
  CHECK(host.said("x.txt is kept (force=n): writing to x.4711.txt"));
}

TEST_CASE("with force=y an existing file is replaced") {
  MockHost host;
  host.files["x.txt"] = {"x.txt", "old", false, false};
  SinkRun sink(host, unit(), "x.txt");
  CHECK(sink.write_all("new") == 3);
  CHECK(sink.close() == HPROF_OK);
  CHECK(host.files["x.txt"].bytes == "new");
  CHECK(host.messages.empty());
}

TEST_CASE("a file that cannot be made is an error with its name and the reason, and costs nothing") {
  MockHost host;
  for (uint32_t force : {0u, 1u}) {
    SinkRun sink(host, unit(), "/nonexistent/x", {}, force);
    CHECK(sink.opened == HPROF_FAILED);
    CHECK(std::string(sink.error) == "can't create profile file: /nonexistent/x: No such file or directory");
  }
  CHECK(host.memory_used == 0);
}

TEST_CASE("names that are too long are refused, not cut") {
  MockHost host;
  CHECK(SinkRun(host, unit(), std::string(5000, 'x')).opened == HPROF_FAILED);
  CHECK(SinkRun(host, unit(), std::string(4095, 'x')).opened == HPROF_OK);
  CHECK(SinkRun(host, unit(), std::string(4095, 'x'), {}, 1, 2).opened == HPROF_FAILED);
  std::string pids;
  for (int i = 0; i < 2000; i++) pids += "%p";
  CHECK(SinkRun(host, unit(), pids).opened == HPROF_FAILED);
  CHECK(host.memory_used == 0);
}

TEST_CASE("writes in parts, late or not at all are passed on as they are") {
  MockHost host;
  host.write_most = 3;
  SinkRun sink(host, unit(), "x");
  host.stalled_writes = 2;
  CHECK(sink.write_all("abcdefgh") == 8);
  CHECK(host.files["x"].bytes == "abcdefgh");
  host.stalled_writes = 100;
  CHECK(sink.write("i") == 0);
  host.stalled_writes = 0;
  host.space_left = 2;
  CHECK(sink.write_all("jklm") == 2);
  CHECK(sink.write("lm") == -1);
  CHECK(std::string(sink.error) == "No space left on device");
  CHECK(sink.close(0) == HPROF_OK);
  CHECK(host.files["x"].bytes == "abcdefghjk");
  CHECK(host.memory_used == 0);
}

TEST_CASE("a failing close is an error, and still gives everything back") {
  MockHost host;
  host.close_error = "Input/output error";
  SinkRun sink(host, unit(), "x");
  CHECK(sink.close() == HPROF_FAILED);
  CHECK(std::string(sink.error) == "it can't be closed: Input/output error");
  CHECK(host.memory_used == 0);
}

TEST_CASE("a dump that is cut short or cannot be closed leaves no file, or with keep=y a partial one") {
  for (const char* keep : {"n", "y"}) {
    for (bool is_cut : {true, false}) {
      MockHost host;
      MockConfig config(unit(), {{"keep", keep}});
      hprof_sink_target target = {};
      target.size = sizeof target;
      target.sequence = target.whole_only = 1;
      target.address = "x";
      target.host_name = target.suffix = target.filter_suffix = "";
      const auto* ops = static_cast<const hprof_sink_ops*>(unit().ops);
      void* self = nullptr;
      char text[200] = "";
      REQUIRE(ops->open(host.host(), config.data(), &target, &self, text, sizeof text) == HPROF_OK);
      if (!is_cut) host.close_error = "Input/output error";
      CHECK(ops->close(self, is_cut ? 0 : 1, text, sizeof text) == (is_cut ? HPROF_OK : HPROF_FAILED));
      CHECK(host.files.count("x") == 0);
      CHECK(host.files.count("x.partial") == (keep[0] == 'y' ? 1 : 0));
    }
  }
}

TEST_CASE("without the io service there is no sink") {
  MockHost host;
  host.set_service(HPROF_SERVICE_IO, nullptr);
  SinkRun sink(host, unit(), "x");
  CHECK(sink.opened == HPROF_UNSUPPORTED);
  CHECK(sink.error[0] != 0);
}

TEST_CASE("real files: private, whole, and an existing one kept") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("hprof-sink-" + std::to_string(platform::process_id()) + "-" +
                                                std::to_string(platform::monotonic_ns()));
  REQUIRE(std::filesystem::create_directory(folder));
  const std::string path = (folder / "out.txt").string();
  MockHost host;
  host.set_service(HPROF_SERVICE_IO, &kIoService);
  const std::string bytes(300000, 'x');
  for (uint32_t force : {1u, 0u}) {
    SinkRun sink(host, unit(), path, {}, force);
    REQUIRE(sink.opened == HPROF_OK);
    CHECK(sink.write_all(bytes) == bytes.size());
    const std::string name = sink.name();
    CHECK(sink.close() == HPROF_OK);
    CHECK((name == path) == (force == 1));
    platform::File file;
    REQUIRE(platform::file_open(name.c_str(), &file) == 0);
    CHECK(platform::file_is_private(file));
    platform::file_close(&file);
    std::stringstream got;
    got << std::ifstream(name).rdbuf();
    CHECK(got.str() == bytes);
  }
  std::filesystem::remove_all(folder);
}
