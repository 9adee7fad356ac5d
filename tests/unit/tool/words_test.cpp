// Words that reports have for programs are explained for people.
#include "tests/unit/tool/command_support.h"
#include "tools/hprof/print/meanings.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {
const std::string kHead =
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
    "TRACE 300001:\n\tdemo.A.inner(A.java:12)\nTRACE 300002:\n\tJVM.unwalkable_java_code(Unknown Source)\n";

// A stack that ends in the JDK and the kernel, and one of the JDK alone.
const std::string kEnds =
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
    "TRACE 300001:\n\t[kernel].write(Unknown Source)\n\tlibnio.so.write0(Unknown Source)\n"
    "\tsun.nio.ch.IOUtil.write(IOUtil.java:1)\n\tcom.sun.Net.send(Net.java:2)\n"
    "\tlibrary.Order.send(Order.java:7)\n\tdemo.Main.main(Main.java:3)\n\tjava.lang.Thread.run(Thread.java:1)"
    "\n"
    "TRACE 300002:\n\tjava.lang.Object.hashCode(Object.java:1)\n";

std::string samples(const std::string& rows, const std::string& notes) {
  return kEnds +
         "CPU SAMPLES BEGIN (total = 4) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n" +
         rows + "CPU SAMPLES END\n" + notes;
}
const std::string kThree = "   1 75.00% 75.00%       3 300001 [kernel].write\n";
const std::string kSessionNote =
    "HPROF NOTE: program Shop, process 1, VM 17, 2 processors; options cpu=samples";
}  // namespace

TEST_CASE("the hottest path marks the program's innermost frame, and shows it among frames of one weight") {
  Files files;
  const std::string text = said({"print", files.put("a.txt", samples(kThree, ""))});
  CHECK(has(text,
            "hottest path, from the outermost frame\n"
            " 100.00%  java.lang.Thread.run\n           ... 1 frame\n"
            " 100.00%  library.Order.send  <- the program's innermost\n           ... 3 frames\n"
            " 100.00%  [kernel].write\n"));
  CHECK(has(text, "\n[kernel]: in a system call"));
}

TEST_CASE("print says how much is in stacks that are cut") {
  Files files;
  const auto text = [&](const char* depth) {
    return said(
        {"print",
         files.put("a.txt", samples(kThree + "   2 25.00% 100.00% 1 300002 java.lang.Object.hashCode\n",
                                    kSessionNote + depth + "\n"))});
  };
  CHECK(has(text(""),
            "outermost frame; 75.00% is in stacks cut at depth=4, a higher depth= keeps their callers\n"));
  CHECK(has(text(" depth=7"), "cut at depth=7"));
  CHECK(text(" depth=8").find("stacks cut") == std::string::npos);
}

TEST_CASE("a table of elapsed time is not named CPU alone") {
  Files files;
  const std::string note =
      "HPROF NOTE: cpu=samples: engine wall, interval 10 ms, 3 samples in 1 s; by turns\n";
  CHECK(has(said({"print", files.put("a.txt", samples(kThree, note))}),
            "\nCPU SAMPLES (elapsed time, waits included: clock=wall), samples 3 in the rows; sampled\n"));
  CHECK(has(said({"print", files.put("b.txt", samples(kThree, ""))}),
            "\nCPU SAMPLES, samples 3 in the rows; sampled\n"));
}

TEST_CASE("print --threads of stacks without threads says what has them") {
  Files files;
  CHECK(has(said({"print", "--threads", files.put("a.txt", samples(kThree, ""))}),
            "\nstacks without threads: take it with thread=y, or to a file .jfr or .json\n"));
}

TEST_CASE("rows of the class JVM and the reasons in notes are explained") {
  Files files;
  const std::string text =
      said({"print",
            files.put("a.txt", kHead + "CPU SAMPLES BEGIN (total = 4) Thu Jan  1 00:00:00 1970\n"
                                       "rank   self  accum   count trace method\n"
                                       "   1 75.00% 75.00%       3 300001 demo.A.inner\n"
                                       "   2 25.00% 100.00%       1 300002 JVM.unwalkable_java_code\n"
                                       "CPU SAMPLES END\n"
                                       "HPROF NOTE: cpu=samples: 2 samples without a stack (class JVM; hprof "
                                       "print explains it): "
                                       "gc_active 1 unwalkable_java_code 1\n")});
  CHECK(has(text, "\nJVM.gc_active: during a garbage collection"));
  CHECK(has(text, "\nJVM.unwalkable_java_code: in Java code"));
  CHECK(text.find("JVM.walk_fault: ") == std::string::npos);
}

TEST_CASE("columns have titles of words") {
  Files files;
  const std::string text =
      said({"print",
            files.put("a.txt", kHead + "BLAME: rank=1 self=100.00% accum=100.00% blamed_ns=1714800000 "
                                       "waiters=9 trace=300001 method=demo.A.inner monitor=demo.Lock\n")});
  CHECK(has(text, "BLAME, time blamed 1714.8 ms in the rows\n"));
  CHECK(text.find("blamed_ns") == std::string::npos);
}

TEST_CASE("rows of classes and locks name the program's innermost method") {
  Files files;
  const std::string path =
      files.put("a.txt", kEnds +
                             "BLAME: rank=1 self=100.00% accum=100.00% blamed_ns=1714800000 "
                             "waiters=9 trace=300001 method=demo.A.inner monitor=demo.Lock\n");
  CHECK(has(said({"print", path}), " demo.Lock in library.Order.send\n"));
  CHECK(has(said({"print", "--traces", path}), " demo.Lock\n          [kernel].write"));
}

TEST_CASE("overloads are summed, and print says so") {
  Files files;
  const std::string path =
      files.put("a.txt",
                "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
                "TRACE 300001:\n\tdemo.A.draw(A.java:12)\nTRACE 300002:\n\tdemo.A.draw(A.java:20)\n"
                "METHOD_CALLS: rank=1 self=60.00% accum=60.00% calls=3 trace=300001 method=demo.A.draw\n"
                "METHOD_CALLS: rank=2 self=40.00% accum=100.00% calls=2 trace=300002 method=demo.A.draw\n");
  CHECK(has(said({"print", path}), "  overloads are summed, of 1 method; --lines tells them apart\n"));
  const std::string lines = said({"print", "--lines", path});
  CHECK(has(lines, "demo.A.draw(A.java:20)"));
  CHECK(lines.find("overloads") == std::string::npos);
}

TEST_CASE("bytes that samples stand for are called estimates") {
  Files files;
  const std::string sites = kEnds +
                            "SITES BEGIN (ordered by allocated bytes) Thu Jan  1 00:00:00 1970\n"
                            " 1 100.00% 100.00% 0 0 16000 10 300001 byte[]\nSITES END\n";
  CHECK(said({"print", files.put("a.txt", sites)}).find("estimates") == std::string::npos);
  CHECK(has(
      said({"print", files.put("b.txt", sites + "HPROF NOTE: heap=sites: sampled, one sample in 1000 bytes "
                                                "(sites=sampled)\n")}),
      "in the rows; sampled; estimates: a sample stands for 1000 bytes\n"));
}
