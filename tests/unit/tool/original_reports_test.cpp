// Text reports as the original HPROF writes them, of JDK 1.2 to 8, through every command that reads reports.
// The introduction is in our own words and has the original's shape: lines begin with the names of records.
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include "tools/hprof/command.h"

using namespace hprof::tool;

namespace {

constexpr char kIntroduction[] =
    "JAVA PROFILE 1.0.1, created Wed Nov 25 09:38:03 2026\n"
    "\n"
    "Header of the ASCII output\n"
    "\n"
    "These records may follow:\n"
    "\n"
    "THREAD START\n"
    "THREAD END      say when a thread began and ended\n"
    "\n"
    "TRACE           stands for a stack.  Other records name\n"
    "                TRACEs by their numbers\n"
    "\n"
    "HEAP DUMP       has all objects:\n"
    "\n"
    "                ROOT    what the VM holds\n"
    "                CLS     classes\n"
    "\n"
    "SITES           are places of allocation\n"
    "\n"
    "CPU SAMPLES     are counts of stacks\n"
    "\n"
    "CPU TIME        is the time of methods and their \"count\"\n"
    "\n"
    "MONITOR TIME    is the time that threads waited for others\n"
    "\n"
    "MONITOR DUMP    has all monitors\n"
    "\n"
    "HEAP DUMP, SITES, CPU SAMPLES|TIME and MONITOR DUMP|TIME come at the end\n"
    "\n"
    "--------\n"
    "\n";

constexpr char kThreadAndTraces[] =
    "THREAD START (obj=50000181, id = 200001, name=\"main\", group=\"main\")\n"
    "TRACE 300001:\n\tdemo.A.inner(A.java:12)\n\tdemo.A.main(A.java:3)\n"
    "TRACE 300002:\n\tdemo.B.run(B.java:Unknown line)\n"
    "THREAD END (id = 200001)\n";

constexpr char kSamples[] =
    "CPU SAMPLES BEGIN (total = 11) Wed Nov 25 09:38:05 2026\n"
    "rank   self  accum   count trace method\n"
    "   1 90.91% 90.91%      10 300001 demo.A.inner\n"
    "   2  9.09% 100.00%       1 300002 demo.B.run\n"
    "CPU SAMPLES END\n";

constexpr char kTimes[] =
    "CPU TIME (ms) BEGIN (total = 200) Wed Nov 25 09:38:05 2026\n"
    "rank   self  accum   count trace method\n"
    "   1 75.00% 75.00%       1 300001 demo.A.inner\n"
    "   2 25.00% 100.00%      50 300002 demo.B.run\n"
    "CPU TIME (ms) END\n";

constexpr char kSites[] =
    "SITES BEGIN (ordered by live bytes) Wed Nov 25 09:38:05 2026\n"
    "          percent          live          alloc'ed  stack class\n"
    " rank   self  accum     bytes objs     bytes  objs trace name\n"
    "    1 60.00% 60.00%     49248    6     49248     6 300001 byte[]\n"
    "    2 40.00% 100.00%     32832  100     48000  1000 300002 demo.Node\n"
    "SITES END\n";

constexpr char kMonitors[] =
    "MONITOR TIME BEGIN (total = 400 ms) Wed Nov 25 09:38:05 2026\n"
    "rank   self  accum   count trace monitor\n"
    "   1 75.00% 75.00%      15 300001 Ljava/lang/Object; (Java)\n"
    "   2  2.50% 77.50%       1 300002 LQueue; (Java)\n"
    "MONITOR TIME END\n";

// Numbers count from 1, traces have their thread, lines are missing in another way, and some columns are
// narrower.
constexpr char kJdk12[] =
    "THREAD START (obj=2b1fa8, id = 1, name=\"main\", group=\"main\")\n"
    "TRACE 7: (thread=1)\n\tdemo.A.inner(A.java:Compiled method)\n\tdemo.A.main(A.java:3)\n"
    "TRACE 12: (thread=1)\n\tdemo.B.run(B.java:Native method)\n"
    "TRACE 13: (thread=1)\n\t<empty>\n"
    "WAIT: MONITOR java.lang.Object(1f3a), timeout=0, thread 1\n"
    "SITES BEGIN (ordered by live bytes) Wed Nov 25 09:38:05 2026\n"
    "          percent         live       alloc'ed  stack class\n"
    " rank   self  accum    bytes objs   bytes objs trace name\n"
    "    1 60.00% 60.00%    49248    6   49248    6     7 [B\n"
    "    2 40.00% 100.00%    32832  100   48000 1000    12 demo.Node\n"
    "SITES END\n"
    "CPU SAMPLES BEGIN (total = 11) Wed Nov 25 09:38:05 2026\n"
    "rank   self  accum   count trace method\n"
    "   1 90.91% 90.91%      10     7 demo.A.inner\n"
    "   2  9.09% 100.00%       1    12 demo.B.run\n"
    "CPU SAMPLES END\n"
    "MONITOR TIME BEGIN (total = 400 ms) Wed Nov 25 09:38:05 2026\n"
    "rank   self  accum   count trace monitor\n"
    "   1 75.00% 75.00%      15     7 java.lang.Object(1f3a) (Java)\n"
    "   2  2.50% 77.50%       1    12 \"Class lock\"(3f) (Raw)\n"
    "MONITOR TIME END\n"
    "MONITOR DUMP BEGIN\n"
    "    THREAD 1, trace 7, status: CW\n"
    "    MONITOR java.lang.Object(1f3a) unowned\n\twaiting to be notified: thread 1\n"
    "    RAW MONITOR \"Class lock\"(0x3f)\n\towner: thread 1, entry count: 1\n"
    "MONITOR DUMP END\n";

struct Said {
  int status = 0;
  std::string out, err;
};

Said run(const Arguments& line) {
  std::ostringstream out, err;
  std::streambuf* old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* old_err = std::cerr.rdbuf(err.rdbuf());
  const int status = run_command_line(line);
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  return {status, out.str(), err.str()};
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_MESSAGE(!text.str().empty(), path);
  return text.str();
}

// The rest of a text after the first occurrence of a word.
std::string after(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  REQUIRE_MESSAGE(at != std::string::npos, text);
  return text.substr(at);
}

// Percentages with another decimal separator.
std::string localized(std::string text, const std::string& separator) {
  for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + separator.size() + 1))
    if (at >= 3 && text[at - 3] == '.') text.replace(at - 3, 1, separator);
  return text;
}

