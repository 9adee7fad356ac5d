// Windows of every=: what print, view, diff and convert make of them, in one file, in several and in folders.
#include "tools/hprof/view/windows.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/tool/command_support.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/inputs.h"
#include "tools/hprof/view/page.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

const std::string kHead =
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n"
    "TRACE 300001:\n\tdemo.A.inner(A.java:12)\nTRACE 300002:\n\tdemo.A.outer(A.java:20)\n";

std::string samples(unsigned inner, unsigned outer) {
  const std::string total = std::to_string(inner + outer);
  return "CPU SAMPLES BEGIN (total = " + total + ") Thu Jan  1 00:00:00 1970\n" +
         "rank   self  accum   count trace method\n   1 50.00% 50.00% " + std::to_string(inner) +
         " 300001 demo.A.inner\n   2 50.00% 100.00% " + std::to_string(outer) +
         " 300002 demo.A.outer\nCPU SAMPLES END\n";
}

std::string sites(unsigned live, unsigned made, const char* trace = "300001") {
  return "SITES BEGIN (ordered by allocated bytes) Thu Jan  1 00:00:00 1970\n"
         "          percent          live          alloc'ed  stack class\n"
         " rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00% 100.00% " +
         std::to_string(live) + " 1 " + std::to_string(made) + " 2 " + trace + " demo.A\nSITES END\n";
}

// The note after a collector's tables, of a window that begins at that second of a minute.
std::string window(unsigned number, unsigned second) {
  const std::string begin = std::to_string(second), end = std::to_string(second + 10);
  return "HPROF NOTE: window " + std::to_string(number) + ": 202611281706" + begin + " to 202611281706" +
         end + ", 10.000 s; tables have what is new in it\n";
}
const std::string kWhole =
    "HPROF NOTE: since the start: 20261128170600 to 20261128170620, 20.000 s; not a window\n";

// Three windows of two collectors, with a report by command after the first.
std::string report() {
  return kHead + samples(10, 1) + "HPROF NOTE: cpu=samples: 11 samples\n" + window(1, 10) + sites(500, 1000) +
         window(1, 10) + samples(12, 3) + kWhole + sites(600, 1600) + kWhole + samples(20, 2) +
         "HPROF NOTE: cpu=samples: 33 samples\n" + window(2, 20) + sites(300, 2000) + window(2, 20) +
         samples(30, 3) + "HPROF NOTE: cpu=samples: 66 samples\n" + window(3, 30) +
         sites(200, 4000, "300002") + window(3, 30);
}

Profile read(const Arguments& words, const WindowChoice& choice = {}) {
  Profile profile;
  std::string error;
  REQUIRE_MESSAGE(read_inputs(words, choice, Usable::kTitles, &profile, &error), error);
  return profile;
}

std::string refused(const Arguments& words, const WindowChoice& choice) {
  Profile profile;
  std::string error;
  CHECK_FALSE(read_inputs(words, choice, Usable::kTitles, &profile, &error));
  return error;
}

// The values of the last table of a name, by the method on top of the row's stack.
std::map<std::string, std::vector<uint64_t>> values(const Profile& profile, const std::string& name) {
  std::map<std::string, std::vector<uint64_t>> found;
  for (const LastTable& last : last_tables(profile)) {
    if (last.table->name != name) continue;
    for (const ProfileRow& row : last.table->rows) found[frames_of(profile, row)[0].method] = row.values;
  }
  return found;
}
using Values = std::map<std::string, std::vector<uint64_t>>;

// A message of profile.proto.
std::string field(unsigned number, uint64_t value) {
  std::string bytes(1, static_cast<char>(number << 3));
  for (; value > 0x7f; value >>= 7) bytes.push_back(static_cast<char>(0x80 | (value & 0x7f)));
  return bytes + static_cast<char>(value);
}
std::string field(unsigned number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string pprof(uint64_t begin_s, uint64_t seconds, unsigned count, const std::string& note = "") {
  constexpr uint64_t kSecond = 1000000000;
  std::string file =
      field(1, field(1, 1) + field(2, 2)) +
      field(2, field(1, std::string("\1")) + field(2, std::string(1, static_cast<char>(count)))) +
      field(4, field(1, 1) + field(4, field(1, 1) + field(2, 12))) + field(5, field(1, 1) + field(2, 3));
  for (const std::string& text :
       {std::string(), std::string("samples"), std::string("count"), std::string("demo.A.inner"), note})
    file += field(6, text);
  if (!note.empty()) file += field(13, 4);
  return file + field(9, begin_s * kSecond) + field(10, seconds * kSecond);
}

}  // namespace

