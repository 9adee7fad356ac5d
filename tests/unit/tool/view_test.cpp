// Reading profiles of every kind for `hprof view`, and the page made of them.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/support/hprof_builder.h"
#include "tools/hprof/view/page.h"

using namespace hprof::tool;

namespace {
constexpr char kReport[] =
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n"
    "\n"
    "TRACE 300001:\n"
    "\tdemo.A.inner(A.java:12)\n"
    "\tdemo.A$B.<init>(A.java:Unknown line)\n"
    "TRACE 300002:\n"
    "\t<empty>\n"
    "CPU SAMPLES BEGIN (total = 32) Thu Jan  1 00:00:00 1970\n"
    "rank   self  accum   count trace method\n"
    "   1 62.50% 62.50%      20 300001 demo.A.inner\n"
    "   2 37.50% 100.00%      12 300002 <empty trace>\n"
    "CPU SAMPLES END\n"
    "HPROF NOTE: 2 <lost>\n"
    "CPU TIME (ms) BEGIN (total = 2000) Thu Jan  1 00:00:00 1970\n"
    "rank   self  accum   count trace method\n"
    "   1 75.00% 75.00%   21891 300001 demo.A.inner\n"
    "CPU TIME (ms) END\n"
    "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"
    "          percent          live          alloc'ed  stack class\n"
    " rank   self  accum     bytes objs     bytes  objs trace name\n"
    "    1 97.88% 97.88%     48000 1000     96000  2000 300001 demo.A\n"
    "SITES END\n"
    "MONITOR TIME BEGIN (total = 400 ms) Thu Jan  1 00:00:00 1970\n"
    "rank   self  accum   count trace monitor\n"
    "   1 75.00% 75.00%      15 300001 java.lang.Object (Java)\n"
    "MONITOR TIME END\n";

bool read_text(const std::string& text, Profile* profile, std::string* error) {
  MemorySource source(text.data(), text.size());
  Input in(source);
  return read_text_profile(in, profile, error);
}

bool read_folded(const std::string& text, Profile* profile, std::string* error) {
  MemorySource source(text.data(), text.size());
  Input in(source);
  return read_folded_profile(in, profile, error);
}

bool read_pprof(const std::string& bytes, Profile* profile, std::string* error) {
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 16);
  return read_pprof_profile(in, profile, error);
}

// A field of a protocol buffer; numbers and lengths are below 128.
std::string field(unsigned number, unsigned value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}
std::string field(unsigned number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

// Two stacks as Go writes them: samples first, strings last.
std::string pprof_file() {
  const auto line = [](unsigned function, unsigned number) {
    return field(4, field(1, function) + field(2, number));
  };
  std::string file = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4));
  file += field(
      2, field(1, std::string("\1\2")) + field(2, std::string("\5\6")) + field(3, field(1, 8) + field(2, 9)));
  file += field(2, field(1, 2) + field(2, 7) + field(2, 0));
  file += field(4, field(1, 1) + line(1, 12) + line(2, 30)) + field(4, field(1, 2) + line(2, 31));
  file += field(5, field(1, 1) + field(2, 5) + field(4, 6)) + field(5, field(1, 2) + field(2, 7));
  for (const char* text : {"", "samples", "count", "cpu", "microseconds", "demo.A.inner", "A.java",
                           "demo.B.run", "thread", "main"})
    file += field(6, std::string(text));
  return file + field(9, 100) + field(13, 6);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("view: a text report has its stacks and all its tables") {
  Profile profile;
  std::string error;
  REQUIRE(read_text(kReport, &profile, &error));
  REQUIRE(profile.traces.size() == 2);
  REQUIRE(profile.traces[300001].size() == 2);
  const ProfileFrame& inner = profile.traces[300001][0];
  CHECK(inner.class_name == "demo.A");
  CHECK(inner.method == "inner");
  CHECK(inner.source == "A.java");
  CHECK(inner.line == 12);
  CHECK(profile.traces[300001][1].class_name == "demo.A$B");
  CHECK(profile.traces[300001][1].method == "<init>");
  CHECK(profile.traces[300001][1].line == 0);
  CHECK(profile.traces[300002].empty());
  REQUIRE(profile.tables.size() == 4);
  CHECK(profile.tables[0].rows.size() == 2);
  CHECK(profile.tables[0].rows[0].values == std::vector<uint64_t>{20});
  CHECK(profile.tables[0].rows[1].trace == 300002);
  CHECK(profile.tables[1].rows[0].values == std::vector<uint64_t>{1500000000, 21891});
  CHECK(profile.tables[2].rows[0].values == std::vector<uint64_t>{48000, 1000, 96000, 2000});
  CHECK(profile.tables[3].rows[0].values == std::vector<uint64_t>{300000000, 15});
  CHECK(profile.notes == std::vector<std::string>{"2 <lost>"});
}

