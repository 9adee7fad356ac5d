// Sums of tables, what hprof print shows of text reports, and what hprof diff says of two files.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/tool/command_support.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/inputs.h"
#include "tools/hprof/view/page.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

std::string report(const std::string& rows) {
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
         "TRACE 300001:\n\tdemo.A.inner(A.java:12)\n\tdemo.A.outer(A.java:20)\n"
         "TRACE 300002:\n\tdemo.A.outer(A.java:20)\n\tdemo.A.outer(A.java:20)\n"
         "TRACE 300003:\n\tdemo.A.inner(A.java:12)\n"
         "CPU SAMPLES BEGIN (total = 1) Thu Jan  1 00:00:00 1970\n"
         "rank   self  accum   count trace method\n"
         "   1 100.00% 100.00%       1 300001 demo.A.inner\n"
         "CPU SAMPLES END\n"
         "CPU SAMPLES BEGIN (total = 40) Thu Jan  1 00:00:01 1970\n"
         "rank   self  accum   count trace method\n" +
         rows + "CPU SAMPLES END\n";
}

const std::string kRows =
    "   1 50.00% 50.00%      20 300001 demo.A.inner\n"
    "   2 25.00% 75.00%      12 300002 demo.A.outer\n"
    "   3 20.00% 95.00%       8 300003 demo.A.inner\n";

}  // namespace

TEST_CASE("lines are summed up as innermost frame, and once for each stack that they are in") {
  Files files;
  Profile profile;
  std::string error;
  REQUIRE(read_inputs({files.put("a.txt", report(kRows))}, {}, false, &profile, &error));
  const std::vector<LastTable> last = last_tables(profile);
  REQUIRE(last.size() == 1);
  CHECK(last[0].of == 2);
  const std::vector<PlaceSum> sums = sums_by_place(profile, *last[0].table, 0, frame_text);
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].place == "demo.A.inner(A.java:12)");
  CHECK(sums[0].self == 28);
  CHECK(sums[0].total == 28);
  CHECK(sums[1].place == "demo.A.outer(A.java:20)");
  CHECK(sums[1].self == 12);
  CHECK(sums[1].total == 32);
}

TEST_CASE("print begins with the methods and the hottest path, and has each row on request") {
  Files files;
  const std::string path = files.put("a.txt", report(kRows));
  const std::string text = said({"print", "--top=1", path});
  CHECK(has(text, "CPU SAMPLES, samples 40 in the rows; the last of 2 tables"));
  CHECK(has(text, "  70.00%   70.00%                 28  demo.A.inner\n  ... 1 more\n"));
  CHECK(
      has(text, "hottest path, from the outermost frame\n  80.00%  demo.A.outer\n  50.00%  demo.A.inner\n"));
  CHECK(text.find("300001") == std::string::npos);
  const std::string rows = said({"print", "--top=1", "--traces", path});
  CHECK(has(rows, "   1  50.00%"));
  CHECK(has(rows,
            " 300001 demo.A.inner\n          demo.A.inner(A.java:12)\n          demo.A.outer(A.java:20)\n"));
  CHECK(has(rows, "  ... 2 more"));
  CHECK(has(said({"print", "--lines", path}),
            "  70.00%   70.00%                 28  demo.A.inner(A.java:12)\n"));
  said({"print", "--records", path}, kFailed);
}