std::string with_carriage_returns(const std::string& text) {
  std::string made;
  for (const char letter : text) made += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  return made;
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/hprof-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { CHECK(std::system(("rm -rf " + path_).c_str()) == 0); }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

std::string converted(const Folder& folder, const std::string& path, const std::string& to,
                      const std::string& table = "--table=") {
  const std::string target = folder.put("converted", "");
  const Said said = run({"convert", path, to, table, "--force", "-o", target});
  CHECK_MESSAGE(said.status == kDone, said.err);
  return text_of(target);
}

// What the commands say of a report, without the file's name.
struct Reading {
  std::string printed, by_line, folded, json, page, difference, checked;
};

Reading read_by_all(const Folder& folder, const std::string& text, int check_status = kDone) {
  const std::string path = folder.put("report.txt", text);
  const auto good = [](const Said& said) {
    CHECK_MESSAGE(said.status == kDone, said.err);
    return said.out;
  };
  Reading reading;
  reading.printed = after(good(run({"print", "--top=0", "--traces", path})), "\n\n");
  reading.by_line = after(good(run({"print", "--top=0", "--lines", path})), "\n\n");
  reading.folded = converted(folder, path, "--to=collapsed");
  reading.json = converted(folder, path, "--to=json");
  CHECK(!converted(folder, path, "--to=pprof").empty());
  CHECK(!converted(folder, path, "--to=ascii").empty());
  const std::string page = folder.put("page.html", "");
  good(run({"view", path, "--force", "-o", page}));
  reading.page = text_of(page);
  reading.difference = after(good(run({"diff", path, path})), "\n");
  const Said checked = run({"check", "--max=1000", path});
  CHECK_MESSAGE(checked.status == check_status, checked.out);
  reading.checked = checked.out;
  return reading;
}

// A locale and the ends of lines change nothing of what is read.
Reading read_in_every_form(const Folder& folder, const std::string& records) {
  const std::string report = kIntroduction + records;
  const Reading plain = read_by_all(folder, report);
  for (const char* separator : {".", ",", "\u066b"}) {
    for (const bool carriage_returns : {false, true}) {
      CAPTURE(separator);
      CAPTURE(carriage_returns);
      const std::string local = localized(report, separator);
      const bool known = std::string(separator).size() == 1;
      const Reading other = read_by_all(folder, carriage_returns ? with_carriage_returns(local) : local,
                                        known ? kDone : kFoundProblems);
      CHECK(other.printed == plain.printed);
      CHECK(other.by_line == plain.by_line);
      CHECK(other.folded == plain.folded);
      CHECK(other.json == plain.json);
      CHECK(other.page == plain.page);
      CHECK(other.difference == plain.difference);
      if (known && !carriage_returns) CHECK(other.checked == plain.checked);
      CHECK((other.checked.find("line.crlf") != std::string::npos) == carriage_returns);
    }
  }
  CHECK(plain.printed.find("\\x0d") == std::string::npos);
  return plain;
}

bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  CHECK_MESSAGE(found, text);
  return found;
}

}  // namespace

