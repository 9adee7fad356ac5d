// hprof print on a small dump.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/support/hprof_builder.h"
#include "tools/format/utf8.h"
#include "tools/hprof/print/profile_answer.h"
#include "tools/hprof/terminal.h"
#include "tools/hprof/view/process_time.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

std::string summary(const std::string& bytes, PrintOptions options = {}, bool sound = true) {
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 64);
  std::ostringstream out;
  std::string error;
  CHECK(print_summary(in, options, out, &error) == sound);
  CHECK(error.empty() == sound);
  return out.str();
}

std::string records(const std::string& bytes, bool sound = true) {
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 64);
  std::ostringstream out;
  std::string error;
  CHECK(print_records(in, out, &error) == sound);
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string tables() {
  DumpRecipe recipe;
  recipe.last = [](HprofBuilder& b) {
    b.begin(0x0d).u4(4).u4(2).u4(3).u4(1).u4(1).u4(99).end();
    b.begin(0x06).u2(0).u4(0).u4(100).u4(9).u8(200).u8(20).u4(1);
    b.u1(0).u4(4).u4(1).u4(60).u4(5).u4(70).u4(6).end();
  };
  return recipe.build();
}

}  // namespace

TEST_CASE("the summary has the dump, samples and sites") {
  std::string text = summary(tables());
  INFO(text);
  CHECK(has(text, "JAVA PROFILE 1.0.2, 4-byte ids, created 2023-11-14 22:13:20 UTC"));
  CHECK(has(text, "HEAP DUMP: 5 objects, 50 bytes of fields and elements, 14 classes"));
  CHECK(has(text, "roots: 1 JAVA FRAME, 1 STICKY CLASS, 1 THREAD OBJECT"));
  CHECK(has(text, "   1 75.00% 75.00%       3     1 Node.main\n"));
  CHECK(has(text, "   2 25.00% 100.00%       1    99 <empty trace>\n"));
  CHECK(has(text, "    1 60.00% 60.00%        60    5        70     6     1 Node\n"));
  CHECK(has(text, "           2             "));
  CHECK_FALSE(has(text, "Node.java:42"));
}

TEST_CASE("the records by type have all bytes of the file but its header") {
  const std::string bytes = tables();
  std::istringstream lines(summary(bytes));
  std::string line;
  while (std::getline(lines, line) && line != "records") {
  }
  REQUIRE(std::getline(lines, line));
  uint64_t count = 0, size = 0, sum = sizeof "JAVA PROFILE 1.0.2" + 4 + 8;
  while (std::getline(lines, line) && std::istringstream(line) >> count >> size) sum += size;
  CHECK(sum == bytes.size());
}

TEST_CASE("the number of rows is bounded and stacks are printed on demand") {
  PrintOptions options;
  options.top = 1;
  options.traces = true;
  std::string text = summary(tables(), options);
  CHECK(has(text, "  ... 1 more"));
  CHECK(has(text, "          Node.main(Node.java:42)\n"));
  CHECK_FALSE(has(text, "<empty trace>"));
}

TEST_CASE("records are printed with names and values") {
  for (unsigned id_size : {4u, 8u}) {
    DumpRecipe recipe;
    recipe.id_size = id_size;
    std::string text = records(recipe.build());
    INFO(text);
    CHECK(has(text, "STRING 0x10 \"field\"\n"));
    CHECK(has(text, "LOAD CLASS 6 0x1028 java.lang.Object[] trace=0\n"));
    CHECK(has(text, "STACK FRAME 0x30 Node.main(Node.java:42) ([Ljava/lang/String;)V\n"));
    CHECK(has(text, "  INSTANCE 0x2008 Sub trace=1 bytes="));
    CHECK(has(text,
              "    long field = 1\n    object field = 0x2010\n    int field = 6\n    object field = 0x0\n"
              "    boolean field = false\n"));
    CHECK(has(text, "  ARRAY 0x2010 java.lang.Object[] trace=1 length=2\n    0x2000 0x0\n"));
    CHECK(has(text, "  ARRAY 0x2018 int[] trace=1 length=3\n    1 2 3\n"));
    CHECK(has(text, "ROOT THREAD OBJECT 0x2020"));
  }
}

TEST_CASE("a broken file is printed as far as it goes") {
  std::string bytes = DumpRecipe().build();
  bytes.resize(bytes.size() - 30);
  CHECK(has(summary(bytes, {}, false), "HEAP DUMP: "));
  CHECK(has(records(bytes, false), "STRING 0x10"));
  CHECK(records("no such file", false).empty());
  DumpRecipe circle;
  circle.node_super = DumpRecipe::kSubClass;
  circle.node_bytes_error = 500;
  CHECK(has(records(circle.build()), "INSTANCE 0x2000"));
}

// What reaches a terminal of texts of others.
namespace {

std::string written(const std::string& text, size_t piece) {
  std::stringbuf target;
  {
    PrintableBuffer clean(&target);
    std::ostream out(&clean);
    for (size_t at = 0; at < text.size(); at += piece) out << text.substr(at, piece);
  }
  return target.str();
}

}  // namespace

