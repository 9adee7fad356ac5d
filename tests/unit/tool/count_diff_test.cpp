// Exact counts of two files: what hprof diff marks, and conditions on them.
#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

// Else rows may have been left out.
const std::string kWhole = "HPROF NOTE: program Db, process 4711, VM 17, 2 processors; options cutoff=0\n";

struct Calls {
  unsigned query = 10, page = 2, list = 5;  // of query(): by page() and by list()
  unsigned fresh = 0;
};

std::string times_of(const Calls& calls) {
  const auto row = [](unsigned count, const std::string& trace) {
    return count == 0 ? std::string() : " 1 10.00% 10.00% " + std::to_string(count) + " " + trace + "\n";
  };
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
         "TRACE 300001:\n\tdemo.Db.query(Db.java:12)\n\tdemo.Page.draw(Page.java:20)\n"
         "TRACE 300002:\n\tdemo.Db.query(Db.java:12)\n\tdemo.List.draw(List.java:20)\n"
         "TRACE 300003:\n\tdemo.Page.draw(Page.java:20)\n"
         "TRACE 300004:\n\tdemo.Page.fresh(Page.java:30)\n"
         "CPU TIME (ms) BEGIN (total = 100) Thu Jan  1 00:00:00 1970\n"
         "rank   self  accum   count trace method\n" +
         row(calls.query, "300001 demo.Db.query") + row(calls.list, "300002 demo.Db.query") +
         row(calls.page, "300003 demo.Page.draw") + row(calls.fresh, "300004 demo.Page.fresh") +
         "CPU TIME (ms) END\n" + kWhole;
}

std::string sites_of(unsigned bytes, unsigned objects, const std::string& note) {
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
         "TRACE 300001:\n\tdemo.Reader.read(Reader.java:12)\n\tdemo.Page.draw(Page.java:20)\n"
         "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"
         "          percent          live          alloc'ed  stack class\n"
         " rank   self  accum     bytes objs     bytes  objs trace name\n"
         "    1 100.00% 100.00%      960    1 " +
         std::to_string(bytes) + " " + std::to_string(objects) + " 300001 byte[]\nSITES END\n" + note +
         kWhole;
}

struct TwoReports : Files {
  std::string before, after;
  TwoReports(const std::string& one, const std::string& two)
      : before(put("a.txt", one)), after(put("b.txt", two)) {}
  // What is said of a condition, with the status.
  std::string failed(const std::string& condition, int status = kFoundProblems) const {
    said({"diff", "--fail-if=" + condition, before, after}, status);
    return complained({"diff", "--fail-if=" + condition, before, after});
  }
  bool holds(const std::string& condition) const {
    return complained({"diff", "--fail-if=" + condition, before, after}).find(" holds: ") !=
           std::string::npos;
  }
};

}  // namespace

TEST_CASE("diff compares counts as they are, and marks what is new and gone") {
  Calls more;
  more.query = 13;
  more.fresh = 1;
  const TwoReports two(times_of({}), times_of(more));
  const std::string text = squeezed(said({"diff", "--by=calls", two.before, two.after}));
  CHECK(has(text, "\n +4 17 100.00% 21 100.00% +4 17 21 "));
  CHECK(has(text, " +3 15 88.24% 18 85.71% +3 15 18 "));
  CHECK(has(text, " [new] demo.Page.fresh\n"));
  CHECK(text.find('~') == std::string::npos);
  CHECK(has(said({"diff", "--by=calls", two.after, two.before}), "  [gone] demo.Page.fresh\n"));
}

TEST_CASE("a condition that holds is named with both numbers, the rows and the callers that bring it") {
  Calls more;
  more.query = 13;
  const TwoReports two(times_of({}), times_of(more));
  CHECK(two.failed("calls(demo.Db.query)>+0") ==
        "hprof: --fail-if=calls(demo.Db.query)>+0 holds: 15 before, 18 now (+3) in CPU TIME\n"
        "  demo.Db.query: 15 before, 18 now (+3)\n"
        "    +3 from demo.Page.draw\n");
  for (const char* condition : {"calls>+2", "calls>=+3", "calls>+17%", "calls(demo.*)>+0.5%", "calls>19",
                                "calls(demo.Db.query)<19", "calls(demo.Page.draw)>-1", "calls<+18%"})
    CHECK_MESSAGE(two.holds(condition), condition);
  for (const char* condition :
       {"calls>+3", "calls>+18%", "calls>20", "calls(demo.Page.draw)>+0", "calls<-1", "new>0"})
    CHECK_MESSAGE(!two.holds(condition), condition);
  CHECK(has(two.failed("calls(demo.Db.qurey)>+0", kFailed), "no row of " + two.after));
}