TEST_CASE("windows: what counts adds up, what lives is as at the end, and a report in between is neither") {
  Files files;
  const Profile all = read({files.put("a.txt", report())});
  CHECK(values(all, "cpu_samples") == Values{{"inner", {60}}, {"outer", {6}}});
  CHECK(values(all, "alloc_sites") == Values{{"inner", {0, 0, 3000, 4}}, {"outer", {200, 1, 4000, 2}}});
  for (const LastTable& last : last_tables(all)) CHECK(last.table->windows == 3);
  REQUIRE(all.tables.size() == 4);
  CHECK(all.tables[2].totals == std::vector<uint64_t>{66});
  // Notes have all since the start: the last ones.
  CHECK(all.notes.back() == "cpu=samples: 66 samples");
  CHECK(all.duration_ns == 30000000000);
  REQUIRE(all.about.size() == 2);
  CHECK(all.about[1].second == "windows 1 to 3, 2026-11-28 17:06:10 to 17:06:40");
}

TEST_CASE("windows: in a file of 1.0.0 the report in between has no note") {
  Files files;
  std::string text = report();
  for (size_t at = text.find(kWhole); at != std::string::npos; at = text.find(kWhole))
    text.erase(at, kWhole.size());
  const Profile all = read({files.put("a.txt", text)});
  CHECK(values(all, "cpu_samples") == Values{{"inner", {60}}, {"outer", {6}}});
  CHECK(values(all, "alloc_sites")["inner"] == std::vector<uint64_t>{0, 0, 3000, 4});
}

TEST_CASE("windows: one is chosen by its number, or some by the time of day") {
  Files files;
  const std::string path = files.put("a.txt", report());
  const auto inner = [&](const WindowChoice& choice) {
    return values(read({path}, choice), "cpu_samples")["inner"][0];
  };
  CHECK(inner({2, "", ""}) == 20);
  CHECK(inner({0, "17:06:20", ""}) == 50);
  CHECK(inner({0, "17:06:20", "17:06:30"}) == 20);
  CHECK(inner({0, "", "17:06:25.5"}) == 30);
  CHECK(inner({0, "12:00", "17:06:15"}) == 10);
  CHECK(inner({3, "17:06:20", ""}) == 30);
  const Profile one = read({path}, {1, "", ""});
  CHECK(one.tables.size() == 2);
  CHECK(values(one, "alloc_sites") == Values{{"inner", {500, 1, 1000, 2}}});
  CHECK(one.notes == std::vector<std::string>{"cpu=samples: 11 samples"});
  // The only time lies outside of the report, or nothing is between the two.
  const std::string all = ", but windows 1 to 3, 2026-11-28 17:06:10 to 17:06:40";
  for (const WindowChoice& choice :
       {WindowChoice{7, "", ""}, WindowChoice{0, "17:05", ""}, WindowChoice{0, "17:07", ""},
        WindowChoice{0, "", "17:06:05"}, WindowChoice{0, "", "17:08"},
        WindowChoice{0, "17:06:30", "17:06:20"}, WindowChoice{1, "17:06:25", ""}})
    CHECK(has(refused({path}, choice), all));
  CHECK(has(refused({files.put("b.txt", kHead + samples(1, 1))}, {1, "", ""}), "has no windows"));
}

TEST_CASE("windows: tables without stacks are those of the last window") {
  Files files;
  const auto latency = [](unsigned calls) {
    return "CALL LATENCY BEGIN (total = 1) x\nrank calls method\n   1 " + std::to_string(calls) +
           " demo.A.run\nCALL LATENCY END\n";
  };
  const std::string path = files.put(
      "a.txt", kHead + latency(5) + window(1, 10) + latency(9) + kWhole + latency(4) + window(2, 20));
  CHECK(has(said({"print", path}), "   1 4 demo.A.run\n  the last of 2 windows\n"));
  CHECK(has(said({"print", path, "--window=1"}), "   1 5 demo.A.run\n"));
}

