// hprof check on text files: one that everyone reads, and one for each way to break it.
#include <doctest/doctest.h>

#include "tests/unit/tool/check_support.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr char kSamples[] =
    "JAVA PROFILE 1.0.1, created Sat Nov 21 05:00:02 2026\n\nTHREAD START is explained here\n\n--------\n\n"
    "THREAD START (obj=50000181, id = 200001, name=\"main\", group=\"main\")\n"
    "TRACE 300001:\n\tMain.work(Main.java:12)\n\tMain.main(Main.java:3)\n"
    "TRACE 300002:\n\tjava.lang.Object.wait(Object.java:Unknown line)\n"
    "CPU SAMPLES BEGIN (total = 8) Sat Nov 21 05:00:02 2026\n"
    "rank   self  accum   count trace method\n"
    "   1 62.50% 62.50%       5 300001 Main.work\n"
    "   2 37.50% 100.00%       3 300002 java.lang.Object.wait\n"
    "CPU SAMPLES END\n";

constexpr char kSites[] =
    "THREAD START (obj=50000181, id = 200001, name=\"main\", group=\"main\")\n"
    "TRACE 300000:\n\t<empty>\n"
    "SITES BEGIN (ordered by live bytes) Sat Nov  1 05:00:02 2026\n"
    "          percent          live          alloc'ed  stack class\n"
    " rank   self  accum     bytes objs     bytes  objs trace name\n"
    "    1 17.43% 17.43%     97216  490     97216   490 300000 byte[]\n"
    "    2  8.93% 26.36%     49768  792     49768   792 300000 java.util.Map$Entry[][]\n"
    "SITES END\n"
    "THREAD END (id = 200001)\n";

constexpr char kHeap[] =
    "TRACE 300000:\n\t<empty>\n"
    "HEAP DUMP BEGIN (3 objects, 60 bytes) Sat Nov 21 05:00:02 2026\n"
    "ROOT a1 (kind=<thread>, id=200001, trace=300000)\n"
    "ROOT a1 (kind=<unknown>)\n"
    "ROOT a1 (kind=<JNI global ref>, id=af, trace=300000)\n"
    "ROOT a1 (kind=<JNI local ref>, thread=200001, frame=-1)\n"
    "ROOT c1 (kind=<system class>, name=Node)\n"
    "ROOT a1 (kind=<busy monitor>)\n"
    "ROOT a1 (kind=<thread block>, thread=200001)\n"
    "ROOT a1 (kind=<Java stack>, thread=200001, frame=1)\n"
    "ROOT a1 (kind=<native stack>, thread=200001)\n"
    "CLS c1 (name=Node, trace=300000)\n\tsuper\t\tc2\n\tstatic SHARED\ta1\n\tconstant pool entry 7\tc2\n"
    "CLS c2 (name=java.lang.Object, trace=300000)\n"
    "OBJ a1 (sz=20, trace=300000, class=Node@c1)\n\tnext\t\ta1\n\treferent\ta2\n"
    "ARR a2 (sz=24, trace=300000, nelems=2, elem type=java.lang.Object[]@c2)\n\t[1]\t\ta1\n"
    "ARR a3 (sz=16, trace=300000, nelems=1, elem type=int[])\n"
    "HEAP DUMP END\n";

constexpr char kMonitors[] =
    "THREAD START (obj=1, id = 200001, name=\"a \"b\", group=\"g\")\n"
    "TRACE 300000:\n\tA.b(A.java:1)\n"
    "WAIT: MONITOR LMain$1;, timeout=0, thread 200001\n"
    "WAITED: MONITOR [I, time_waited=282, thread 200001\n"
    "EXIT: MONITOR LMain;, thread 200001\n"
    "SLEEP: timeout=5, thread 200001\n"
    "MONITOR TIME BEGIN (total = 30 ms) Sat Nov 21 05:00:02 2026\n"
    "rank   self  accum   count trace monitor\n"
    "   1 99.99% 99.99%      12 300000 LMain; (Java)\n"
    "MONITOR TIME END\n"
    "MONITOR DUMP BEGIN\n"
    "    THREAD 200001, trace 300000, status: S|intr|native|MW\n"
    "    MONITOR LMain;\n\towner: thread 200001, entry count: 2\n\twaiting to enter: thread 200001\n"
    "\twaiting to be notified:\n"
    "    MONITOR LMain; unowned\n\twaiting to enter:\n\twaiting to be notified: thread 200001, thread "
    "200001\n"
    "MONITOR DUMP END\n";