TEST_CASE("a table that may lack rows has no baseline, no conditions, and nothing new or gone") {
  const auto cut = [](std::string report) {
    const size_t at = report.find(" cutoff=0\n");
    return report.replace(at, 10, " depth=4\n");
  };
  Calls more;
  more.fresh = 2;
  const TwoReports two(cut(times_of({})), times_of(more));
  CHECK(has(two.failed("new>0", kFailed), "CPU TIME of " + two.before + " may lack small rows"));
  const std::string text = said({"diff", "--by=calls", two.before, two.after});
  CHECK(has(text, "demo.Page.fresh"));
  CHECK(text.find("[new]") == std::string::npos);
  CHECK(has(complained({"print", "--csv", two.before}), "CPU TIME may lack small rows"));
  CHECK(has(said({"print", two.before}), "in the rows; exact: calls; small ones may be missing (cutoff=)\n"));
  CHECK(said({"print", two.after}).find("small ones") == std::string::npos);
}

TEST_CASE("conditions on objects and bytes take classes and the methods that allocate them; new rows count") {
  const TwoReports two(sites_of(1000, 10, ""), sites_of(2000, 12, ""));
  CHECK(has(two.failed("objects(byte[])>+1"), "  byte[] in demo.Reader.read: 10 before, 12 now (+2)\n"));
  CHECK(two.holds("bytes(demo.*)>+999"));
  CHECK(!two.holds("bytes(demo.*)>+1k"));
  CHECK(has(two.failed("objects(char[])>+0", kFailed), "has that name"));
  Calls more;
  more.fresh = 2;
  CHECK(has(TwoReports(times_of({}), times_of(more)).failed("new>0"),
            "new>0 holds: 0 before, 1 now (+1) in CPU TIME\n  demo.Page.fresh: 0 before, 2 now (+2)\n"));
}

TEST_CASE("conditions name constructors as tables do") {
  const auto of = [](unsigned objects) {
    std::string text = sites_of(1000, objects, "");
    const std::string method = "demo.Reader.read(";
    return text.replace(text.find(method), method.size(), "demo.Reader.<init>(");
  };
  const TwoReports files(of(10), of(11));
  CHECK(files.holds("objects(demo.Reader.<init>)>+0"));
  CHECK_FALSE(files.holds("objects(demo.Reader.<init>)>+1"));
}

TEST_CASE("a condition that cannot be checked is an error") {
  const TwoReports two(times_of({}), times_of({}));
  const auto wrong = [&](const std::string& condition, const std::string& what) {
    CHECK(has(two.failed(condition, kFailed), "--fail-if=" + what));
  };
  wrong(
      "cals>0",
      "'cals>0', byte 1: calls, objects, bytes, contentions, made, caught, defined, tasks or new instead of "
      "'cals>0'");
  wrong("calls>5%", "'calls>5%', byte 7: a number such as 100, +100 or +0.5% instead of '5%'");
  wrong("calls()>+1", "'calls()>+1', byte 7: a name instead of ')>+1'");
  wrong("new>+0", "'new>+0', byte 5: a number instead of '+0'");
  wrong("bytes>+k", "'bytes>+k', byte 7: a size such as 64k, +64k or +5% instead of '+k'");
  wrong("objects>+0", "objects>+0: " + two.after + " has no objects");
  const std::string note = "HPROF NOTE: heap=sites: sampled, one sample in 1024 bytes\n";
  const TwoReports sampled(sites_of(1000, 10, ""), sites_of(2000, 12, note));
  CHECK(has(sampled.failed("objects>+0", kFailed),
            "SITES of " + sampled.after + " is sampled; conditions take"));
  const TwoReports other(sites_of(1000, 10, ""), times_of({}));
  CHECK(has(other.failed("calls>+0", kFailed), other.before + " has no calls"));
  const std::string histogram = two.put("h.txt", "   1:  10  160  demo.Kept (module)\n");
  CHECK(has(complained({"diff", "--fail-if=calls>0", histogram, histogram}), "--fail-if is for profiles"));
}

TEST_CASE("print --csv has the exact counts by name, and diff takes them as BEFORE") {
  Calls more;
  more.fresh = 1;
  const std::string note = "HPROF NOTE: heap=sites: sampled, one sample in 1024 bytes\n";
  const TwoReports two(times_of({}), times_of(more));
  const std::string calls = said({"print", "--csv", "--by-method", two.before});
  CHECK(calls ==
        "table,method,class,calls,objects,bytes,contentions\n"
        "cpu_times,demo.Db.query,,15,,,\n"
        "cpu_times,demo.Page.draw,,2,,,\n");
  CHECK(has(said({"print", "--csv", two.put("c.txt", sites_of(1000, 10, ""))}),
            "contentions\nalloc_sites,demo.Reader.read,byte[],,10,1000,\n"));
  CHECK(has(complained({"print", "--csv", two.put("d.txt", sites_of(1000, 10, note))}), ": no counts that"));
  said({"print", "--csv", "--top=1", two.before}, kFailed);
  const std::string base = two.put("base.csv", calls);
  CHECK(said({"print", "--csv", base}) == calls);
  const Arguments conditions = {"diff", "--fail-if=calls>+0", "--fail-if=new>0"};
  const auto with = [&](const std::string& after) {
    Arguments line = conditions;
    line.insert(line.end(), {base, after});
    return line;
  };
  CHECK(has(said(with(two.before)), "  2 the same\n"));
  CHECK(has(said(with(two.after), kFoundProblems), "  [new] demo.Page.fresh\n"));
  CHECK(has(complained(with(two.after)),
            "calls>+0 holds: 17 before, 18 now (+1) in CPU TIME\n  demo.Page.fresh: 0"));
  for (const char* row : {"cpu_times,a.B.c,,1,,\n", "cpu_times,a.B.c,,x,,,\n", ",a.B.c,,1,,,\n",
                          "cpu_times,a.B.c,,1,,,\ncpu_times,a.B.d,,,1,,\n"})
    CHECK(has(complained({"print", two.put("e.csv", calls.substr(0, calls.find('\n') + 1) + row)}),
              ": expected table,"));
}