TEST_CASE("windows: of tables without stacks whose columns are told apart what happened adds up") {
  Files files;
  const auto table = [](const std::string& rows, unsigned number) {
    return "{\"record\":\"report_begin\",\"reason\":\"window\",\"begin_wall_ns\":" + std::to_string(number) +
           "000000000,\"end_wall_ns\":" + std::to_string(number + 1) +
           "000000000}\n{\"record\":\"table\",\"name\":\"acme/"
           "1\",\"title\":\"ACME\",\"flags\":[],\"columns\":["
           "{\"name\":\"port\",\"type\":\"int\",\"flags\":[\"key\"]},"
           "{\"name\":\"reads\",\"type\":\"count\",\"flags\":[]},"
           "{\"name\":\"open\",\"type\":\"count\",\"flags\":[\"state\"]},"
           "{\"name\":\"load\",\"type\":\"real\",\"flags\":[\"weight\"]}]}\n" +
           rows + "{\"record\":\"report_end\",\"whole\":true}\n";
  };
  const auto row = [](unsigned port, uint64_t reads, unsigned open, const char* load) {
    return "{\"record\":\"row\",\"table\":\"acme/1\",\"cells\":{\"port\":" + std::to_string(port) +
           ",\"reads\":" + std::to_string(reads) + ",\"open\":" + std::to_string(open) + ",\"load\":" + load +
           "}}\n";
  };
  const std::string begin = "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n";
  const std::string path = files.put("a.json", begin + table(row(80, 5, 7, "0.1") + row(443, 2, 1, "1"), 1) +
                                                   table(row(443, 9, 2, "2") + row(22, 1, 1, "0"), 2) +
                                                   table(row(80, 1, 3, "0.2"), 3));
  const Profile all = read({path});
  REQUIRE(all.plain_tables.size() == 1);
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(all.plain_tables[0].rows ==
        Rows{{"443", "11", "2", "3"}, {"80", "6", "3", "0.3"}, {"22", "1", "1", "0"}});
  CHECK(has(said({"print", path}), "  the sum of 3 windows, states as at the end of the last one\n"));
  CHECK(read({path}, {2, "", ""}).plain_tables[0].rows ==
        Rows{{"443", "9", "2", "2"}, {"22", "1", "1", "0"}});
  // Two rows of one port: nothing says which is which.
  const std::string twice = files.put(
      "b.json", begin + table(row(80, 5, 7, "0") + row(80, 2, 1, "0"), 1) + table(row(80, 1, 3, "0"), 2));
  CHECK(read({twice}).plain_tables[0].rows == Rows{{"80", "1", "3", "0"}});
  const std::string most =
      files.put("c.json", begin + table(row(80, UINT64_MAX, 1, "0"), 1) + table(row(80, 2, 1, "0"), 2));
  CHECK(read({most}).plain_tables[0].rows[0][1] == "18446744073709551615");
}

TEST_CASE("events without stacks come in several tables, and are one") {
  Files files;
  const auto table = [](unsigned first) {
    std::string text =
        "{\"record\":\"table\",\"name\":\"acme.pauses/1\",\"title\":\"PAUSES\",\"flags\":[\"events\"],"
        "\"columns\":[{\"name\":\"number\",\"type\":\"int\",\"flags\":[]}]}\n";
    for (unsigned i = 0; i < 2; ++i)
      text += "{\"record\":\"row\",\"table\":\"acme.pauses/1\",\"cells\":{\"number\":" +
              std::to_string(first + i) + "}}\n";
    return text;
  };
  const Profile all = read(
      {files.put("a.json", "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n" + table(1) + table(3))});
  REQUIRE(all.plain_tables.size() == 1);
  CHECK(all.plain_tables[0].rows == std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"3"}, {"4"}});
}