TEST_CASE("print has the calls of each method, and tables without stacks as they are") {
  Files files;
  const std::string text = report(kRows) +
                           "CPU TIME (ms) BEGIN (total = 100) Thu Jan  1 00:00:00 1970\n"
                           "rank   self  accum   count trace method\n"
                           "   1 60.00% 60.00%       5 300001 demo.A.inner\n"
                           "   2 30.00% 90.00%       3 300002 demo.A.outer\n"
                           "   3 10.00% 100.00%       2 300003 demo.A.inner\n"
                           "CPU TIME (ms) END\n";
  const std::string latency =
      "CALL LATENCY BEGIN (total = 95) Thu Nov 26 21:43:05 2026\n"
      "rank      calls running    mean     p50     p90     p99   p99.9     max method\n"
      "   1         90       3  60.7ms    44ms   142ms   159ms   159ms   164ms demo.A.inner\n"
      "   2          5       0  60.7ms    44ms   142ms   159ms   159ms   164ms demo.A.outer\n"
      "CALL LATENCY END\nMONITOR DUMP BEGIN\n    THREAD 200001, trace 300001, status: R\nMONITOR DUMP END\n";
  const std::string printed = said({"print", files.put("a.txt", text + latency)});
  CHECK(has(printed, "    self    total          self time              calls  method"));
  CHECK(has(printed, "  70.00%   70.00%            70.0 ms                  7  demo.A.inner\n"));
  CHECK(has(printed, "  30.00%   90.00%            30.0 ms                  3  demo.A.outer\n"));
  CHECK(has(printed, latency.substr(0, latency.find("CALL LATENCY END"))));
  CHECK(has(printed, "\nnot printed: MONITOR DUMP, which is in the file\n"));
  const std::string alone =
      files.put("b.txt", "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n" + latency);
  CHECK(has(said({"print", "--top=1", alone}), "demo.A.inner\n  ... 1 more\n"));
  said({"view", alone}, kFoundProblems);
}

TEST_CASE("print has the threads of a text report, and says what a file without tables is") {
  Files files;
  const std::string path =
      files.put("a.txt", report(kRows) +
                             "THREAD START (obj=1, id = 200001, name=\"main\", group=\"main\")\n"
                             "THREAD START (obj=2, id = 200002, name=\"a worker\", group=\"main\")\n"
                             "THREAD END (id = 200001)\n");
  CHECK(has(said({"print", "--threads", path}),
            "\nthreads\n  serial  name\n  200001  main (ended)\n  200002  a worker\n"));
  CHECK(said({"print", path}).find("a worker") == std::string::npos);
  const std::string start = "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n";
  CHECK(has(complained({"print", files.put("b.txt", "")}), ": the file is empty\n"));
  CHECK(has(complained({"print", files.put("c.txt", start + "TRACE 300001:\n\tdemo.A.in")}),
            ": line 5: the file ends within it: cut short\n"));
  CHECK(has(complained({"view", files.put("d.txt",
                                          start + "HEAP DUMP BEGIN (3 objects, 48 bytes)\nHEAP DUMP END\n")}),
            "; hprof heap reads a dump of format=b\n"));
  CHECK(has(complained({"heap", "leaks", path}), "a text report, which hprof print reads"));
}

TEST_CASE("diff says what is more and less in the second report") {
  Files files;
  const std::string before = files.put("a.txt", report(kRows));
  const std::string after = files.put("b.txt", report("   1 59.00% 59.00%      30 300002 demo.A.outer\n"
                                                      "   2 40.00% 99.00%      20 300002 demo.A.outer\n"
                                                      "   3  1.00% 100.00%      8 300003 demo.A.inner\n"));
  const std::string lines = said({"diff", "--lines", before, after});
  CHECK(has(lines, "+18            40  100.00%            58  100.00%  total\n"));
  CHECK(has(lines, "+38            12   30.00%            50   86.21%  demo.A.outer(A.java:20)\n"));
  CHECK(has(lines, "-20            28   70.00%             8   13.79%  demo.A.inner(A.java:12)\n"));
  CHECK(lines.find("+38") < lines.find("-20"));
  const std::string methods = said({"diff", before, after});
  CHECK(has(methods, "+38            12   30.00%            50   86.21%  demo.A.outer\n"));
  CHECK(has(methods, "-20            28   70.00%             8   13.79%  demo.A.inner\n"));
  const std::string stacks = said({"diff", "--traces", before, after});
  CHECK(
      has(stacks, "  demo.A.inner\n          demo.A.inner(A.java:12)\n          demo.A.outer(A.java:20)\n"));
  CHECK(has(
      stacks,
      "+38            12   30.00%            50   86.21%  demo.A.outer\n          demo.A.outer(A.java:20)"));
  CHECK(has(stacks, "  1 the same\n"));
  said({"diff", before}, kFailed);
  said({"diff", before, files.folder + "/none"}, kFailed);
  said({"view", files.folder + "/none"}, kFailed);
  said({"convert", "--to=pprof", files.folder + "/none"}, kFailed);
  said({"diff", before, files.put("c.txt", "nothing\n")}, kFoundProblems);
}