TEST_CASE("the original's tables of samples, times, sites and monitors are read by every command") {
  Folder folder;
  const Reading samples = read_in_every_form(folder, std::string(kThreadAndTraces) + kSamples);
  CHECK(has(samples.checked, ": 0 errors, 0 warnings\n"));
  CHECK(samples.folded == "demo/A.main;demo/A.inner 10\ndemo/B.run 1\n");
  CHECK(has(samples.printed, "CPU SAMPLES, samples 11 in the rows; sampled\n"));
  CHECK(has(samples.printed, " 300001 demo.A.inner\n          demo.A.inner(A.java:12)\n"));
  CHECK(has(samples.difference, "  3 the same\n"));

  const Reading times = read_in_every_form(folder, std::string(kThreadAndTraces) + kTimes);
  CHECK(times.folded == "demo/A.main;demo/A.inner 150000\ndemo/B.run 50000\n");
  const Reading sites = read_in_every_form(folder, std::string(kThreadAndTraces) + kSites);
  CHECK(sites.folded == "demo/A.main;demo/A.inner;byte[] 49248\ndemo/B.run;demo/Node 32832\n");
  const Reading monitors = read_in_every_form(folder, std::string(kThreadAndTraces) + kMonitors);
  CHECK(has(monitors.by_line, "300.0 ms  demo.A.inner(A.java:12)\n"));
  const Reading all =
      read_in_every_form(folder, std::string(kThreadAndTraces) + kSites + kSamples + kTimes + kMonitors);
  CHECK(
      has(all.printed, "\nSITES, live bytes 82080 in the rows; exact: allocated bytes, allocated objects\n"));
}

TEST_CASE("reports of JDK 1.2 to 1.4 are read by every command") {
  Folder folder;
  const Reading old = read_in_every_form(folder, kJdk12);
  CHECK(has(old.checked, ": 0 errors, "));
  CHECK(has(old.checked, "warning: serial.base: trace 7, "));
  CHECK(has(old.printed, "CPU SAMPLES, samples 11 in the rows; sampled\n"));
  CHECK(has(old.printed, "      7 [B\n          demo.A.inner(A.java)\n          demo.A.main(A.java:3)\n"));
  CHECK(has(old.printed, " \"Class lock\"(3f) (Raw)\n"));
}

TEST_CASE("what the original wrote on JDK 8 is read by every command") {
  Folder folder;
  const std::string original = std::string(HPROF_ORIGINAL_DIR) + "/";
  const Reading samples = read_in_every_form(folder, text_of(original + "samples.txt"));
  CHECK(has(samples.checked, ": 0 errors, "));
  CHECK(has(samples.printed, "CPU SAMPLES, samples 20 in the rows; sampled\n"));
  const Reading times = read_in_every_form(folder, text_of(original + "times-thread.txt"));
  CHECK(has(times.checked, ": 0 errors, "));
  CHECK(has(times.folded, "Oracle$1.run;Oracle.hold 301938\n"));
  CHECK(has(times.json, "\"contender-0\""));
}

TEST_CASE("a call list of cpu=old is read by every command") {
  Folder folder;
  const std::string list =
      "count callee caller time\n"
      "21890 demo.A.fib(I)I demo.A.fib(I)I 508\n"
      "3 demo.A.fib(I)I demo.A.main([Ljava/lang/String;)V 12\n"
      "7 <unknown callee> demo.A.main([Ljava/lang/String;)V 3\n"
      "1 demo.A.main([Ljava/lang/String;)V <unknown caller> 0\n";
  const Reading lines = read_by_all(folder, list);
  CHECK(lines.folded ==
        "demo/A.fib;demo/A.fib 21890\ndemo/A.main;<unknown_callee> 7\ndemo/A.main;demo/A.fib 3\ndemo/A.main "
        "1\n");
  CHECK(read_by_all(folder, with_carriage_returns(list)).folded == lines.folded);
  const Said broken = run({"print", folder.put("broken.txt", list + "1 demo.A.main()V\n")});
  CHECK(broken.status == kFoundProblems);
  CHECK(has(broken.err, "line 6: expected count, callee, caller and time"));
}