TEST_CASE("windows: files and folders are one input, in the order of their numbers") {
  Files files;
  const std::string folder = files.folder + "/app";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  Arguments named;
  for (const unsigned number : {1u, 2u, 10u}) {
    // In each file the traces have other numbers.
    std::string text = kHead + samples(number, 1) + window(number, 10 + number) + sites(number, 100) +
                       window(number, 10 + number);
    if (number == 2) {
      for (size_t at = 0; (at = text.find("30000", at)) != std::string::npos; at += 6) text[at + 5] ^= 3;
    }
    named.push_back(files.put("app/app-" + std::to_string(number) + ".txt", text));
  }
  CHECK(files_of({folder}) == named);
  CHECK(files_of({folder + "/", "b"}).size() == 4);
  for (const Arguments& words : {named, Arguments{folder}, Arguments{named[0], named[2], named[1]}}) {
    const Profile all = read(words);
    CHECK(all.traces.size() == 2);
    CHECK(values(all, "cpu_samples")["inner"][0] + values(all, "cpu_samples")["outer"][0] == 16);
    CHECK(all.about[1].second.rfind("3 of windows 1 to 10, ", 0) == 0);
    // Of the last window, whose file is the last in the folder.
    CHECK(values(all, "alloc_sites")["inner"] == std::vector<uint64_t>{10, 1, 300, 6});
  }
  files.put("app/empty.txt", "");
  files.put("app/notes.md", "no profile\n");
  CHECK(has(complained({"print", folder}), "hprof: left out: " + folder + "/notes.md: line 1: "));
  CHECK(has(said({"print", folder}), folder + ": "));
  CHECK(has(complained({"print", named[0], folder + "/notes.md"}), "notes.md: line 1: "));
}

TEST_CASE("windows: folded stacks of several files add up; reports since the start do not") {
  Files files;
  const std::string one = files.put("1.folded", "a.A.x;b.B.y 5\n"),
                    other = files.put("2.folded", "a.A.x;b.B.y 7\nc.C.z 1\n");
  CHECK(values(read({one, other}), "folded") == Values{{"y", {12}}, {"z", {1}}});
  CHECK(values(read({one, other}, {2, "", ""}), "folded")["y"] == std::vector<uint64_t>{7});
  CHECK(has(refused({one, other}, {0, "12:00", ""}), "does not say when"));
  const std::string first = files.put("1.txt", kHead + samples(3, 1)),
                    second = files.put("2.txt", kHead + samples(8, 2));
  CHECK(values(read({first, second}), "cpu_samples") == Values{{"inner", {8}}, {"outer", {2}}});
  CHECK(has(said({"print", first, second}), "the last of 2 tables"));
}

TEST_CASE("files of several processes add up, what lives and windows too") {
  Files files;
  const auto process = [](unsigned number) {
    return "HPROF NOTE: program demo.A, process " + std::to_string(number) +
           " on host, OpenJDK VM 17, 2 processors; options cpu=samples depth=8\n";
  };
  const Arguments three = {files.put("1.txt", kHead + samples(3, 1) + sites(10, 20) + process(7)),
                           files.put("2.txt", kHead + samples(5, 2) + samples(8, 2) + process(8)),
                           files.put("3.txt", kHead + sites(30, 40, "300002") + sites(5, 60) + process(9))};
  CHECK(values(read(three), "cpu_samples") == Values{{"inner", {11}}, {"outer", {3}}});
  CHECK(values(read(three), "alloc_sites") == Values{{"inner", {15, 2, 80, 4}}});
  const std::string text = said({"print", three[0], three[1], three[2]});
  CHECK(
      has(text, ": 3 processes, also program demo.A, process 8 on host; program demo.A, process 9 on host"));
  CHECK(has(text, "CPU SAMPLES, samples 14 in the rows; sampled; the sum of 2 processes\n"));
  const std::string change = squeezed(said({"diff", three[0], "--", three[0], three[1]}));
  CHECK(has(change, " +10 9 4 100.00% 14 100.00% +10 4 14 all"));
  // Later reports of one process have what its earlier ones have.
  const std::string later = files.put("4.txt", kHead + samples(9, 9) + process(7));
  CHECK(values(read({three[0], later, three[1]}), "cpu_samples") == Values{{"inner", {17}}, {"outer", {11}}});
  // A process without windows then is left out.
  const std::string windows = files.put("5.txt", report() + process(10)),
                    others = files.put("6.txt", kHead + samples(100, 1) + window(1, 20) + process(11));
  CHECK(values(read({windows, others}), "cpu_samples") == Values{{"inner", {160}}, {"outer", {7}}});
  CHECK(values(read({windows, others}, {3, "", ""}), "cpu_samples") ==
        Values{{"inner", {30}}, {"outer", {3}}});
  CHECK(values(read({windows, others}), "alloc_sites")["outer"] == std::vector<uint64_t>{200, 1, 4000, 2});
}