TEST_CASE("view: of many tables without stacks the last one of each title is kept") {
  constexpr int kTitles = 50000;
  const auto title = [](int i) {
    std::string text;
    for (; i > 0; i /= 26) text.push_back(static_cast<char>('A' + i % 26));
    return "T" + text;
  };
  std::string report = "JAVA PROFILE 1.0.1\n--------\n";
  for (const char* row : {"first", "last"}) {
    for (int i = 0; i < kTitles; ++i)
      report += title(i) + " BEGIN\nrank name\n" + row + "\n" + title(i) + " END\n";
  }
  Profile profile;
  std::string error;
  REQUIRE(read_text(report, &profile, &error));
  REQUIRE(profile.plain_tables.size() == kTitles);
  CHECK(profile.plain_tables[0].title == "T");
  CHECK(profile.plain_tables[kTitles - 1].title == title(kTitles - 1));
  for (const PlainTable& table : profile.plain_tables) {
    if (table.rows != std::vector<std::vector<std::string>>{{"last"}}) FAIL(table.title);
  }
}

TEST_CASE("view: what is wrong in a text report is named with its line") {
  Profile profile;
  std::string error;
  CHECK_FALSE(read_text("JAVA PROFILE 1.0.1\n--------\nTRACE x:\n", &profile, &error));
  CHECK(error == "line 3: expected TRACE <number>:");
  const std::string report = kReport;
  CHECK_FALSE(read_text(report.substr(0, report.find("CPU SAMPLES END")), &profile, &error));
  CHECK(has(error, "the file ends within a table"));
  CHECK_FALSE(read_text("CPU SAMPLES BEGIN (total = 32) x\n   1 oops\nCPU SAMPLES END\n", &profile, &error));
  CHECK(has(error, "line 2: expected rank"));
}

TEST_CASE("view: a binary file has its samples and sites") {
  for (unsigned id_size : {4u, 8u}) {
    CAPTURE(id_size);
    hprof::test::HprofBuilder file(id_size, "JAVA PROFILE 1.0.1");
    file.string(1, "demo/A").string(2, "inner").string(3, "()V").string(4, "A.java");
    file.load_class(1, 100, 0, 1).frame(7, 2, 3, 4, 1, 12).trace(300001, 200001, {7});
    file.begin(0x0d).u4(20).u4(1).u4(20).u4(300001).end();
    file.begin(0x06).u2(0).u4(0).u4(10).u4(1).u8(96000).u8(2000).u4(1);
    file.u1(0).u4(1).u4(300001).u4(48000).u4(1000).u4(96000).u4(2000).end();
    const std::string bytes = file.bytes();
    MemorySource source(bytes.data(), bytes.size());
    Input in(source);
    Profile profile;
    std::string error;
    REQUIRE_MESSAGE(read_binary_profile(in, &profile, &error), error);
    REQUIRE(profile.traces[300001].size() == 1);
    CHECK(profile.traces[300001][0].class_name == "demo.A");
    CHECK(profile.traces[300001][0].method == "inner");
    CHECK(profile.traces[300001][0].line == 12);
    REQUIRE(profile.tables.size() == 2);
    CHECK(profile.tables[0].rows[0].values == std::vector<uint64_t>{20});
    CHECK(profile.tables[1].rows[0].values == std::vector<uint64_t>{48000, 1000, 96000, 2000});
    // Every cut is an error or a shorter profile, never a wrong one.
    for (size_t size = 0; size < bytes.size(); ++size) {
      MemorySource part(bytes.data(), size);
      Input shorter(part);
      Profile cut;
      if (read_binary_profile(shorter, &cut, &error)) CHECK(cut.tables.size() < 2);
    }
  }
}

TEST_CASE("view: folded stacks are read outermost first") {
  Profile profile;
  std::string error;
  REQUIRE(read_folded("java/lang/Thread.run;demo.A.b 3\n\nmain 18446744073709551615\n", &profile, &error));
  REQUIRE(profile.tables.size() == 1);
  REQUIRE(profile.tables[0].rows.size() == 2);
  const std::vector<ProfileFrame>& frames = profile.traces[profile.tables[0].rows[0].trace];
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].class_name == "demo.A");
  CHECK(frames[0].method == "b");
  CHECK(frames[1].class_name == "java.lang.Thread");
  CHECK(profile.tables[0].rows[1].values == std::vector<uint64_t>{UINT64_MAX});
  for (const char* wrong : {"a;b\n", " 3\n", "a;b x\n", "a 3x\n", "a -3\n"}) {
    CAPTURE(wrong);
    CHECK_FALSE(read_folded(wrong, &profile, &error));
    CHECK(has(error, "line 1: "));
  }
}