TEST_CASE("ranked tables of plugins are read out of the text") {
  Folder folder;
  const std::string traces = std::string(kThreadAndTraces) + "TRACE 300003:\n\t<empty>\n";
  const std::string rows =
      "LOCKS: rank=1 self=90.91% accum=90.91% id=9 waited_ns=100000 bytes=1 at=300001 method=demo.A.inner "
      "what=a.B\n"
      "LOCKS: rank=2 self=9.09% accum=100.00% id=12 waited_ns=10000 bytes=2 at=300003 what=a.B\n"
      "OTHER: rank=1 self=100.00% accum=100.00% count=4 at=300002 method=demo.B.run\n"
      "GC_PAUSES: pauses=3 max_us=12.5\n";
  const std::string report = kIntroduction + traces + rows;
  const Reading reading = read_by_all(folder, report);
  CHECK(has(reading.printed, "\nLOCKS, time waited 0.1 ms in the rows\n"));
  CHECK(has(reading.printed, "  90.91%"));
  CHECK(has(reading.printed, "\nOTHER, count 4 in the rows\n"));
  CHECK(has(reading.printed, "300001 a.B\n"));
  CHECK(has(reading.printed, "\nGC_PAUSES\n  pauses  max_us\n       3    12.5\n"));
  CHECK(reading.folded == "demo/A.main;demo/A.inner 100\n[unknown] 10\n");
  CHECK(has(reading.checked, ": 0 errors, "));
  const std::string path = folder.put("report.txt", report);
  CHECK(converted(folder, path, "--to=collapsed", "--table=OTHER") == "demo/B.run 4\n");
  const Said whole = run({"convert", "-o", folder.put("whole.json", ""), "--force", path});
  CHECK(has(whole.err, "left out, without stacks: GC_PAUSES\n"));
}

TEST_CASE("tables of plugins that rank nothing are read out of the text, alone, too") {
  Folder folder;
  // A report that is made again has the same texts once more.
  const std::string pages = "PAGES: port=80 hits=3\nPAGES: port=443 hits=5\n",
                    hits = "HITS: hits=3 page=/a\nHITS: hits=4 page=/b\n",
                    again = "HITS: hits=9 page=/a\nHITS: hits=8 page=/b\n";
  const std::string made = "MADE: made=20 class=a.B at=300001\nMADE: made=10 class= at=300000\n";
  const std::string path =
      folder.put("alone.txt", std::string(kIntroduction) + kThreadAndTraces + pages + hits + again + made);
  const std::string printed = run({"print", path}).out;
  CHECK(has(printed, "\nPAGES\n  port  hits\n    80     3\n   443     5\n"));
  CHECK(has(printed, "\nHITS\n  hits  page\n     9  /a\n     8  /b\n"));
  CHECK(
      has(printed, "\nMADE\n  made  class  at\n    20  a.B    300001 demo.A.inner\n    10         300000\n"));
  CHECK(has(run({"print", "--by=hits", path}).out, "\nPAGES\n  port  hits\n   443     5\n    80     3\n"));
  CHECK(run({"print", "--by=page", path}).err ==
        "hprof: " + path + ": no column page; there are: port, hits, made\n");
  const Said page = run({"view", "--force", "-o", folder.put("alone.html", ""), path});
  REQUIRE(page.status == kDone);
  const std::string html = text_of(page.out.substr(0, page.out.find('\n')));
  CHECK(has(html, "<summary>PAGES, 2 rows</summary>"));
  CHECK(has(html, "<td class=\"n\">443</td><td class=\"n\">5</td>"));
}

TEST_CASE("a report without tables is refused with what would have one") {
  Folder folder;
  const std::string path = folder.put("threads.txt", std::string(kIntroduction) + kThreadAndTraces);
  for (const char* command : {"print", "view"}) {
    const Said said = run({command, path});
    CHECK(said.status == kFoundProblems);
    CHECK(has(said.err, "no table with stacks in it (cpu=samples, "));
  }
  const std::string broken = folder.put("broken.txt", std::string(kIntroduction) + "TRACE x:\n");
  CHECK(has(run({"print", broken}).err, ": expected TRACE <number>:"));
}