TEST_CASE("windows: pprof says it in a comment, else by its times") {
  Files files;
  const auto inner = [&](const Arguments& words) { return values(read(words), "cpu_samples")["inner"][0]; };
  const std::string note = "window 3: 20261128170610 to 20261128170620, 10 s";
  const std::string first = files.put("1.pb", pprof(100, 10, 5, note)),
                    second = files.put("2.pb", pprof(110, 10, 7));
  CHECK(inner({first}) == 5);
  CHECK(inner({first, second}) == 12);
  CHECK(read({first}).about.back().second.rfind("window 3, 1970-01-0", 0) == 0);
  // All since one start: the longest has the others.
  const std::string longer = files.put("3.pb", pprof(110, 20, 9));
  CHECK(inner({second, longer}) == 9);
  CHECK(inner({longer, second}) == 9);
  const std::string whole = files.put("5.pb", pprof(100, 20, 12, "since the start: 20261128170610 to ..."));
  CHECK(inner({first, second, whole}) == 12);
  CHECK(inner({whole}) == 12);
  // A report without a table of stacks.
  CHECK(inner({first, files.put("4.pb", field(6, "") + field(9, 7000000000))}) == 5);
}

TEST_CASE("windows: a binary file says it in a string") {
  HprofBuilder b(8, "JAVA PROFILE 1.0.1");
  b.string(1, "demo/A").string(2, "inner").string(3, "()V").string(4, "A.java");
  b.begin(0x02).u4(1).id(0x100).u4(1).id(1).end();
  b.begin(0x04).id(0x30).id(2).id(3).id(4).u4(1).u4(12).end();
  b.begin(0x05).u4(1).u4(1).u4(1).id(0x30).end();
  uint64_t id = 50;
  for (const unsigned count : {5u, 9u, 7u}) {
    b.begin(0x0d).u4(count).u4(1).u4(count).u4(1).end();
    if (count != 9)
      b.string(id, "window " + std::to_string(++id) + "000 to " + std::to_string(id) + "900 ms since 1970");
  }
  Files files;
  const std::string path = files.put("a.hprof", b.bytes());
  CHECK(values(read({path}), "cpu_samples")["inner"] == std::vector<uint64_t>{12});
  CHECK(values(read({path}, {1, "", ""}), "cpu_samples")["inner"] == std::vector<uint64_t>{5});
  CHECK(has(said({"print", path}), "in the window of 1970-01-0"));
}

TEST_CASE("windows: print, convert, diff and view take the same ones") {
  Files files;
  const std::string path = files.put("a.txt", report());
  const std::string text = said({"print", path});
  CHECK(has(text, "CPU SAMPLES, samples 66 in the rows; sampled; the sum of 3 windows\n"));
  CHECK(has(text,
            "SITES, allocated bytes 7000 in the rows; exact: allocated bytes, allocated objects; the sum of "
            "3 windows\n"));
  CHECK(
      has(said({"print", path, "--window=2"}), "CPU SAMPLES, samples 22 in the rows; sampled; one window\n"));
  const auto converted = [&](Arguments options, const std::string& name) {
    options.insert(options.begin(), {"convert", path, "-o", files.folder + name});
    said(options);
    std::stringstream bytes;
    bytes << std::ifstream(files.folder + name).rdbuf();
    return bytes.str();
  };
  CHECK(has(converted({}, "/all.collapsed"), "demo/A.inner 60\n"));
  CHECK(has(converted({"--to=17:06:20"}, "/first.collapsed"), "demo/A.inner 10\n"));
  CHECK(has(converted({"--to=json", "--from=17:06:30"}, "/last"),
            "the sum of window 3, 2026-11-28 17:06:30 to 17:06:40"));
  const std::string change = squeezed(said({"diff", path, path, "--window=1", "--window=3"}));
  CHECK(has(change, "(window 1, 2026-11-28 17:06:10 to 17:06:20) and "));
  CHECK(has(change, " +20 14 10 90.91% 30 90.91% +20 10 30 demo.A.inner"));
  const std::string other = files.put("b.txt", kHead + samples(1, 1) + window(4, 40));
  CHECK(has(squeezed(said({"diff", path, "--", path, other, "--top=1"})), " ~+1 8 6 9.09% 7 10.29% "));
  said({"diff", path, path, other}, kFailed);
  said({"diff", path, path, "--window=9"}, kFoundProblems);
  said({"view", path, "--window=2", "-o", files.folder + "/v.html"});
  Profile page;
  PageTimes times;
  std::string error;
  REQUIRE(read_page(files.folder + "/v.html", &page, &times, &error));
  CHECK(has(page.page_lines, "\nd\t20\t"));
  CHECK(has(page.page_lines, "i\twindows\twindow 2, "));
  CHECK(has(complained({"print", path, "--from=noon"}), "--from=noon is no time of day"));
}