TEST_CASE("diff says what is allocated by which method, and that elapsed time is no CPU time") {
  Files files;
  const auto of = [&](const char* name, const char* bytes, const char* engine) {
    return files.put(
        name, report(kRows) +
                  "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"
                  "          percent          live          alloc'ed  stack class\n"
                  " rank   self  accum     bytes objs     bytes  objs trace name\n"
                  "    1 100.00% 100.00%      " +
                  bytes + "    1       960     1 300001 byte[]\nSITES END\nHPROF NOTE: cpu=samples: engine " +
                  engine + ", interval 10 ms\n");
  };
  const std::string before = of("a.txt", "960", "signal"), after = of("b.txt", "1960", "wall");
  CHECK(has(said({"diff", before, after}),
            "+1000           960  100.00%          1960  100.00%  byte[] in demo.A.inner\n"));
  CHECK(has(complained({"diff", before, after}), "hprof: not comparable: " + before + " has CPU time, " +
                                                     after + " has elapsed time (clock=wall)\n"));
  CHECK(complained({"diff", before, before}) == "");
}

TEST_CASE("diff marks changes below two standard errors, and scales what was before") {
  Files files;
  const auto of = [&](const char* name, const char* outer, const char* inner) {
    return files.put(name, report(std::string("   1 50.00% 50.00%     ") + outer + " 300002 demo.A.outer\n" +
                                  "   2 50.00% 100.00%     " + inner + " 300003 demo.A.inner\n"));
  };
  const std::string before = of("a.txt", "100", "100"), after = of("b.txt", "200", "120");
  const std::string text = said({"diff", "--lines", before, after});
  CHECK(has(text, " +100           100   50.00%           200   62.50%  demo.A.outer(A.java:20)\n"));
  CHECK(has(text, "~+20           100   50.00%           120   37.50%  demo.A.inner(A.java:12)\n"));
  CHECK(has(text, "  ~: less than 2 standard errors of the samples\n"));
  const std::string scaled = said({"diff", "--lines", "--normalise", before, after});
  CHECK(has(scaled, "before times 1.6, so that the totals are equal\n"));
  CHECK(has(scaled, "~+40           160   50.00%           200   62.50%  demo.A.outer(A.java:20)\n"));
}

TEST_CASE("diff compares class histograms of jcmd") {
  Files files;
  const std::string head = "4711:\n num     #instances         #bytes  class name (module)\n------\n";
  const std::string before = files.put("a", head +
                                                "   1:            10            160  demo.Kept\n"
                                                "   2:             5            800  [B (java.base@17)\n");
  const std::string after = files.put("b", head +
                                               "   1:          1010          16160  demo.Kept\n"
                                               "   2:             5            800  [B (java.base@17)\n"
                                               "Total          1015          16960\n");
  const std::string text = said({"diff", before, after});
  CHECK(text.find(
            "Change: +16000 bytes, +1000 objects. Grew most: demo.Kept, +16000 bytes, +1000 objects.\n") ==
        0);
  CHECK(has(text, "+16000           160         16160"));
  CHECK(has(text, "+1000            10          1010  demo.Kept\n  1 the same\n"));
}

TEST_CASE("diff compares class histograms of hprof heap") {
  Files files;
  const std::string head =
      "Heap dump a.hprof\n-----------------\n  objects       8,262, 2.5 MiB\n\n"
      "Classes by shallow bytes\n------------------------\n  objects      bytes  class\n";
  const std::string before =
      files.put("a", head + "      436  2,089,368  int[]\n    1,991    199,568  char[]\n");
  const std::string after =
      files.put("b", head + "      436  2,089,368  int[]\n    2,001    200,568  char[]\n");
  const std::string text = said({"diff", before, after});
  CHECK(has(text, "+1000        199568        200568"));
  CHECK(has(text, "+10          1991          2001  char[]\n  1 the same\n"));
  const std::string cut = files.put("c", head + "      436  2,089,368  int[]\n  ... 230 more\n");
  said({"diff", before, cut}, kFoundProblems);
  said({"diff", cut, before}, kFoundProblems);
}

