// hprof diff of tables without stacks.
#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

std::string latencies(const std::string& rows) {
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
         "CALL LATENCY BEGIN (total = 95) Thu Nov 26 21:43:05 2026\n"
         "rank      calls running    mean     p50     p90     p99   p99.9     max method\n" +
         rows + "CALL LATENCY END\n";
}

}  // namespace

TEST_CASE("latencies are compared by method: before and after of each number that differs") {
  Files files;
  const std::string before =
      files.put("a.txt", latencies("1 90 3 60ms 44ms 142ms 159ms 159ms 164ms demo.A.slow\n"
                                   "2 5 0 1us 1us 2us 2us 2us 2us demo.A.same\n"
                                   "3 1 0 1us 1us 2us 2us 2us 2us demo.A.old\n"));
  const std::string after =
      files.put("b.txt", latencies("1 5 0 1us 1us 2us 2us 2us 2us demo.A.same\n"
                                   "2 90 0 30ms 44ms 142ms 159ms 159ms 164ms demo.A.slow\n"
                                   "3 7 0 1us 1us 2us 2us 2us 2us demo.A.fresh\n"));
  const std::string text = squeezed(said({"diff", before, after}));
  CHECK(has(text, ": before -> after\n"));
  CHECK(has(text, "90 3 -> 0 60ms -> 30ms 44ms 142ms 159ms 159ms 164ms demo.A.slow\n"));
  CHECK(has(text, "[new] demo.A.fresh\n"));
  CHECK(has(text, "[gone] demo.A.old\n"));
  CHECK(has(text, " 1 the same\n"));
  CHECK(text.find("demo.A.same") == std::string::npos);
  const std::string other = files.put("c.txt",
                                      "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
                                      "OTHER: name=a count=1\nOTHER: name=b count=2\n");
  CHECK(has(complained({"diff", before, other}), "the two files have no table of the same kind"));
}

TEST_CASE("rows without stacks come by the size of the change of their number, or of that of --by") {
  Files files;
  const std::string before = files.put("a.txt", latencies("1 9 0 9ms 1us 2us 2us 2us 900us demo.A.one\n"
                                                          "2 8 0 1us 1us 2us 2us 2us 2us demo.A.two\n"
                                                          "3 7 0 1us 1us 2us 2us 2us 3ms demo.A.three\n"));
  const std::string after = files.put("b.txt", latencies("1 10 0 9ms 1us 2us 2us 2us 900us demo.A.one\n"
                                                         "2 8 0 2us 1us 2us 2us 2us 2us demo.A.two\n"
                                                         "3 12 0 1us 1us 2us 2us 2us 2ms demo.A.three\n"));
  const std::string by_calls = said({"diff", before, after});
  CHECK(by_calls.find("demo.A.three") < by_calls.find("demo.A.one"));
  CHECK(by_calls.find("demo.A.one") < by_calls.find("demo.A.two"));
  const std::string top = said({"diff", before, after, "--top=1"});
  CHECK(has(top, "demo.A.three"));
  CHECK(top.find("demo.A.one") == std::string::npos);
  CHECK(has(top, "2 more"));
}
