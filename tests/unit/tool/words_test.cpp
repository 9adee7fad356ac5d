// Words that reports have for programs are explained for people.
#include "tests/unit/tool/command_support.h"
#include "tools/hprof/print/meanings.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {
const std::string kHead =
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
    "TRACE 300001:\n\tdemo.A.inner(A.java:12)\nTRACE 300002:\n\tJVM.unwalkable_java_code(Unknown Source)\n";
}  // namespace

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
