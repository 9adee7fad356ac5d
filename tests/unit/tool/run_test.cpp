// How command lines get the agent.
#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"
#include "tools/hprof/agent/options.h"
#include "tools/hprof/run/run_command.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {
Launch launch_of(const std::vector<std::string>& command, const std::string& options,
                 const std::string& present = "") {
  Launch launch;
  std::string error;
  REQUIRE(make_launch(command, "/l/libhprof.so", options, present, &launch, &error));
  return launch;
}
}  // namespace

TEST_CASE("java gets the agent as its first argument") {
  Launch launch = launch_of({"/jdk/bin/java", "-cp", "x", "Main"}, "cpu=samples,depth=8");
  CHECK(launch.command == std::vector<std::string>{"/jdk/bin/java",
                                                   "-agentpath:/l/libhprof.so=cpu=samples,depth=8", "-cp",
                                                   "x", "Main"});
  CHECK(launch.tool_options.empty());
  CHECK(launch_of({"java", "Main"}, "").command[1] == "-agentpath:/l/libhprof.so");
}

TEST_CASE("launchers of the JDK get it with -J") {
  CHECK(launch_of({"javac", "A.java"}, "heap=sites").command ==
        std::vector<std::string>{"javac", "-J-agentpath:/l/libhprof.so=heap=sites", "A.java"});
}

TEST_CASE("anything else gets JAVA_TOOL_OPTIONS, after what is there") {
  Launch launch = launch_of({"groovy", "x.groovy"}, "file=a.txt", "-Dx=y");
  CHECK(launch.command == std::vector<std::string>{"groovy", "x.groovy"});
  CHECK(launch.tool_options == "-Dx=y -agentpath:/l/libhprof.so=file=a.txt");
  CHECK(launch_of({"mvn"}, "file=a b.txt").tool_options == "'-agentpath:/l/libhprof.so=file=a b.txt'");
  CHECK(launch_of({"mvn"}, "file=a'b.txt").tool_options == "\"-agentpath:/l/libhprof.so=file=a'b.txt\"");
  std::string error;
  CHECK_FALSE(make_launch({"mvn"}, "/l", "a'\"b", "", &launch, &error));
  CHECK_FALSE(error.empty());
}

TEST_CASE("the suffix of the file says the format where format= does not") {
  CHECK(format_option("cpu=samples", "app.html") == ",format=flamegraph");
  CHECK(format_option("cpu=samples", "app.pb.gz") == ",format=pprof");
  CHECK(format_option("cpu=samples", "app.otlp.pb") == ",format=otlp");
  CHECK(format_option("cpu=samples", "a/app.jfr") == ",format=jfr");
  CHECK(format_option("cpu=samples", "app.json") == ",format=json");
  CHECK(format_option("heap=dump", "app.hprof") == ",format=b");
  CHECK(format_option("heap=sites", "java.hprof") == ",format=b");
  CHECK(format_option("cpu=samples", "app.txt.gz") == ",compress=gzip");
  CHECK(format_option("cpu=samples", "app.json.gz") == ",format=json,compress=gzip");
  CHECK(format_option("cpu=samples,compress=n", "app.txt.gz").empty());
  for (const char* file : {"", "app", "app.txt", ".html", "html"})
    CHECK(format_option("heap=sites", file).empty());
  CHECK(format_option("cpu=samples,format=a", "app.html").empty());
}

TEST_CASE("exact sites have no events for format=jfr: refused before the program starts") {
  const std::string fault = fault_of_sites("heap=sites,file=a.jfr,format=jfr");
  CHECK(has(fault, "add sites=sampled"));
  CHECK(has(fault, ".hprof"));
  CHECK(fault_of_sites("heap=sites,sites=sampled,format=jfr").empty());
  CHECK(fault_of_sites("heap=sites,format=json").empty());
  CHECK(fault_of_sites("cpu=samples,format=jfr").empty());
  CHECK(has(complained({"run", "-o", "a.jfr", "heap=sites", "--", "java", "A"}),
            "format=jfr holds events only"));
}
