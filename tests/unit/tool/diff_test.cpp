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

// What diff prints.
std::string change(Arguments words) {
  words.insert(words.begin(), "diff");
  return squeezed(said(words));
}

// Folded stacks of so many samples, as a report: "main;A.a;B.b", the outermost frame first.
using Stacks = std::vector<std::pair<std::string, unsigned>>;
std::string sampled(const Stacks& stacks) {
  std::string traces, rows;
  unsigned trace = 300000, total = 0;
  for (const auto& [names, count] : stacks) {
    traces += "TRACE " + std::to_string(++trace) + ":\n";
    std::string frames, name;
    std::istringstream words(names);
    while (std::getline(words, name, ';')) frames.insert(0, "\tdemo." + name + "(A.java:1)\n");
    traces += frames;
    if (count == 0) continue;
    rows += " 1 1.00% 1.00% " + std::to_string(count) + " " + std::to_string(trace) + " demo." + name + "\n";
    total += count;
  }
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n" + traces +
         "CPU SAMPLES BEGIN (total = " + std::to_string(total) +
         ") Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n" + rows + "CPU SAMPLES END\n";
}

// A shop in which a discount takes so many samples: by itself, by rounding, which is its own, and by what
// others call, too.
Stacks shop(unsigned self, unsigned rounding, unsigned multiplying, const std::vector<unsigned>& others) {
  return {{"A.main;Order.total;Pricing.discount", self},
          {"A.main;Order.total;Pricing.discount;Pricing.round", rounding},
          {"A.main;Order.total;Pricing.discount;Math.multiply", multiplying},
          {"A.main;Order.total", others[0]},
          {"A.main;Order.total;Math.multiply", others[1]},
          {"A.main;Order.total;Tax.of", others[2]},
          {"A.main;Order.total;Tax.of;Math.multiply", others[3]},
          {"A.main;Page.draw", others[4]}};
}

size_t place_of(const std::string& text, const std::string& part) {
  REQUIRE(has(text, part));
  return text.find(part);
}

}  // namespace