TEST_CASE("controls and bytes that are no UTF-8 are escaped, however the text is cut") {
  const std::string text =
      "a\tb\n\x1b]0;x\x07\r\x7f "
      "\xc2\x9b|\xc2\xa0|\xc3\xa9|\xe2\x82\xac|\xf0\x9f\x98\x80|\xed\xa0\x80|\x9b|\xff\xe2\x82";
  const std::string clean =
      "a\tb\n\\x1b]0;x\\x07\\x0d\\x7f "
      "\\xc2\\x9b|\xc2\xa0|\xc3\xa9|\xe2\x82\xac|\xf0\x9f\x98\x80|\xed\xa0\x80|\\x9b|\\xff\\xe2\\x82";
  for (size_t piece = 1; piece <= text.size(); ++piece) CHECK(written(text, piece) == clean);
}

TEST_CASE("a name is one line, and nothing is read behind its end") {
  CHECK(printable("a\nb\tc\xc2\x85") == "a\\x0ab\\x09c\\xc2\\x85");
  const std::vector<char> begun = {'\xc2'};  // AddressSanitizer knows where it ends
  CHECK(printable({begun.data(), begun.size()}) == "\\xc2");
}

namespace {

void print_never(const Profile& profile, const PrintOptions& options, std::ostream& out) {
  NeverCalled answer;
  REQUIRE(never_called(profile, options.package, &answer));
  print_never_called(answer, options, out);
}

}  // namespace

TEST_CASE("methods that were never called are listed by package and class") {
  Profile profile;
  const auto add = [&](const char* of_class, const char* method, uint64_t calls) {
    const uint64_t trace = profile.traces.size() + 1;
    profile.traces[trace] = {{of_class, method, "", 7}};
    profile.tables.back().rows.push_back({trace, {calls}});
  };
  std::ostringstream all, one, sums;
  NeverCalled never;
  CHECK_FALSE(never_called(profile, "", &never));
  profile.tables.push_back(
      {"METHOD_CALLS", "METHOD_CALLS", {{"calls", "calls", ProfileWeight::kCount, true, false}}, {}});
  add("a.A", "run", 5);
  add("a.A", "stop", 0);
  add("b.B", "run", 0);
  add("b.B", "run", 0);  // of another thread
  add("b.B", "stop", 0);
  add("C", "run", 1);
  REQUIRE(never_called(profile, "", &never));
  print_never_called(never, {}, all);
  CHECK(all.str() ==
        "loaded, but never called while calls were counted: 3 of 5 methods, in 2 of 3 classes\n\n"
        "packages\n       2 of 2  b\n       1 of 2  a\n\n"
        "b: 2 of 2 methods\n  b.B: 2 of 2 methods\n    run:7\n    stop:7\n\n"
        "a: 1 of 2 methods\n  a.A: 1 of 2 methods\n    stop:7\n");
  PrintOptions options;
  options.top = 1;
  print_never_called(never, options, one);
  CHECK(has(one.str(), "b.B: 2 of 2"));
  CHECK(has(one.str(), "... 1 more class"));
  CHECK_FALSE(has(one.str(), "a.A"));
  for (const char* package : {"b", "b.*", "b.B"}) {
    std::ostringstream chosen;
    options.package = package;
    print_never(profile, options, chosen);
    CHECK(chosen.str().find("2 of 2 methods, in 1 of 1 class\n\nb: 2") != std::string::npos);
  }
  std::ostringstream unknown;
  options.package = "c.C";
  print_never(profile, options, unknown);
  CHECK(unknown.str() == "no loaded class is c.C or in it\n");
  add("java.util.A", "a", 0);
  add("java.util.A", "b", 0);
  add("java.util.A", "c", 0);
  profile.created_ms = 1000;
  profile.notes = {"calls: not counted: native (3 methods)"};
  profile.about = {{kSession, "program Shop, process 1, VM 17, 2 processors, attached; options calls=y"}};
  std::ostringstream attached, whole, late;
  print_never(profile, {}, attached);
  CHECK(has(attached.str(), "never called since the agent was attached, "));
  CHECK(has(attached.str(), "1970"));
  CHECK(has(attached.str(), "       1 of 2  a\n       3 of 3  java.util\n"));
  CHECK(has(attached.str(), "\nnote: calls: not counted: native"));
  profile.about[0].second = "program Shop, process 1, VM 17, 2 processors; options calls=y";
  print_never(profile, {}, whole);
  CHECK(has(whole.str(), "never called since the program's start: "));
  profile.about[0].second += " start=n";
  print_never(profile, {}, late);
  CHECK(has(late.str(), "never called since counting began: "));
  print_profile(profile, {}, sums);
  CHECK(has(sums.str(), "a.A.run"));
  CHECK_FALSE(has(sums.str(), "stop"));
}