std::string with_prelude(const std::string& records) {
  return "JAVA PROFILE 1.0.1, created Sat Nov 21 05:00:02 2026\n\n--------\n\n" + records;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

std::string with_carriage_returns(const std::string& text) {
  std::string made;
  for (const char letter : text) made += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  return made;
}

// A warning is what a rule that only some reader needs gives; here all count.
void breaks_only(const std::string& text, Rule rule, uint64_t times = 1) {
  Checked checked = check(text);
  INFO(checked.text);
  CHECK(checked.count(rule) == times);
  CHECK(checked.errors + checked.warnings == times);
}

void sound(const std::string& text) {
  for (size_t buffer : {size_t{16}, Input::kBufferSize}) {
    Checked checked = check(text, {}, buffer);
    INFO(checked.text);
    CHECK(checked.errors + checked.warnings == 0);
  }
}

}  // namespace

TEST_CASE("sound text files break no rule") {
  sound(kSamples);
  sound(with_prelude(kSites));
  sound(with_prelude(kHeap));
  sound(with_prelude(kMonitors));
  sound(replaced(replaced(kSamples, "CPU SAMPLES BEGIN", "CPU TIME (ms) BEGIN"), "CPU SAMPLES END",
                 "CPU TIME (ms) END"));
  sound("count callee caller time\n3 A.b(I)V <unknown caller> 5\n1 <unknown callee> p.A$1.<init>()V 0\n");
}

TEST_CASE("notes, heap summaries and vendors' records are records, too") {
  const std::string summary =
      "HEAP SUMMARY (live bytes = 1, live objects = 2, allocated bytes = 3, allocated objects = 4)\n";
  sound(std::string(kSamples) + "HPROF NOTE: lost 3 samples: the buffer was full\n" + summary +
        "GC_PAUSES: pauses=3 max_us=12.5\n");
  breaks_only(std::string(kSamples) + replaced(summary, " = 4", " = x"), Rule::kLine);
  breaks_only(std::string(kSamples) + "GC PAUSES: pauses=3\n", Rule::kLine);
  breaks_only(std::string(kSamples) + "GC_PAUSES: pauses\n", Rule::kLine);
}

TEST_CASE("a text that both text readers take passes with them selected") {
  ProblemLog::Options options;
  options.readers = kGprof2dot | kHprof2flamegraph;
  options.strict = true;
  Checked checked = check(kSamples, options);
  INFO(checked.text);
  CHECK(checked.errors == 0);
}

TEST_CASE("prelude, lines and dates") {
  breaks_only(replaced(kSamples, "--------\n", "-------\n"), Rule::kHeader, 1);
  breaks_only(kSites, Rule::kPrelude);
  breaks_only(std::string("\n") + kSites, Rule::kPrelude);
  breaks_only(
      replaced(kSamples, "CPU SAMPLES BEGIN (total = 8) Sat Nov", "CPU SAMPLES BEGIN (total = 8) Sam Nov"),
      Rule::kDate);
  breaks_only(replaced(kSamples, "created Sat Nov 21 05:00:02 2026", "created 2026-11-21"), Rule::kDate);
  breaks_only(replaced(kSamples, "Main.work\n", "Main.work\r\n"), Rule::kCarriageReturn);
  breaks_only(with_carriage_returns(kSamples), Rule::kCarriageReturn);
  breaks_only(replaced(kSamples, "\"main\"", "\"ma\rin\""), Rule::kBytes);
  breaks_only(replaced(kSamples, "\"main\"", "\"m\xff\""), Rule::kBytes);
  breaks_only(std::string(kSamples) + "SOMETHING ELSE\n", Rule::kLine);
  std::string cut = kSamples;
  cut.pop_back();
  breaks_only(cut, Rule::kBytes);
  CHECK(check("").count(Rule::kHeader) == 1);
}

