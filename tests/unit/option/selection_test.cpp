#include "core/option/selection.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/option/configure.h"
#include "tests/support/fake_modules.h"

using namespace hprof;

namespace {
// configure() over the fake folders, and its outcome by name.
struct Run {
  fake::Folders folders;
  fake::Said said;
  std::unique_ptr<Configuration> made = std::make_unique<Configuration>();
  Error error;
  Configured outcome = Configured::kFailed;

  explicit Run(bool shipped = true) {
    if (shipped) fake::add_shipped(&folders);
  }
  Run& with(const std::string& path, hprof_module_entry entry) {
    folders.add(path, entry);
    return *this;
  }
  Run& go(const char* options) {
    outcome = configure(options, "", fake::search(&folders), said.messages(), made.get(), &error);
    return *this;
  }
  std::vector<std::string> collectors() const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < made->selection.collector_count; ++i) {
      names.push_back(made->modules.unit(made->selection.collectors[i]).record->id);
    }
    return names;
  }
  std::string encoder() const { return made->modules.unit(made->selection.encoder).record->id; }
  std::string sink() const { return made->modules.unit(made->selection.sink).record->id; }
  std::string text() const { return error.text; }
};
using Names = std::vector<std::string>;
const std::string kPrefix = "HPROF ERROR: hprof option error: ";
}  // namespace

TEST_CASE("without a selector the original's heap=all runs, as text into a file") {
  Run run;
  REQUIRE(run.go("").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"heap_dump", "heap_sites"});
  CHECK(run.encoder() == "encoder_ascii");
  CHECK(run.sink() == "sink_file");
}

TEST_CASE("options that are no selectors keep the default") {
  Run run;
  REQUIRE(run.go("depth=8,file=x.txt").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"heap_dump", "heap_sites"});
}

TEST_CASE("only the modules that the options ask for are opened") {
  Run run;
  REQUIRE(run.go("cpu=samples").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"cpu_samples"});
  const std::string at = "/jdk/lib/hprof/plugins/";
  CHECK(run.folders.opened() == Names{at + "cpu_samples.so", at + "encoder_ascii.so", at + "sink_file.so"});
}

TEST_CASE("Hadoop's line runs as it stands") {
  Run run;
  run.go("cpu=samples,heap=sites,force=n,thread=y,verbose=n,file=/tmp/profile.out");
  INFO(run.text());
  REQUIRE(run.outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"cpu_samples", "heap_sites"});
  CHECK(run.made->core.force == 0);
  CHECK(run.made->core.thread_in_traces == 1);
  CHECK(run.made->core.verbose == 0);
  CHECK(std::string(run.made->core.file) == "/tmp/profile.out");
}

TEST_CASE("each selector of the original finds its collector") {
  struct {
    const char* options;
    Names runs;
  } const cases[] = {
      {"cpu=y", {"cpu_samples"}},
      {"cpu=times", {"cpu_times"}},
      {"cpu=old", {"cpu_times"}},
      {"heap=dump", {"heap_dump"}},
      {"heap=sites", {"heap_sites"}},
      {"heap=all", {"heap_dump", "heap_sites"}},
      {"monitor=y", {"monitor"}},
      {"monitor=n", {}},
      {"heap=off", {}},
      {"cpu=off,monitor=y", {"monitor"}},
      {"monitor=y,heap=sites,cpu=samples", {"monitor", "heap_sites", "cpu_samples"}},
  };
  for (const auto& one : cases) {
    CAPTURE(one.options);
    Run run;
    REQUIRE(run.go(one.options).outcome == Configured::kRun);
    CHECK(run.collectors() == one.runs);
  }
}

TEST_CASE("net= takes the socket, before file=") {
  Run run;
  REQUIRE(run.go("cpu=samples,format=b,net=localhost:9999,file=x").outcome == Configured::kRun);
  CHECK(run.encoder() == "encoder_binary");
  CHECK(run.sink() == "sink_socket");
}

TEST_CASE("what binary cannot write is refused in the original's words") {
  CHECK(Run().go("format=b,cpu=times").text() ==
        kPrefix + "cpu=times|old is not supported with format=b (format=b,cpu=times)");
  CHECK(Run().go("monitor=y,format=b").text() ==
        kPrefix + "monitor=y is not supported with format=b (monitor=y,format=b)");
  CHECK(Run().go("format=b,cpu=samples,heap=all").outcome == Configured::kRun);
}