TEST_CASE("conditions are on what leaves the range of the runs of BEFORE") {
  Calls fewer, more;
  fewer.list = 3;
  more.list = 6;
  const TwoReports two(times_of(fewer), times_of({}));
  const std::string third = two.put("c.txt", times_of(more));
  CHECK(two.holds("calls>+0"));
  said({"diff", "--before=" + third, "--fail-if=calls>+0", two.before, two.after});
  more.list = 8;
  const std::string now = two.put("d.txt", times_of(more));
  CHECK(has(complained({"diff", "--before=" + third, "--fail-if=calls>+0", two.before, now}),
            "calls>+0 holds: 18 before, 20 now (+2) in CPU TIME\n"
            "  demo.Db.query: 13 to 16 before, 18 now (+2)\n    +2 from demo.List.draw\n"));
  CHECK(has(complained({"diff", "--before=" + third, two.before, now}), "--before is for --fail-if"));
}

TEST_CASE("conditions are Markdown and JUnit's XML, whatever the names are") {
  Calls more;
  more.query = 13;
  const std::string odd = "demo.<Db>|`&";
  const auto named = [&](std::string report) {
    for (size_t at = 0; (at = report.find("demo.Db", at)) != std::string::npos;) report.replace(at, 7, odd);
    return report;
  };
  const TwoReports two(named(times_of({})), named(times_of(more)));
  const std::string xml = two.folder + "/junit.xml";
  const std::string text = said({"diff", "--markdown", "--junit=" + xml, "--fail-if=calls>+0",
                                 "--fail-if=new>0", two.before, two.after},
                                kFoundProblems);
  CHECK(has(text, ": 1 of 2 conditions holds\n\n| condition | | in | before | now | change |\n"));
  CHECK(has(text, "\n| <code>calls&gt;+0</code> | **fails** | CPU TIME | 17 | 20 | +3 |\n"));
  CHECK(has(text, "\n| <code>new&gt;0</code> | passes | CPU TIME | 0 | 0 | +0 |\n"));
  CHECK(has(text,
            "\n| <code>demo.&lt;Db&gt;&#124;&#96;&amp;.query</code> | 15 | 18 | +3 | "
            "<code>demo.Page.draw</code> |\n"));
  CHECK(text.find("by method") == std::string::npos);
  const auto titled = [](unsigned calls) {
    return "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n"
           "{\"record\":\"frame\",\"id\":1,\"class\":\"a.B\",\"method\":\"c\",\"source\":null,\"line\":1}\n"
           "{\"record\":\"trace\",\"id\":2,\"thread\":null,\"frames\":[1],\"cut\":false}\n"
           "{\"record\":\"table\",\"name\":\"acme/1\",\"title\":\"A|<img>\",\"flags\":[],\"columns\":["
           "{\"name\":\"calls\",\"type\":\"count\",\"flags\":[\"weight\"]},"
           "{\"name\":\"trace\",\"type\":\"trace\",\"flags\":[]}]}\n"
           "{\"record\":\"row\",\"table\":\"acme/1\",\"cells\":{\"calls\":" +
           std::to_string(calls) + ",\"trace\":2}}\n";
  };
  const Files files;
  CHECK(has(said({"diff", "--markdown", "--fail-if=new>0", files.put("a.json", titled(1)),
                  files.put("b.json", titled(2))}),
            " | A&#124;&lt;img&gt; | "));
  std::stringstream written;
  written << std::ifstream(xml).rdbuf();
  CHECK(has(written.str(), "<testsuite name=\"hprof diff\" tests=\"2\" failures=\"1\""));
  CHECK(has(
      written.str(),
      "<testcase classname=\"hprof.diff\" name=\"calls&gt;+0 in CPU TIME\"><failure message=\"calls&gt;+0 "
      "holds: 17 before, 20 now (+3) in CPU TIME\">"));
  CHECK(has(written.str(), "\n  demo.&lt;Db&gt;|`&amp;.query: 15 before, 18 now (+3)\n"));
  CHECK(has(written.str(), "name=\"new&gt;0 in CPU TIME\"/>\n</testsuite>\n"));
  CHECK(has(complained({"diff", "--markdown", two.before, two.after}), "--markdown is for --fail-if"));
}