TEST_CASE("of a file that is no report one line says what it is") {
  const auto only = [](const std::string& bytes) {
    const Checked checked = check(bytes);
    INFO(checked.text);
    CHECK(checked.errors + checked.warnings == 1);
    CHECK(checked.count(Rule::kHeader) == 1);
    return checked.text.substr(0, checked.text.find('\n'));
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  std::string lines;
  for (int i = 0; i < 100; i++) lines += "\n  \"key\": 1,";
  CHECK(has(only("{" + lines), "a JSON file"));
  CHECK(has(only("[" + lines), "a JSON file"));
  CHECK(has(only("<!DOCTYPE HTML>" + lines), "an HTML page"));
  CHECK(has(only("main;A.b;A.c 12\nmain;A.b 1\n"), "folded stacks"));
  CHECK(has(only("Network services" + lines), "\"Network services\", expected \"JAVA PROFILE"));
  CHECK(has(only(std::string("2\0"
                             "2\7samples",
                             11) +
                 lines),
            "a pprof profile"));
  CHECK(has(only("\x0a\x04\x08\x01\x10\x02" + lines), "a pprof profile"));
  CHECK(has(only("\x0a\xde\x02\x0a\xbf\x01" + lines), "OpenTelemetry"));
  CHECK(has(only(std::string("FLR\0\0\2", 6) + lines), "JDK Flight Recorder"));
  CHECK(has(only("PK\3\4" + lines), "a zip archive"));
  CHECK(has(only(std::string("\0\x12portable heap dump", 20) + lines), "a heap dump of OpenJ9 (PHD)"));
  const std::string elf = std::string(
                              "\x7f"
                              "ELF\2\1\1",
                              7) +
                          std::string(9, '\0');
  CHECK(has(only(elf + std::string("\4\0", 2) + lines), "jhsdb jmap --binaryheap"));
  CHECK(has(only(elf + std::string("\3\0", 2) + lines), "an ELF program"));
}

TEST_CASE("threads and traces") {
  breaks_only(replaced(kSamples, "id = 200001", "id =200001"), Rule::kLine);
  breaks_only(replaced(kSamples, "id = 200001", "id = 7"), Rule::kSerialBase);
  breaks_only(with_prelude(replaced(kSites, "THREAD END (id = 200001)", "THREAD END (id = 200002)")),
              Rule::kThreadUnstarted);
  breaks_only(with_prelude(kSites) + "THREAD END (id = 200001)\n", Rule::kThreadEnd);
  breaks_only(replaced(kSamples, "TRACE 300001:", "TRACE 300001: (thread=200001)"), Rule::kTraceThread);
  breaks_only(replaced(kSamples, "TRACE 300001:", "TRACE 300001: (from VM death phase of JVM)"),
              Rule::kTracePhase);
  CHECK(check(replaced(kSamples, "TRACE 300001:", "TRACE 300001: (thread=200009)"))
            .count(Rule::kThreadUnknown) == 1);
  CHECK(check(replaced(kSamples, "TRACE 300002:", "TRACE 300001:")).count(Rule::kTraceRedefined) == 1);
  breaks_only(replaced(kSamples, "(Main.java:12)", "(Main.java:-12)"), Rule::kLine);
  breaks_only(replaced(kSamples, "(Object.java:Unknown line)", "(Object.java:Native method)"),
              Rule::kFrameText);
  CHECK(check(replaced(kSamples, "\tMain.work(Main.java:12)\n\tMain.main(Main.java:3)\n", ""))
            .count(Rule::kLine) == 1);
  std::string second =
      replaced(kSamples, "TRACE 300001",
               "THREAD START (obj=50000181, id = 200002, name=\"b\", group=\"main\")\nTRACE 300001");
  breaks_only(second, Rule::kThreadObject);
  sound(replaced(second, "200002", "200001"));
  const std::string again = replaced(second, "50000181, id = 200002", "50000182, id = 200001");
  sound(again);  // after a heap dump
  breaks_only(replaced(again, "name=\"b\"", "name=\"main\""), Rule::kThreadSerial);
}

TEST_CASE("rows of CPU sections") {
  breaks_only(replaced(kSamples, "   2 37.50%", "   3 37.50%"), Rule::kRank);
  breaks_only(replaced(kSamples, "      3 300002", "     3 300002"), Rule::kColumns);
  breaks_only(replaced(kSamples, "trace method\n", "trace  method\n"), Rule::kColumns);
  breaks_only(replaced(kSamples, " 300002 java.lang.Object.wait", " 300009 java.lang.Object.wait"),
              Rule::kTraceUndefined);
  breaks_only(replaced(kSamples, "300002 java.lang.Object.wait", "300002 java.lang.Object.notify"),
              Rule::kRowMethod);
  CHECK(check(replaced(kSamples, "   1 62.50% 62.50%       5", "   1 32.50% 32.50%       5"))
            .count(Rule::kPercent) == 2);
  CHECK(check(replaced(kSamples, "(total = 8)", "(total = 7)")).count(Rule::kTableTotal) == 1);
  CHECK(check(replaced(kSamples, "(total = 8)", "(total = -8)")).count(Rule::kTotalNegative) == 1);
  breaks_only(replaced(kSamples, "CPU SAMPLES END\n", ""), Rule::kSectionOpen);
  std::string empty = kSamples;
  size_t rows = empty.find("   1 62.50%");
  empty.replace(rows, empty.find("CPU SAMPLES END") - rows, "");
  breaks_only(empty, Rule::kSectionEmpty);
  std::string order = replaced(kSamples, "   1 62.50% 62.50%       5", "   1 12.50% 12.50%       1");
  order = replaced(order, "   2 37.50% 100.00%       3", "   2 37.50% 50.00%       3");
  breaks_only(order, Rule::kTableOrder);
}

TEST_CASE("what single readers of CPU sections cannot stand") {
  std::string blank =
      replaced(replaced(kSamples, "Main.work(", "Main.my work("), "Main.work\n", "Main.my work\n");
  breaks_only(blank, Rule::kBlank, 2);
  std::string empty = replaced(kSamples, "\tjava.lang.Object.wait(Object.java:Unknown line)", "\t<empty>");
  breaks_only(replaced(empty, "java.lang.Object.wait", "<empty trace>"), Rule::kTraceEmpty);
  std::string between = replaced(kSamples, "TRACE 300002", "THREAD END (id = 200001)\nTRACE 300002");
  breaks_only(between, Rule::kTraceRun);
  ProblemLog::Options gprof;
  gprof.readers = kGprof2dot;
  CHECK(check(between, gprof).errors == 1);
  ProblemLog::Options flame;
  flame.readers = kHprof2flamegraph;
  CHECK(check(between, flame).errors == 0);
  CHECK(check(with_prelude(kSites), gprof).count(Rule::kNoSamples) == 1);
  CHECK(check(with_prelude(kSites)).count(Rule::kNoSamples) == 0);
}

TEST_CASE("rows of sites") {
  std::string sites = with_prelude(kSites);
  breaks_only(replaced(sites, "    97216  490     97216   490", "     7216  490      7216   490"),
              Rule::kTableOrder);
  breaks_only(replaced(sites, "  490     97216   490", " 490     97216   490"), Rule::kColumns);
  breaks_only(replaced(sites, "792 300000", "792 300005"), Rule::kTraceUndefined);
  breaks_only(replaced(sites, "49768  792     49768", "49768  792     39768"), Rule::kLiveOverAllocated);
  breaks_only(replaced(sites, "26.36%", "27.36%"), Rule::kPercent);
  breaks_only(replaced(sites, "ordered by live bytes", "ordered by bytes"), Rule::kLine);
}

TEST_CASE("records of heap dumps") {
  std::string heap = with_prelude(kHeap);
  breaks_only(replaced(heap, "(3 objects", "(4 objects"), Rule::kHeapCount);
  breaks_only(replaced(heap, "\treferent\ta2", "\treferent\ta9"), Rule::kReference);
  breaks_only(replaced(heap, "\tnext\t\ta1", "\tnext\ta1"), Rule::kColumns);
  breaks_only(replaced(heap, "\t[1]\t\ta1", "\t[2]\t\ta1"), Rule::kColumns);
  breaks_only(replaced(heap, "kind=<unknown>", "kind=<known>"), Rule::kLine);
  breaks_only(replaced(heap, "\tsuper\t\tc2", "\tsoup\t\tc2"), Rule::kLine);
  breaks_only(replaced(heap, "ROOT a1 (kind=<unknown>)", "ROOT 0 (kind=<unknown>)"), Rule::kRootZero);
  CHECK(check(replaced(heap, "nelems=1, elem", "nelems=1,elem")).count(Rule::kLine) == 1);
  breaks_only(replaced(heap, "id=200001, trace=300000)", "id=200001, trace=300077)"), Rule::kTraceMissing);
  CHECK(check(replaced(heap, "ARR a3", "ARR a2")).count(Rule::kObjectTwice) == 1);
}

TEST_CASE("monitor records") {
  std::string monitors = with_prelude(kMonitors);
  breaks_only(replaced(monitors, "time_waited=282", "waited=282"), Rule::kLine);
  breaks_only(replaced(monitors, "LMain$1;", "Main$1"), Rule::kLine);
  breaks_only(replaced(monitors, "native|MW", "native|XX"), Rule::kLine);
  breaks_only(replaced(monitors, "LMain; (Java)", "LMain;"), Rule::kLine);
  breaks_only(replaced(monitors, "entry count: 2", "entries: 2"), Rule::kLine);
  breaks_only(replaced(monitors, "SLEEP: timeout=5, thread 200001", "SLEEP: timeout=5, thread 200009"),
              Rule::kThreadUnknown);
  sound(replaced(monitors, "SLEEP: timeout=5, thread 200001", "SLEEP: timeout=5, <unknown thread>"));
}

TEST_CASE("notes, summaries and records of plugins stand outside tables") {
  std::string extra =
      "HPROF NOTE: cpu=samples: 3 samples lost\n"
      "HEAP SUMMARY (live bytes = 1, live objects = 2, allocated bytes = 3, allocated objects = 4)\n"
      "GC_PAUSES: pause_us=12 cause=Allocation_Failure at=300001\n";
  sound(kSamples + extra);
  breaks_only(replaced(kSamples + extra, "live objects = 2", "live objects = x"), Rule::kLine);
  breaks_only(replaced(kSamples + extra, "pause_us=12", "pause_us"), Rule::kLine);
  breaks_only(replaced(kSamples, "CPU SAMPLES END", "HPROF NOTE: in a table\nCPU SAMPLES END"), Rule::kLine);
}

TEST_CASE("a total may have 64 bits") {
  Checked checked = check(replaced(kSamples, "(total = 8)", "(total = 18446744073709551615)"));
  CHECK(checked.count(Rule::kLine) == 0);
  CHECK(checked.count(Rule::kTotalNegative) == 0);
}

TEST_CASE("rows of the old CPU format") {
  breaks_only("count callee caller time\n3 A.b(I)V 5\n", Rule::kLine);
  breaks_only("count callee caller time\n-3 A.b(I)V A.c()V 5\n", Rule::kColumns);
}