TEST_CASE("diff compares class histograms as CSV, of hprof heap and VisualVM, with one of jcmd") {
  Files files;
  const std::string ours = files.put("a",
                                     "objects,shallow_bytes,class,class_id\n"
                                     "20000,480000,demo.Kept,0x7f00\n12,1024,byte[],\n");
  const std::string theirs = files.put("b",
                                       "\"Name\",\"Live Bytes\",\"Live Objects\"\n"
                                       "\"demo.Kept\",\"720,000 B (99.8%)\",\"30,000 "
                                       "(99.9%)\"\n\"byte[]\",\"1\u00a0024 B (0.2%)\",\"12 (0%)\"\n");
  const std::string viewer = files.put("c",
                                       "\"Name\",\"Count\",\"Size\",\"Retained\"\n"
                                       "\"demo.Kept\",\"30.000 (99,9%)\",\"720.000 B (99,8%)\",\"n/a\"\n"
                                       "\"byte[]\",\"12 (0%)\",\"1024 B\",\"\"\n");
  const std::string jcmd = files.put("d",
                                     " num     #instances         #bytes  class name (module)\n"
                                     "   1:         30000         720000  demo.Kept\n"
                                     "   2:            12           1024  [B (java.base@17)\n");
  for (const std::string& after : {theirs, viewer, jcmd}) {
    CAPTURE(after);
    const std::string text = said({"diff", ours, after});
    CHECK(text.find("Change: +240000 bytes, +10000 objects. Grew most: demo.Kept, +240000 bytes, +10000 "
                    "objects.\n") == 0);
    CHECK(has(text, "demo.Kept\n  1 the same\n"));
  }
  CHECK(has(said({"diff", jcmd, ours}), "Change: -240000 bytes, -10000 objects. No class grew.\n"));
  said({"diff", ours, files.put("e", "objects,shallow_bytes,class\n1,none,demo.Kept\n")}, kFoundProblems);
}

TEST_CASE("view: a page is read as it was written, and says whether it has events") {
  Files files;
  Profile profile;
  profile.file = "a.txt";
  profile.about = {{"from", "12:03"}};
  profile.traces[1] = {{"demo.A", "run", "", 3}};
  profile.tables.push_back(samples_table());
  profile.tables[0].rows.push_back({1, {7}});
  std::ostringstream out;
  write_page({profile}, out);
  Profile again;
  PageTimes times;
  std::string error;
  const std::string page = files.put("a.html", out.str());
  REQUIRE(read_page(page, &again, &times, &error));
  CHECK(error == "");
  CHECK_FALSE(times.any);
  CHECK(has(again.page_lines, "\nd\t7\t1\n"));
  CHECK(again.page_lines.find("title") == std::string::npos);
  CHECK(again.page_lines.find("from") == std::string::npos);
  std::ostringstream other;
  again.about = {{"from", "12:03"}};
  write_page({again}, other);
  CHECK(has(other.str(), "i\tfrom\t12:03\n" + again.page_lines));
  CHECK_FALSE(read_page(files.put("b.txt", "JAVA PROFILE 1.0.1\n"), &again, &times, &error));
  CHECK(error == "");
  CHECK_FALSE(read_page(files.put("c.html", "<!doctype html>\n<p>\n"), &again, &times, &error));
  CHECK(has(error, "without the data"));
  CHECK(read_page(files.put("d.html",
                            "<!doctype html>\n<script type=\"text/plain\" "
                            "id=\"data\">v\t1\nT\tx/1\tX\t4\nn\t</script>\nd\t1\nd\t"),
                  &again, &times, &error));
  CHECK(times.any);
  CHECK(again.page_lines.find('<') == std::string::npos);
}