TEST_CASE("view: a time outside of the page's events is refused") {
  Files files;
  // Events from 23:13:20.5 to 23:13:29 of a page that began at 23:13:20.
  std::string lines =
      "i\tcreated_ms\t1700000000000\ni\tutc_offset\t3600\nT\tx/"
      "1\tX\t4\nC\tsamples\t1\t1\ts\nC\tat\t8\t0\tat\n";
  lines += "d\t1\t500000\nd\t1\t9000000\nE\t\n";
  const std::string page = files.put(
      "a.html", "<!doctype html>\n<script type=\"text/plain\" id=\"data\">v\t1\n" + lines + "</script>\n");
  const auto view = [&](const Arguments& times, int status) {
    Arguments line = {"view", page, "-o", files.folder + "/b.html"};
    line.insert(line.end(), times.begin(), times.end());
    said(line, status);
  };
  view({"--from=23:13:20"}, kDone);
  view({"--from=23:13:29"}, kDone);
  view({"--to=23:13:29"}, kDone);
  view({"--from=23:00", "--to=23:13:21"}, kDone);
  for (const Arguments& times :
       {Arguments{"--from=23:13:30"}, Arguments{"--from=23:13"}, Arguments{"--from=11:00"},
        Arguments{"--to=23:13:20"}, Arguments{"--to=23:14"}, Arguments{"--to=23:30", "--from=23:20"},
        Arguments{"--from=23:13:25", "--to=23:13:22"}})
    view(times, kFoundProblems);
  CHECK(has(complained({"view", page, "--from=00:30"}),
            "the events are from 23:13:20 to 23:13:29, not from 00:30"));
  CHECK(has(complained({"view", page, "--window=1"}), "is a page"));
  CHECK(has(complained({"view", page, page}), "only hprof view reads"));
}

TEST_CASE("windows of JSON have the numbers that their notes say, and their tables") {
  Files files;
  const std::string text =
      "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n"
      "{\"record\":\"frame\",\"id\":1,\"class\":\"demo.A\",\"method\":\"inner\",\"source\":null,\"line\":1}\n"
      "{\"record\":\"trace\",\"id\":2,\"thread\":null,\"frames\":[1],\"cut\":false}\n"
      "{\"record\":\"thread_start\",\"id\":9,\"name\":\"main\"}\n"
      "{\"record\":\"report_begin\",\"reason\":\"window\",\"begin_wall_ns\":1,\"end_wall_ns\":9000000}\n"
      "{\"record\":\"table\",\"name\":\"hprof.cpu_samples/"
      "1\",\"title\":\"CPU\",\"order\":\"count\",\"flags\":[],"
      "\"columns\":[{\"name\":\"count\",\"type\":\"count\",\"flags\":[\"weight\"]},{\"name\":\"trace\","
      "\"type\":"
      "\"trace\",\"flags\":[]}],\"totals\":{\"count\":3}}\n"
      "{\"record\":\"row\",\"table\":\"hprof.cpu_samples/1\",\"cells\":{\"count\":3,\"trace\":2}}\n"
      "{\"record\":\"note\",\"text\":\"window 7: 20261128170610 to 20261128170620, 10.000 s; tables have "
      "what is new in "
      "it\"}\n"
      "{\"record\":\"report_end\",\"whole\":true}\n{\"record\":\"thread_end\",\"id\":9}\n";
  const Profile seventh = read({files.put("app.7.json", text)}, {7, "", ""});
  CHECK(values(seventh, "cpu_samples")["inner"][0] == 3);
  REQUIRE(seventh.all_threads.size() == 1);
  CHECK(seventh.all_threads[0].ended);
}
