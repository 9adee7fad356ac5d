// Words of asprof, jcmd and others lead to commands of ours.
#include "tools/hprof/other_programs.h"

#include "tests/unit/tool/command_support.h"

using namespace hprof::test;
using namespace hprof::tool;

TEST_CASE("a command line of asprof") {
  const auto ours = [](const Arguments& line) { return ours_for(line); };
  CHECK(ours({"-d", "10", "-e", "cpu", "4711"}) == "hprof profile --seconds=10 4711 cpu=samples");
  CHECK(ours({"-e", "alloc", "-f", "a.html", "4711"}) == "hprof profile -o a.html 4711 heap=sites");
  CHECK(ours({"collect", "-d", "5", "-e", "lock", "-i", "1000", "4711"}) ==
        "hprof profile --seconds=5 4711 monitor=all");
  CHECK(ours({"-e", "wall", "-t", "4711"}) == "hprof profile 4711 clock=wall");
  CHECK(ours({"-d", "3", "-e", "Shop.price", "4711"}) == "hprof profile --seconds=3 4711 latency=Shop.price");
  CHECK(ours({"-d", "3", "--alloc", "1m", "4711"}) == "hprof profile --seconds=3 4711 heap=sites");
  CHECK(ours({"profile", "-d", "10", "4711"}) == "hprof profile --seconds=10 4711 cpu=samples");
  CHECK(ours({"start", "-e", "cpu", "4711"}) == "hprof attach 4711 cpu=samples");
  CHECK(ours({"stop", "4711"}) == "hprof ctl 4711 detach");
  CHECK(ours({"dump"}) == "hprof ctl PID report");
  CHECK(ours({"4711"}) == "hprof profile 4711 cpu=samples");
}

TEST_CASE("a command line of jcmd, jmap or java") {
  CHECK(ours_for({"JFR.start"}) == "hprof profile -o FILE.jfr PID");
  CHECK(ours_for({"4711", "JFR.start", "duration=10s"}) == "hprof profile -o FILE.jfr 4711");
  CHECK(ours_for({"4711", "GC.heap_dump", "a.hprof"}) == "hprof profile -o FILE.hprof 4711 heap=dump");
  CHECK(ours_for({"-dump:live,file=a.hprof", "4711"}) == "hprof profile -o FILE.hprof 4711 heap=dump");
  CHECK(ours_for({"cpu=samples", "--", "java", "Main"}) == "hprof run [OPTION=VALUE...] -- java ...");
  CHECK(ours_for({"/usr/bin/java", "Main"}) == "hprof run [OPTION=VALUE...] -- java ...");
  for (const Arguments& line :
       {Arguments{"nonsense"}, Arguments{"a.txt"}, Arguments{"-v"}, Arguments{"profil", "4711"},
        Arguments{"profile", "4711", "--secnds=1"}, Arguments{"4711", "nonsense"}})
    CHECK(ours_for(line).empty());
}

TEST_CASE("one line names our command") {
  CHECK(complained({"-d", "10", "4711"}) ==
        "hprof: in hprof this is: hprof profile --seconds=10 4711 cpu=samples\n");
  CHECK(complained({"JFR.start"}) == "hprof: in hprof this is: hprof profile -o FILE.jfr PID\n");
  CHECK(complained({"profile", "-d", "10", "4711"}) ==
        "hprof: in hprof this is: hprof profile --seconds=10 4711 cpu=samples\n");
  CHECK(has(complained({"profile", "4711", "--secnds=1"}), "did you mean --seconds?"));
}
