#include "core/option/bind.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "core/base/text_tools.h"
#include "core/modules/help_texts/unknown.h"
#include "core/option/configure.h"
#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {
struct Run {
  fake::Folders folders;
  fake::Said said;
  std::unique_ptr<Configuration> made = std::make_unique<Configuration>();
  Error error;
  Configured outcome;

  explicit Run(const char* options, const char* environment = "") {
    fake::add_shipped(&folders);
    outcome = configure(options, environment, fake::search_with_help(&folders), said.messages(), made.get(),
                        &error);
  }
  std::string text() const { return error.text; }
  template <class Config>
  const Config& config(const char* unit) {
    return *static_cast<const Config*>(made->modules.find_unit(unit)->config);
  }
};
const std::string kPrefix = "HPROF ERROR: hprof option error: ";

// Whether the options are refused with these words, by a message that repeats the options.
bool refuses(const std::string& options, const char* words) {
  const std::string text = Run(options.c_str()).text();
  CAPTURE(text);
  return text.find(kPrefix) == 0 && text.find(words) != std::string::npos &&
         text.find("(" + options + ")") != std::string::npos;
}
}  // namespace

TEST_CASE("the core's defaults are the original's") {
  Run run("");
  REQUIRE(run.outcome == Configured::kRun);
  const CoreConfig& core = run.made->core;
  CHECK(core.depth == 4);
  CHECK(core.cutoff == 0.0001);
  CHECK(core.line_numbers == 1);
  CHECK(core.thread_in_traces == 0);
  CHECK(core.dump_on_exit == 1);
  CHECK(core.micro_state_accounting == 0);
  CHECK(core.force == 1);
  CHECK(core.verbose == 1);
  CHECK(core.file == nullptr);
  CHECK(core.net == nullptr);
  CHECK(core.start == 1);
  CHECK_FALSE(core.allows_exit());
  CHECK(core.control == nullptr);
  CHECK(core.listen == nullptr);
  CHECK_FALSE(core.shows_details());
}

TEST_CASE("typed values reach the core's config") {
  Run run("depth=9,cutoff=0.5,lineno=n,doe=n,start=n,max-memory=64m,logflags=1");
  REQUIRE(run.outcome == Configured::kRun);
  const CoreConfig& core = run.made->core;
  CHECK(core.depth == 9);
  CHECK(core.cutoff == 0.5);
  CHECK(core.line_numbers == 0);
  CHECK(core.dump_on_exit == 0);
  CHECK(core.start == 0);
  CHECK(core.max_memory == 64u << 20);
  CHECK(core.shows_details());
}

TEST_CASE("who is loaded idle can be reached") {
  CHECK(Str(Run("start=n").made->core.control) == "y");
  CHECK(Str(Run("start=n,control=/run/x").made->core.control) == "/run/x");
  CHECK(Str(Run("start=n,control=n").made->core.control) == "n");
  CHECK(Run("start=y").made->core.control == nullptr);
}

TEST_CASE("listening needs a secret") {
  const std::string secret = "secret-file=/etc/secret,";
  for (const char* host : {"localhost:9", "127.0.0.1:9", "[::1]:9", "0.0.0.0:9"}) {
    CHECK(Run((secret + "listen=" + host).c_str()).outcome == Configured::kRun);
  }
  CHECK(refuses("listen=localhost:9", "needs secret-file="));
  CHECK(Run((secret + "listen=localhost").c_str()).outcome == Configured::kFailed);
}

TEST_CASE("exit is allowed by its own word only") {
  CHECK(Run("allow=exit").made->core.allows_exit());
  CHECK(Run("allow=y").outcome == Configured::kFailed);
  CHECK(Run("control=").outcome == Configured::kFailed);
}

TEST_CASE("bad values are refused in the original's words") {
  for (const char* options : {"depth=x", "depth=-1", "cutoff=-1"})
    CHECK(refuses(options, "decimal and >= 0"));
  CHECK(refuses("lineno=maybe", "must be y|n"));
  CHECK(refuses("file=", "file=filename"));
  for (const char* options :
       {"net=", "net=host", "net=:1", "net=host:", "net=host:x", "net=host:0", "net=host:65536"})
    CHECK(refuses(options, "must be hostname:port"));
}

TEST_CASE("items of hotspot= that do not exist are refused") {
  for (const char* options :
       {"hotspot=", "hotspot=maybe", "hotspot=-nothing", "hotspot=n:flags", "hotspot=-flags:x"}) {
    CHECK(refuses(options, "must be y, n, or a list of"));
  }
  CHECK(Run("hotspot=n:+flags:-weak-reuse").outcome == Configured::kRun);
}

TEST_CASE("labels have no line ends") {
  CHECK(Run("labels=service:shop;env:prod").text().find("labels option") == std::string::npos);
  for (const char* options : {"labels=a:b\r\nX: y", "labels=a:b\n", "labels=\x1b[2J"})
    CHECK(Run(options).text().find("control characters") != std::string::npos);
}