TEST_CASE("lines are summed up as innermost frame, and once for each stack that they are in") {
  Files files;
  Profile profile;
  std::string error;
  REQUIRE(read_inputs({files.put("a.txt", report(kRows))}, {}, Usable::kStacks, &profile, &error));
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
  CHECK(has(text, "CPU SAMPLES, samples 40 in the rows; sampled; the last of 2 tables"));
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

TEST_CASE("print refuses options of tables with --records, and --lines with --traces") {
  const Files files;
  const std::string path = files.put("a.txt", report(kRows));
  for (const char* option : {"--lines", "--traces", "--threads", "--top=3", "--by=calls"})
    CHECK(has(complained({"print", "--records", option, path}), " is for tables"));
  CHECK(has(complained({"print", "--lines", "--traces", path}), "--lines and --traces: give one of them"));
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
  const std::string page = said({"view", alone});
  std::ifstream made(page.substr(0, page.size() - 1));
  const std::string html{std::istreambuf_iterator<char>(made), {}};
  CHECK(has(html, "<details open><summary>CALL LATENCY, 2 rows</summary>"));
  CHECK(has(html, "<td class=\"n\">90</td><td class=\"n\">3</td><td>60.7ms</td>"));
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
  const std::string lines = change({"--lines", before, after});
  CHECK(has(lines, " ~+18 21 40 100.00% 58 100.00% ~+18 40 58 all\n"));
  CHECK(has(lines, " ~+18 19 32 80.00% 50 86.21% +38 12 50 demo.A.outer(A.java:20)\n"));
  CHECK(has(lines, " -20 13 28 70.00% 8 13.79% -20 28 8 demo.A.inner(A.java:12)\n"));
  const std::string methods = change({before, after});
  CHECK(place_of(methods, "+38 12 50 demo.A.outer\n") < place_of(methods, "-20 28 8 demo.A.inner\n"));
  const std::string by_total = change({"--by=total", before, after});
  CHECK(place_of(by_total, " demo.A.inner\n") < place_of(by_total, " demo.A.outer\n"));
  const std::string stacks = change({"--traces", before, after});
  CHECK(has(stacks, " change of samples +/- before share after share name, and its stack\n"));
  CHECK(has(stacks, " demo.A.inner\n demo.A.inner(A.java:12)\n demo.A.outer(A.java:20)\n"));
  CHECK(has(stacks, "+38 17 12 30.00% 50 86.21% demo.A.outer\n demo.A.outer(A.java:20)"));
  CHECK(has(stacks, " 1 the same\n"));
  said({"diff", before}, kFailed);
  said({"diff", before, files.folder + "/none"}, kFailed);
  said({"view", files.folder + "/none"}, kFailed);
  said({"convert", "--to=pprof", files.folder + "/none"}, kFailed);
  said({"diff", before, files.put("c.txt", "nothing\n")}, kFoundProblems);
}

TEST_CASE("sums that are too large for a number are the largest number") {
  Files files;
  const auto counts = [&](const char* name, const std::string& of_two) {
    return files.put(name,
                     "table,method,class,calls,objects,bytes,contentions\n"
                     "cpu_times,demo.A.one,," +
                         std::string("18446744073709551615") + ",,,\ncpu_times,demo.A.two,," + of_two +
                         ",,,\n");
  };
  const std::string before = counts("a.csv", "1"), after = counts("b.csv", "18446744073709551615");
  CHECK(has(change({before, after}), " 18446744073709551615 100.00% "));
  CHECK(has(said({"diff", "--json", before, after}),
            "\"self_change\":9223372036854775807,\"self_before\":1,\"self_after\":18446744073709551615,"));
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
  const std::string text = change({before, after});
  CHECK(has(text, "live bytes by method, "));
  CHECK(has(text, "\n +1000 960 100.00% 1960 100.00% byte[] in demo.A.inner\n"));
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
  const std::string text = change({"--lines", before, after});
  CHECK(has(text, " +100 36 100 50.00% 200 62.50% +100 100 200 demo.A.outer(A.java:20)\n"));
  CHECK(has(text, " ~+20 31 100 50.00% 120 37.50% ~+20 100 120 demo.A.inner(A.java:12)\n"));
  CHECK(has(text, " ~: less than 2 standard errors of the samples"));
  const std::string stacks = change({"--traces", of("c.txt", "10000", "40"), of("d.txt", "10100", "0")});
  CHECK(place_of(stacks, "\n -40 14 40 0.40% 0 0.00% demo.A.inner\n") <
        place_of(stacks, "\n ~+100 285 10000 99.60% 10100 100.00% demo.A.outer\n"));
  CHECK(has(change({"--normalise", of("e.txt", "0", "0"), after}), "not scaled: the total of BEFORE is 0\n"));
  CHECK(has(change({"--normalise", before, of("e.txt", "0", "0")}), "not scaled: the total of AFTER is 0\n"));
  CHECK(has(complained({"diff", "--lines", "--traces", before, after}), "--lines and --traces: give one"));
  const std::string scaled = change({"--lines", "--normalise", before, after});
  CHECK(has(scaled, "before times 1.6, so that the totals are equal\n"));
  CHECK(has(scaled, " ~+40 44 160 50.00% 200 62.50% ~+40 160 200 demo.A.outer(A.java:20)\n"));
}

TEST_CASE("diff begins with the method that is gone, at a hundred samples as at ten thousand") {
  Files files;
  const auto first = [&](const Stacks& before, const Stacks& after) {
    const std::string text =
        change({files.put("a.txt", sampled(before)), files.put("b.txt", sampled(after))});
    return text.substr(text.find(" all\n") + 5);
  };
  const std::string of_many =
      first(shop(140, 250, 700, {1500, 900, 800, 710, 5000}), shop(0, 0, 0, {1530, 880, 790, 730, 5060}));
  CHECK(of_many.find(" -1090 67 1090 10.90% 0 0.00% -140 140 0 demo.Pricing.discount\n") == 0);
  CHECK(has(of_many, " -700 126 2310 23.10% 1610 17.91% -700 2310 1610 demo.Math.multiply\n"));
  CHECK(has(of_many, " ~+60 202 5000 50.00% 5060 56.28% ~+60 5000 5060 demo.Page.draw\n"));
  CHECK(place_of(of_many, " demo.Pricing.round\n") < place_of(of_many, " demo.Order.total\n"));
  const std::string of_few = first(shop(2, 2, 7, {15, 9, 8, 7, 50}), shop(0, 0, 0, {16, 8, 8, 8, 49}));
  CHECK(of_few.find(" -11 8 11 11.00% 0 0.00% ~-2 2 0 demo.Pricing.discount\n") == 0);
  CHECK(has(of_few, " ~-7 13 23 23.00% 16 17.98% ~-7 23 16 demo.Math.multiply\n"));
  // It is not quite gone, or new, or its callees are the caller's now.
  for (const Stacks& other :
       {shop(20, 0, 10, {1500, 900, 800, 710, 5000}), shop(0, 0, 0, {1910, 1620, 800, 710, 5000})}) {
    const Stacks whole = shop(140, 250, 700, {1500, 900, 800, 710, 5000});
    for (const std::string& text : {first(whole, other), first(other, whole)}) {
      const std::string line = text.substr(0, text.find('\n'));
      CHECK_MESSAGE(has(line, " demo.Pricing.discount"), text);
    }
  }
}

TEST_CASE("diff begins with the method that became slower, and ends with its callers") {
  Files files;
  const auto of = [&](const char* name, unsigned price, unsigned tax) {
    return files.put(name, sampled({{"A.main;A.hour", 1},
                                    {"A.main;A.hour;A.price", price},
                                    {"A.main;A.tax", tax},
                                    {"A.main", 900}}));
  };
  const std::string text = change({of("a.txt", 500, 400), of("b.txt", 1000, 600)});
  CHECK(place_of(text, " demo.A.price\n") < place_of(text, " demo.A.tax\n"));
  CHECK(place_of(text, " demo.A.tax\n") < place_of(text, " demo.A.hour\n"));
  CHECK(place_of(text, " demo.A.tax\n") < place_of(text, " demo.A.main\n"));
  // From nothing, its caller is as new.
  const std::string fresh = change({of("c.txt", 2, 400), of("d.txt", 500, 400)});
  CHECK(place_of(fresh, " demo.A.price\n") < place_of(fresh, " demo.A.hour\n"));
}

TEST_CASE("diff counts a recursive method once for each stack") {
  Files files;
  const auto of = [&](const char* name, unsigned deep, unsigned leaf) {
    return files.put(name, sampled({{"A.visit;A.scan;A.visit;A.scan;A.visit", deep},
                                    {"A.visit;A.scan;A.visit;A.scan;A.leaf", leaf}}));
  };
  const std::string text = change({of("a.txt", 100, 300), of("b.txt", 100, 600)});
  CHECK(has(text, " +300 67 400 100.00% 700 100.00% 0 100 100 demo.A.visit\n"));
  CHECK(place_of(text, " demo.A.leaf\n") < place_of(text, " demo.A.scan\n"));
  CHECK(place_of(text, " demo.A.leaf\n") < place_of(text, " demo.A.visit\n"));
}

TEST_CASE("diff has no errors of exact tables, but calls, and takes tables without stacks") {
  Files files;
  const auto of = [&](const char* name, const char* ms, const char* calls, const char* bytes,
                      const char* note) {
    return files.put(name,
                     "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
                     "TRACE 300001:\n\tdemo.A.inner(A.java:12)\n"
                     "CPU TIME (ms) BEGIN (total = " +
                         std::string(ms) +
                         ") Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
                         " 1 100.00% 100.00% " +
                         calls +
                         " 300001 demo.A.inner\nCPU TIME (ms) END\n"
                         "SITES BEGIN (ordered by allocated bytes) Thu Jan  1 00:00:00 1970\n"
                         " 1 100.00% 100.00% 0 0 " +
                         bytes + " 10 300009 byte[]\nSITES END\n" + note);
  };
  const std::string exact =
      change({of("a.txt", "100", "3", "16000", ""), of("b.txt", "101", "4", "17000", "")});
  CHECK(exact.find('~') == std::string::npos);
  CHECK(exact.find("+/-") == std::string::npos);
  CHECK(has(exact, " change of calls before after method"));
  CHECK(has(exact, "+1.0 ms 100.0 ms 101.0 ms +1 3 4 demo.A.inner\n"));
  // Calls are a method's own.
  CHECK(has(change({"--by=calls", files.folder + "/a.txt", files.folder + "/b.txt"}),
            "calls by method, first the largest change of self\n change of self before share after share "
            "change of total before after change of self time"));
  CHECK(exact.find("allocated bytes by method") == std::string::npos);
  CHECK(has(exact, "\n +1000 16000 100.00% 17000 100.00% byte[]\n"));
  const char* note = "HPROF NOTE: heap=sites: sampled, one sample in 1000 bytes (sites=sampled)\n";
  CHECK(has(change({of("c.txt", "100", "3", "16000", note), of("d.txt", "100", "3", "17000", note)}),
            "\n ~+1000 12489 16000 100.00% 17000 100.00% byte[]\n"));
}

TEST_CASE("--by ranks by a column, and an error names those that there are") {
  Files files;
  const std::string head =
      "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
      "TRACE 300001:\n\tdemo.A.kept(A.java:12)\n\tdemo.A.outer(A.java:20)\n"
      "TRACE 300002:\n\tdemo.A.made(A.java:13)\n";
  const auto sites = [&](const char* name, const char* made) {
    return files.put(name, head +
                               "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"
                               " 1 90.00% 90.00% 900 1 900 9 300001 byte[]\n"
                               " 2 10.00% 100.00% 100 2 " +
                               made + " 300002 char[]\nSITES END\n");
  };
  const std::string path = sites("a.txt", "5000 5");
  const auto first = [&](const char* by) {
    const std::string text = squeezed(said({"print", "--top=1", by, path}));
    return text.find(" demo.A.kept\n") != std::string::npos ? "kept" : "made";
  };
  CHECK(first("--by=live") == std::string("kept"));
  CHECK(first("--by=allocated") == std::string("made"));
  CHECK(first("--by=objects") == std::string("kept"));
  CHECK(first("--by=self") == std::string("kept"));
  CHECK(has(squeezed(said({"print", "--by=allocated", path})),
            "\n 1 84.75% 100 2 5000 5 300002 char[] in demo.A.made\n"));
  CHECK(has(said({"print", "--by=total", "--top=1", files.put("b.txt", report(kRows))}),
            "  30.00%   80.00%                 12  demo.A.outer\n"));
  CHECK(complained({"print", "--by=calls", path}) ==
        "hprof: " + path + ": no column calls; there are: live, live_objects, bytes, objects, self, total\n");
  said({"print", "--by=calls", path}, kFailed);
  said({"diff", "--by=calls", path, path}, kFailed);
  const std::string more = sites("c.txt", "6000 5");
  CHECK(has(change({"--by=allocated", path, more}),
            "\n +1000 5000 84.75% 6000 86.96% char[] in demo.A.made\n"));
  CHECK(has(change({path, more}), " 2 the same\n"));
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
  const std::string text = change({before, after});
  CHECK(text.find(
            "Change: +16000 bytes, +1000 objects. Grew most: demo.Kept, +16000 bytes, +1000 objects.\n") ==
        0);
  CHECK(has(text, " +16000 160 16160 +1000 10 1010 demo.Kept\n 1 the same\n"));
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
  CHECK(has(change({before, after}), " +1000 199568 200568 +10 1991 2001 char[]\n 1 the same\n"));
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

TEST_CASE("diff says how the time of the process changed, and of what files that it cannot compare are") {
  Files files;
  const auto report = [](const char* used, unsigned samples) {
    return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\nTRACE "
           "300001:\n\ta.A.x(A.java:1)\n"
           "CPU SAMPLES BEGIN (total = " +
           std::to_string(samples) +
           ") Thu Jan  1 00:00:00 1970\n"
           "rank   self  accum   count trace method\n   1 100.00% 100.00% " +
           std::to_string(samples) +
           " 300001 a.A.x\nCPU SAMPLES END\nHPROF NOTE: cpu=samples: engine signal, interval 10 ms, " +
           std::to_string(samples) + " samples in " + used;
  };
  const std::string before = files.put(
      "a.txt",
      report("1.76 s\nHPROF NOTE: cpu=samples: the process used 1.6 s of CPU time meanwhile, the Java "
             "threads in the table 1.4 s, garbage collection 0.01 s, the C2 compiler 0.2 s; the rest, 0 s, "
             "went to "
             "other threads, some of which have ended\n",
             140));
  const std::string after = files.put(
      "b.txt", report("3.24 s\nHPROF NOTE: cpu=samples: the process used 3 s of CPU time meanwhile, the Java "
                      "threads in the table 1.77 s, garbage collection 0.92 s, the C2 compiler 0.2 s; the "
                      "rest, 0.1 s, went to "
                      "other threads, some of which have ended\n",
                      177));
  const std::string change =
      "the process used 1.60 s of CPU time in 1.76 s before, 3.00 s in 3.24 s after: GC +0.91, Java threads "
      "+0.37, other threads +0.10\nCPU SAMPLES of ";
  CHECK(has(said({"diff", before, after}), change));
  CHECK(has(said({"diff", "--json", before, after}), "the process used 1.60 s of CPU time in 1.76 s before"));
  const std::string folded = files.put("c.collapsed", "a/A.x 5\n");
  CHECK(has(complained({"diff", folded, after}), "c.collapsed has FOLDED STACKS; " + after +
                                                     " has CPU SAMPLES; hprof convert " + after +
                                                     " --to=collapsed"));
}