TEST_CASE("values that nobody knows are refused with those that exist") {
  CHECK(Run().go("heap=foo").text() == kPrefix + "heap option value must be dump|sites|all|off (heap=foo)");
  CHECK(Run().go("cpu=").text() == kPrefix + "cpu option value must be samples|times|old|y|off (cpu=)");
  CHECK(Run().go("monitor=maybe").text() == kPrefix + "monitor option value must be y|all|n (monitor=maybe)");
}

TEST_CASE("a module that is not there stops the start and says where it was looked for") {
  Run run(false);
  run.with("/jdk/lib/encoder_ascii.so", fake::open_encoder_ascii)
      .with("/jdk/lib/sink_file.so", fake::open_sink_file);
  CHECK(run.go("heap=sites,plugins=/opt/a:/opt/b").outcome == Configured::kFailed);
  CHECK(run.text() == kPrefix +
                          "heap=sites is not in this build: no module heap_sites in "
                          "/jdk/lib/hprof/plugins:/jdk/lib:/opt/a:/opt/b (heap=sites,plugins=/opt/a:/opt/b)");
  CHECK(Run(false).go("heap=off").text().find("format=a is not in this build: no module encoder_ascii in") !=
        std::string::npos);
  CHECK(Run().go("format=xml").text().find("format=xml is not in this build: no module encoder_xml in") !=
        std::string::npos);
  const std::string text = Run().go("cpu=samples,compress=gzip").text();
  CHECK(text.find("compress=gzip is not in this build: no module filter_gzip in") != std::string::npos);
  CHECK(Run().go("plugin=absent").text().find("plugin=absent is not in this build: no module absent in") !=
        std::string::npos);
}

TEST_CASE("names that would leave the folders never reach the loader") {
  for (const char* options :
       {"format=../../evil", "plugin=../evil", "plugin=a+/tmp/b", "format=", "plugin=a++b"}) {
    CAPTURE(options);
    Run run;
    CHECK(run.go(options).outcome == Configured::kFailed);
    CHECK(run.folders.opened().empty());
  }
}

TEST_CASE("a vendor's collector runs by its name, and its own selector is then known") {
  Run run;
  run.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  REQUIRE(run.go("plugins=/opt/v,plugin=gc_pauses").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"gc_pauses"});
  Run both;
  both.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  REQUIRE(both.go("plugins=/opt/v,plugin=gc_pauses+cpu_samples,gc=pauses").outcome == Configured::kRun);
  CHECK(both.collectors() == Names{"gc_pauses", "cpu_samples"});
}

TEST_CASE("an encoder or sink that is named takes over from the defaults") {
  Run run;
  run.with("/jdk/lib/hprof/plugins/encoder_json.so", fake::open_encoder_json);
  run.with("/jdk/lib/hprof/plugins/sink_memory.so", fake::open_sink_memory);
  REQUIRE(run.go("cpu=samples,plugin=encoder_json+sink_memory").outcome == Configured::kRun);
  CHECK(run.encoder() == "encoder_json");
  CHECK(run.sink() == "sink_memory");
  Run by_format;
  by_format.with("/jdk/lib/hprof/plugins/encoder_json.so", fake::open_encoder_json);
  REQUIRE(by_format.go("cpu=samples,format=json").outcome == Configured::kRun);
  CHECK(by_format.encoder() == "encoder_json");
  Run two;
  two.with("/jdk/lib/hprof/plugins/encoder_json.so", fake::open_encoder_json);
  CHECK(two.go("plugin=encoder_json+encoder_binary").text().find("two encoders chosen") != std::string::npos);
}

TEST_CASE("select texts match by name and value, and a bare name takes any value") {
  CHECK(select_matches("cpu=samples|cpu=y", "cpu", "y"));
  CHECK_FALSE(select_matches("cpu=samples|cpu=y", "cpu", "times"));
  CHECK_FALSE(select_matches("cpu=samples", "heap", "samples"));
  CHECK(select_matches("net", "net", "a:1"));
  CHECK(select_matches("net=", "net", "a:1"));
  CHECK_FALSE(select_matches(nullptr, "net", ""));
  CHECK(select_has_name("cpu=samples|gc=pauses", "gc"));
  CHECK_FALSE(select_has_name("cpu=samples", "c"));
}

TEST_CASE("shipped modules are listed once each") {
  Names names;
  for (uint32_t i = 0; shipped_module(i) != nullptr; ++i) names.push_back(shipped_module(i));
  CHECK(names == Names{"heap_dump", "heap_sites", "cpu_samples", "cpu_times", "monitor", "encoder_ascii",
                       "encoder_binary", "sink_socket", "sink_file", "filter_gzip", "msa"});
}