TEST_CASE("what is obsolete or for developers only is accepted") {
  CHECK(Run("gc_okay=y").outcome == Configured::kRun);
  CHECK(Run("gc_okay=whatever,X=").outcome == Configured::kRun);
  CHECK(Run("logflags=0,debugflags=3,coredump=y,errorexit=n,pause=n,debug=n,X=all").outcome ==
        Configured::kRun);
}

TEST_CASE("an option that is gone is refused with what says it now") {
  CHECK(refuses("times=clock", "; use clock="));
  CHECK(refuses("segment=64k", "; a segment has 1 MiB"));
  CHECK(refuses("net-secret-file=x", "; use secret-file="));
  CHECK(refuses("http-timeout=1", "; use net-timeout="));
  CHECK(refuses("http-buffer=1m", "; use memory-limit="));
  CHECK(refuses("sites-walk=n", "; use hotspot=-frame-walk"));
  CHECK(refuses("heap=sites,sites-order=allocated", "; use sites-live=n"));
  CHECK(refuses("heap=sites,addresses=n", "; use hotspot=-object-addresses"));
}

TEST_CASE("an unknown option is refused and the allowed ones are listed on the same line") {
  Run run("foo=bar");
  CHECK(run.outcome == Configured::kFailed);
  const std::string text = run.text();
  CHECK(text.find(kPrefix + "Unknown option: foo (foo=bar); options are: help heap cpu monitor") == 0);
  for (const char* name : {" depth", " cutoff", " interval", " primfields", " plugin"}) {
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.find("logflags") == std::string::npos);
}

TEST_CASE("an unknown option that is like one there is brings its name") {
  CHECK(refuses("dept=8", "did you mean depth?"));
  CHECK(refuses("Depth=4", "did you mean depth?"));
  CHECK(refuses("cup=samples", "did you mean cpu?"));
  CHECK(refuses("intervall=5", "did you mean interval?"));
}

TEST_CASE("a comma in the name of a file is told from an unknown option") {
  CHECK(refuses("file=a,b.txt", "cannot have a comma"));
  CHECK(Run("file=a,zzz=1").text().find("comma") == std::string::npos);
  CHECK(Run("depth=4,b.txt").text().find("comma") == std::string::npos);
}

TEST_CASE("all names that are listed are whole") {
  Run run("nothing_like_it=1");
  const std::string text = run.text();
  const size_t begin = text.find("; options are:");
  REQUIRE(begin != std::string::npos);
  CHECK(text.size() < sizeof(Error::text) - 1);
  CHECK((text.find(" and more, see help") != std::string::npos ||
         text.find(" primfields") != std::string::npos));
}

TEST_CASE("names are as far apart as the slips of a finger") {
  CHECK(name_distance("depth", "depth", 2) == 0);
  CHECK(name_distance("DEPTH", "depth", 2) == 0);
  CHECK(name_distance("dpeth", "depth", 2) == 1);
  CHECK(name_distance("dept", "depth", 2) == 1);
  CHECK(name_distance("", "cpu", 2) == 3);
  CHECK(name_distance("heap", "file", 2) == 3);
  CHECK(name_distance(std::string(40, 'x').c_str(), "x", 2) == 3);
}

TEST_CASE("a unit's own options reach its config, defaults included") {
  Run run("cpu=samples,beat=0.5");
  REQUIRE(run.outcome == Configured::kRun);
  CHECK(run.config<fake::SamplesConfig>("cpu_samples").interval_ns == 500000);
  Run plain("cpu=samples");
  CHECK(plain.config<fake::SamplesConfig>("cpu_samples").interval_ns == 10000000);
  CHECK(refuses("cpu=samples,beat=x", "decimal and >= 0.1"));
}

TEST_CASE("a unit's row with the name of a core option gets the same value") {
  CHECK(std::string(Run("cpu=y").config<fake::SamplesConfig>("cpu_samples").cpu) == "y");
}

TEST_CASE("an option whose unit does not run is checked and otherwise without effect") {
  Run run("heap=sites,beat=20");
  REQUIRE(run.outcome == Configured::kRun);
  REQUIRE(run.said.details.size() == 1);
  CHECK(run.said.details[0].find("beat=20 has no effect") == 0);
  CHECK(run.made->selection.collector_count == 1);
  CHECK(run.made->modules.find_unit("cpu_samples")->config == nullptr);
  CHECK(Run("heap=sites,beat=x").text().find("beat option value must be decimal") != std::string::npos);
}

TEST_CASE("the environment's value is in force, and a detail message says so") {
  Run run("cpu=samples,depth=x", "depth=8");
  REQUIRE(run.outcome == Configured::kRun);
  CHECK(run.made->core.depth == 8);
  REQUIRE(run.said.details.size() == 1);
  CHECK(run.said.details[0].find("depth=x is replaced") == 0);
}

TEST_CASE("a depth beyond the limit is cut, with a message") {
  Run run("depth=1000000");
  REQUIRE(run.outcome == Configured::kRun);
  CHECK(run.made->core.depth == kDepthMost);
  REQUIRE(run.said.lines.size() == 1);
  CHECK(run.said.lines[0] == "depth=1000000 is cut to 2048");
}