TEST_CASE("view: marks of stacks without all of their frames are no frames") {
  Profile profile;
  std::string error;
  REQUIRE(read_folded("[cut];a.A.b 3\n[unknown] 4\n", &profile, &error));
  CHECK(profile.traces[1].size() == 1);
  CHECK(profile.cut == std::set<uint64_t>{1});
  CHECK(profile.traces[2].empty());
}

TEST_CASE("view: pprof has its stacks, types, threads and comments") {
  Profile profile;
  std::string error;
  REQUIRE_MESSAGE(read_pprof(pprof_file(), &profile, &error), error);
  REQUIRE(profile.tables.size() == 1);
  const ProfileTable& table = profile.tables[0];
  CHECK(table.name == "cpu_samples");
  REQUIRE(table.weights.size() == 2);
  CHECK(table.weights[0].name == "samples");
  CHECK(table.weights[1].name == "time");
  CHECK(table.weights[1].unit == ProfileWeight::kNanoseconds);
  CHECK(table.weights[1].preferred);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].values == std::vector<uint64_t>{5, 6000});
  CHECK(table.rows[1].values == std::vector<uint64_t>{7, 0});
  const std::vector<ProfileFrame>& frames = profile.traces[table.rows[0].trace];
  REQUIRE(frames.size() == 3);  // one of them is inlined
  CHECK(frames[0].class_name == "demo.A");
  CHECK(frames[0].method == "inner");
  CHECK(frames[0].source == "A.java");
  CHECK(frames[0].line == 12);
  CHECK(frames[2].line == 31);
  CHECK(profile.threads[table.rows[0].trace] == "main");
  CHECK(profile.notes == std::vector<std::string>{"A.java"});
}

TEST_CASE("view: what is wrong in pprof is named with its byte") {
  const std::string good = pprof_file();
  std::string error;
  for (size_t size = 0; size < good.size(); ++size) {
    Profile profile;
    CAPTURE(size);
    // Where only whole fields are missing, it may be a shorter profile.
    if (!read_pprof(good.substr(0, size), &profile, &error)) CHECK(has(error, "byte "));
  }
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    Profile profile;
    CHECK_FALSE(read_pprof(bytes, &profile, &error));
    CHECK_MESSAGE(has(error, why), error);
  };
  refused(std::string("\x03z", 2), "byte 0: expected a field of pprof's profile.proto");
  refused(field(6, std::string()), "no sample type");
  refused(good + field(2, field(1, 3) + field(2, std::string("\1\1"))),
          "byte " + std::to_string(good.size()) + ": the sample refers to location 3");
  refused(good + field(2, field(1, 1) + field(2, 1)), "expected 2 values in the sample, found 1");
  refused(good + field(4, field(1, 1)), "expected a location with a number of its own, found 1");
  refused(good + field(2, field(2, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01")), "a negative value");
}

TEST_CASE("view: nothing of a profile can leave its place in the page") {
  Profile profile;
  profile.file = "a<b>&.txt";
  profile.traces[300001] = {{"demo.A", "</script><b>\t\n\\", "", 3}};
  profile.tables.push_back(samples_table());
  profile.tables[0].rows.push_back({300001, {7}});
  profile.notes.emplace_back("</script>");
  std::ostringstream out;
  write_page({profile}, out);
  const std::string page = out.str();
  const size_t data = page.find("id=\"data\">"), end = page.find("</script>", data);
  REQUIRE(data != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string lines = page.substr(data, end - data);
  CHECK(has(lines, "\\u003c/script>\\u003cb>\\t\\n\\\\\n"));
  CHECK(has(lines, "\nn\t\\u003c/script>\n"));
  CHECK(has(lines, "\nd\t7\t6fhd\n"));  // 300001 in base 36
  CHECK(has(lines, "\nt\t6fhd\t0\t0\t1\n"));
  CHECK(has(page, "i\ttitle\ta\\u003cb>&.txt\n"));
  CHECK_FALSE(has(page, "http"));  // it asks for nothing elsewhere
}

TEST_CASE("view: two profiles stand in one page, the earlier one first") {
  Profile before, after;
  before.file = "before.txt";
  after.file = "after.txt";
  before.tables.push_back(samples_table());
  after.tables.push_back(samples_table());
  std::ostringstream out;
  write_page({before, after}, out);
  const std::string page = out.str();
  CHECK(has(page, "\nx\tbefore.txt\n"));
  CHECK(page.find("\nx\tbefore.txt\n") < page.find("\nx\tafter.txt\n"));
}
