#include "core/option/selection.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/option/configure.h"
#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "tests/unit/support/fake_modules.h"

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
    outcome = configure(options, "", fake::search_with_help(&folders), said.messages(), made.get(), &error);
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
  // Whether the options are refused with these words, by a message that repeats the options.
  bool refuses(const char* options, const char* words) {
    const std::string text = go(options).text();
    CAPTURE(text);
    return text.find("HPROF ERROR: hprof option error: ") == 0 && text.find(words) != std::string::npos &&
           text.find(std::string("(") + options + ")") != std::string::npos;
  }
};
using Names = std::vector<std::string>;
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

TEST_CASE("jvmpi=n opens nothing of it") {
  for (const char* options : {"cpu=samples,jvmpi=n", "cpu=samples,jvmpi=off"}) {
    Run run;
    REQUIRE(run.go(options).outcome == Configured::kRun);
    CHECK(run.collectors() == Names{"cpu_samples"});
    CHECK(run.folders.opened().size() == 3);
  }
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
      {"heap=off,cpu=y", {"cpu_samples"}},
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
  CHECK(Run().refuses("format=b,cpu=times",
                      "cpu=times is not supported with format=b (format=b,cpu=times); supported with "
                      "format=ascii"));
  CHECK(Run().refuses("monitor=y,format=b", "monitor=y is not supported with format=b"));
  CHECK(Run().go("format=b,cpu=samples,heap=all").outcome == Configured::kRun);
}

TEST_CASE("an encoder may leave out what the collector says is optional, and nothing else") {
  static const char* const kEmits[] = {HPROF_TABLE_CPU_SAMPLES, "com.acme.beat/1", nullptr};
  static const char* const kOptional[] = {"com.acme.beat/1", nullptr};
  static fake::OneUnit module(fake::unit(HPROF_UNIT_COLLECTOR, "beats", "beats=y", kEmits));
  hprof_unit& unit = module.offered;
  const hprof_module_entry open = [](const hprof_offer*, const char**) -> const hprof_module* {
    return &module.record;
  };
  const auto run = [&] {
    return Run().with("/jdk/lib/hprof/plugins/beats.so", open).go("beats=y,format=b").outcome;
  };
  CHECK(run() == Configured::kFailed);
  unit.optional = kOptional;
  CHECK(run() == Configured::kRun);
  // A unit of older headers ends before the member.
  unit.size = offsetof(hprof_unit, optional);
  CHECK(run() == Configured::kFailed);
  unit.size = sizeof unit;
  unit.optional = fake::kSamplesRecords;
  CHECK(run() == Configured::kFailed);
}

TEST_CASE("values that nobody knows are refused with those that exist") {
  CHECK(Run().refuses("heap=foo", "must be dump|sites|all|off"));
  CHECK(Run().refuses("cpu=", "must be samples|times|old|y|off"));
  CHECK(Run().refuses("monitor=maybe", "must be y|n"));
}

TEST_CASE("a module that is not there stops the start and says where it was looked for") {
  Run run(false);
  run.with("/jdk/lib/encoder_ascii.so", fake::open_encoder_ascii)
      .with("/jdk/lib/sink_file.so", fake::open_sink_file);
  CHECK(run.refuses("heap=sites,plugins=/opt/a:/opt/b",
                    "no module heap_sites in /jdk/lib/hprof/plugins:/jdk/lib:/opt/a:/opt/b"));
  CHECK(run.outcome == Configured::kFailed);
  CHECK(Run(false)
            .with("/jdk/lib/cpu_samples.so", fake::open_cpu_samples)
            .refuses("cpu=samples", "no module encoder_ascii"));
  CHECK(Run().refuses("cpu=samples,compress=gzip", "no module filter_gzip"));
}

TEST_CASE("names that would leave the folders never reach the loader") {
  for (const char* options :
       {"format=../../evil", "plugin=../evil", "plugin=a+/tmp/b", "format=", "plugin=a++b"}) {
    CAPTURE(options);
    Run run;
    CHECK(run.go(options).outcome == Configured::kFailed);
    for (const std::string& path : run.folders.opened()) {
      CHECK(path.find("evil") == std::string::npos);
      CHECK(path.find("/tmp") == std::string::npos);
    }
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

TEST_CASE("choices that select nothing leave the default, as in the original") {
  for (const char* options : {"monitor=n", "cpu=off", "cpu=off,monitor=n", "msa=n"}) {
    CAPTURE(options);
    Run run;
    REQUIRE(run.go(options).outcome == Configured::kRun);
    CHECK(run.collectors() == Names{"heap_dump", "heap_sites"});
  }
}

TEST_CASE("a run that profiles nothing is refused with what there is") {
  for (const char* options : {"heap=off", "heap=off,cpu=off", "heap=off,monitor=n", "heap=off,control=n"}) {
    CAPTURE(options);
    CHECK(Run().refuses(options, "cpu=samples|times|old|y|off monitor=y|n plugin=cpu_samples|"));
  }
}

TEST_CASE("a run that waits for commands may profile nothing") {
  for (const char* options : {"heap=off,start=n", "heap=off,control=y", "heap=off,start=n,control=n",
                              "heap=off,listen=localhost:99,secret-file=/x"}) {
    CAPTURE(options);
    Run run;
    REQUIRE(run.go(options).outcome == Configured::kRun);
    CHECK(run.collectors() == Names{});
  }
}

TEST_CASE("a vendor's option selects its units, without plugin=") {
  Run run;
  run.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  REQUIRE(run.go("plugins=/opt/v,gc=pauses").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"gc_pauses"});
  Run both;
  both.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  REQUIRE(both.go("plugins=/opt/v,gc=pauses,heap=sites").outcome == Configured::kRun);
  CHECK(both.collectors() == Names{"gc_pauses", "heap_sites"});
  Run off;
  off.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
  REQUIRE(off.go("plugins=/opt/v,gc=off").outcome == Configured::kRun);
  CHECK(off.collectors() == Names{"heap_dump", "heap_sites"});
}

TEST_CASE("an option that names a unit but no value of it is refused with its values") {
  for (const char* plugin : {"", ",plugin=gc_pauses"}) {
    Run run;
    run.with("/opt/v/gc_pauses.so", fake::open_gc_pauses);
    const std::string options = std::string("plugins=/opt/v,gc=foo") + plugin;
    CHECK(run.refuses(options.c_str(), "gc option value must be pauses"));
  }
  CHECK(Run().refuses("format=c", "must be a|b "));
  Run more;
  more.with("/jdk/lib/hprof/plugins/encoder_json.so", fake::open_encoder_json)
      .with("/opt/v/acme.so", fake::open_acme);
  CHECK(more.refuses("format=xml,plugins=/opt/v", "must be a|b|json|acme "));
  Run filters;
  filters.with("/opt/v/acme.so", fake::open_acme);
  CHECK(filters.refuses("plugins=/opt/v,compress=lzma", "must be zstd* "));
}

TEST_CASE("units of one module are selected each by its own, whatever the module is called") {
  struct {
    const char* options;
    Names collectors;
    const char* encoder;
    const char* sink;
  } const cases[] = {
      {"acme=one", {"acme_one"}, "encoder_ascii", "sink_file"},
      {"acme=all", {"acme_one", "acme_two"}, "encoder_ascii", "sink_file"},
      {"heap=acme", {"acme_two"}, "encoder_ascii", "sink_file"},
      {"plugin=acme_two", {"acme_two"}, "encoder_ascii", "sink_file"},
      {"plugin=acme", {"acme_one", "acme_two"}, "encoder_ascii", "sink_file"},
      {"cpu=samples,format=acme", {"cpu_samples"}, "acme_text", "sink_file"},
      {"cpu=samples,format=acme_text", {"cpu_samples"}, "acme_text", "sink_file"},
      {"cpu=samples,plugin=acme_text+acme_cloud", {"cpu_samples"}, "acme_text", "acme_cloud"},
      {"cpu=samples,cloud=bucket/key", {"cpu_samples"}, "encoder_ascii", "acme_cloud"},
      {"cpu=samples,cloud=bucket,net=a:1", {"cpu_samples"}, "encoder_ascii", "acme_cloud"},
  };
  for (const auto& one : cases) {
    Run run;
    run.with("/opt/v/acme.so", fake::open_acme);
    const std::string options = std::string("plugins=/opt/v,") + one.options;
    CAPTURE(options);
    run.go(options.c_str());
    INFO(run.text());
    REQUIRE(run.outcome == Configured::kRun);
    CHECK(run.collectors() == one.collectors);
    CHECK(run.encoder() == one.encoder);
    CHECK(run.sink() == one.sink);
    CHECK(run.made->selection.filter == UINT32_MAX);
  }
}

TEST_CASE("a vendor's filter is selected by a value of compress=, or by its id") {
  for (const char* options : {"compress=zstd:3", "plugin=acme_zstd"}) {
    Run run;
    run.with("/opt/v/acme.so", fake::open_acme);
    REQUIRE(run.go((std::string("plugins=/opt/v,cpu=samples,") + options).c_str()).outcome ==
            Configured::kRun);
    REQUIRE(run.made->selection.filter != UINT32_MAX);
    CHECK(run.made->modules.unit(run.made->selection.filter).record->id == std::string("acme_zstd"));
  }
}

TEST_CASE("an encoder's filter is chosen where it is in the build, unless the user says another thing") {
  const auto filter_of = [](const char* options, bool has_gzip) {
    Run run;
    run.with("/jdk/lib/hprof/plugins/encoder_pprof.so", fake::open_encoder_pprof)
        .with("/opt/v/acme.so", fake::open_acme);
    if (has_gzip) run.with("/jdk/lib/hprof/plugins/filter_gzip.so", fake::open_filter_gzip);
    run.go(options);
    INFO(run.text());
    REQUIRE(run.outcome == Configured::kRun);
    CHECK(run.said.details.empty());
    const uint32_t filter = run.made->selection.filter;
    return std::string(filter == UINT32_MAX ? "none" : run.made->modules.unit(filter).record->id);
  };
  CHECK(filter_of("cpu=samples,format=pprof", true) == "filter_gzip");
  CHECK(filter_of("cpu=samples,format=pprof,compress=gzip", true) == "filter_gzip");
  CHECK(filter_of("cpu=samples,format=pprof", false) == "none");
  CHECK(filter_of("cpu=samples,format=pprof,compress=n", true) == "none");
  CHECK(filter_of("plugins=/opt/v,cpu=samples,format=pprof,compress=zstd", true) == "acme_zstd");
  CHECK(filter_of("plugins=/opt/v,cpu=samples,format=pprof,plugin=acme_zstd", true) == "acme_zstd");
  CHECK(filter_of("cpu=samples", true) == "none");
}

TEST_CASE("the option that chooses a filter is not said to be without effect for another one") {
  Run run;
  run.with("/opt/v/filter_gzip.so", fake::open_filter_gzip).with("/opt/v/acme.so", fake::open_acme);
  REQUIRE(run.go("plugins=/opt/v,cpu=samples,compress=zstd:3").outcome == Configured::kRun);
  CHECK(run.said.details.empty());
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
  CHECK(two.refuses("plugin=encoder_json+encoder_binary", "encoder_json and encoder_binary"));
  CHECK(two.refuses("cpu=samples,format=b,plugin=encoder_json", "two encoders"));
}

TEST_CASE("an encoder alone leaves the default profile") {
  Run run;
  run.with("/jdk/lib/hprof/plugins/encoder_json.so", fake::open_encoder_json);
  REQUIRE(run.go("plugin=encoder_json").outcome == Configured::kRun);
  CHECK(run.collectors() == Names{"heap_dump", "heap_sites"});
  CHECK(run.encoder() == "encoder_json");
}

TEST_CASE("plugin= with a name that nobody has says which there are, and where was looked") {
  Run run;
  run.with("/opt/v/acme.so", fake::open_acme);
  CHECK(
      run.refuses("plugin=absent,plugins=/opt/v", "of /jdk/lib/hprof/plugins:/jdk/lib:/opt/v; there are: "));
  CHECK(run.text().find(" sink_socket acme_one acme_two acme_text acme_cloud acme_zstd (") !=
        std::string::npos);
}

TEST_CASE("an option without a value is unknown first, and else says that it has none") {
  CHECK(Run().refuses("cpu=samples,foo", "Unknown option: foo"));
  CHECK(Run().refuses("cpu", "cpu has no value"));
}

TEST_CASE("select texts match by name and value, and a bare name takes any value") {
  CHECK(select_matches("cpu=samples|cpu=y", "cpu", "y"));
  CHECK_FALSE(select_matches("cpu=samples|cpu=y", "cpu", "times"));
  CHECK_FALSE(select_matches("cpu=samples", "heap", "samples"));
  CHECK(select_matches("net", "net", "a:1"));
  CHECK(select_matches("net=", "net", "a:1"));
  CHECK(select_matches("compress=zstd*", "compress", "zstd:9"));
  CHECK(select_matches("compress=zstd*", "compress", "zstd"));
  CHECK_FALSE(select_matches("compress=zstd*", "compress", "zst"));
  CHECK_FALSE(select_matches(nullptr, "net", ""));
  CHECK(select_has_name("cpu=samples|gc=pauses", "gc"));
  CHECK_FALSE(select_has_name("cpu=samples", "c"));
}

TEST_CASE("the table of shipped modules has what the descriptors say, whatever this build has") {
  Names rows;
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    const auto text = [](Str part) { return std::string(part.data, part.size); };
    rows.push_back(text(row.name) + "=" + text(row.value) + " " + text(row.module));
    CHECK(shipped_module(static_cast<uint32_t>(rows.size() - 1)) == row.module);
  }
  CHECK(shipped_module(static_cast<uint32_t>(rows.size())).empty());
  CHECK(rows == Names{"calls=y calls",
                      "classes=y classes",
                      "plugin=context context",
                      "count=y count",
                      "cpu=samples cpu_samples",
                      "cpu=times cpu_times",
                      "direct=y direct",
                      "exceptions=y exceptions",
                      "heap=dump heap_dump",
                      "heap=sites heap_sites",
                      "io=y io_calls",
                      "jvmpi=* jvmpi",
                      "latency= latency",
                      "monitor=y monitor",
                      "msa=y msa",
                      "queues=y queues",
                      "format=a encoder_ascii",
                      "format=b encoder_binary",
                      "format=rows encoder_json",
                      "compress=gzip* filter_gzip",
                      "file= sink_file",
                      "url= sink_http",
                      "net= sink_socket",
                      "count=y calls",
                      "count=y heap_sites",
                      "cpu=old cpu_times",
                      "cpu=y cpu_samples",
                      "format=jfr vm_events",
                      "heap=all heap_dump",
                      "heap=all heap_sites",
                      "monitor=all monitor"});
}

TEST_CASE("a sink that an option names opens no other one") {
  Run run;
  run.with("/jdk/lib/hprof/plugins/sink_http.so", fake::open_sink_http);
  REQUIRE(run.go("cpu=samples,url=http://a/b").outcome == Configured::kRun);
  CHECK(run.sink() == "sink_http");
  const std::string at = "/jdk/lib/hprof/plugins/";
  CHECK(run.folders.opened() == Names{at + "cpu_samples.so", at + "sink_http.so", at + "encoder_ascii.so"});
}
