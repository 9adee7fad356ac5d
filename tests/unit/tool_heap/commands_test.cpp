// Whole commands on small dumps.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/heap_report.h"
#include "tools/heap/html_page.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr uint64_t A = 0x1000, B = 0x1001, C = 0x1002;

std::string small(uint32_t bytes) {
  return SmallHeap().holder(A).root(SmallHeap::kHolder).array(A, {B, C}).bytes(B, bytes).bytes(C, 0).file();
}

struct Result {
  Document document;
  std::string error, text, json;
};

Result run(Document (*command)(HeapRun&), std::vector<std::string> words, const std::string& text = "") {
  HeapSettings settings;
  settings.text = text;
  auto open = [](const std::string& file) { return std::make_unique<MemoryDump>(file); };
  HeapRun each{settings, std::move(words), open, ""};
  Result result;
  result.document = command(each);
  result.error = each.error;
  std::ostringstream out, json;
  write_text(result.document, out);
  write_json(result.document, json);
  result.text = out.str();
  result.json = json.str();
  return result;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Strings as up to Java 6: parts of an array of chars that several may share.
class SharedStrings {
 public:
  SharedStrings() {
    heap_.builder().end().string(0x300, "java/lang/String").load_class(90, 0x90, 0, 0x300);
    heap_.builder().string(0x301, "value").string(0x302, "offset").string(0x303, "count").begin(0x1c);
    heap_.builder().class_dump(0x90, SmallHeap::kObject, 16, {{0x301, 2}, {0x302, 10}, {0x303, 10}});
  }
  SharedStrings& chars(uint64_t id, const std::string& text) {
    heap_.builder().u1(0x23).id(id).u4(0).u4(text.size()).u1(5);
    for (char c : text) heap_.builder().u2(static_cast<uint8_t>(c));
    return *this;
  }
  SharedStrings& string(uint64_t id, uint64_t array, uint32_t offset, uint32_t count) {
    heap_.root(id).builder().instance(id, 0x90, 16).id(array).u4(offset).u4(count);
    return *this;
  }
  std::string file() { return heap_.file(); }

 private:
  SmallHeap heap_;
};

}  // namespace

TEST_CASE("summary: the class that holds all comes first; arrays of zeros") {
  Result result = run(run_summary, {small(1000)});
  CHECK(has(result.text, "class Holder"));
  CHECK(has(result.text, "Arrays of zeros"));
  CHECK(has(result.json, "\"zero_arrays\":[\n{\"arrays\":1,\"shallow_bytes\":1016,\"class\":\"byte[]\"}]"));
}

TEST_CASE("leaks: the static field is on the path") {
  Result result = run(run_leaks, {small(100000)});
  CHECK(has(result.text, "1. class Holder retains"));
  CHECK(has(result.text, "static field"));
}

TEST_CASE("path, retained, dominators, objects and show agree on one object") {
  std::string file = small(1000);
  CHECK(has(run(run_path, {file, "0x1001"}).text, "[0]"));
  CHECK(has(run(run_retained, {file, "0x1000"}).text, "3 objects of 1.0 KiB would be free"));
  CHECK(has(run(run_dominators, {file, "0x1000"}).text, "byte[] @ 0x1001"));
  CHECK(
      has(run(run_objects, {file, "byte[]"}).json, "\"retained_bytes\":1016,\"object\":\"byte[] @ 0x1001\""));
  Result shown = run(run_show, {file, "0x1001"});
  CHECK(has(shown.text, "1,016 bytes"));
  CHECK(has(shown.text, "java.lang.Object[] @ 0x1000"));
}

TEST_CASE("retained by class is that of all its objects together") {
  // Neither of two owners alone retains what they share.
  std::string file = SmallHeap().root(A).root(B).array(A, {C}).array(B, {C}).bytes(C, 100).file();
  CHECK(has(run(run_retained, {file, "java.lang.Object[]"}).text, "3 objects of 168 B would be free"));
}

TEST_CASE("strings that share an array have their part of it for a text") {
  // Before and after the array, and as far in it that its beginning alone does not have the text.
  const std::string long_text = std::string(3000, '.') + "needle" + std::string(3000, '.');
  const std::string file = SharedStrings()
                               .string(A, 0x2000, 0, 3)
                               .string(A + 1, 0x2000, 3, 5)
                               .chars(0x2000, "onetwo needle")
                               .string(A + 2, 0x2000, 7, 6)
                               .string(A + 3, 0x2000, 8, 5)
                               .string(A + 4, 0x2100, 2990, 20)
                               .string(A + 5, 0x2100, 2990, 15)
                               .string(A + 6, 0x2100, 3001, 20)
                               .chars(0x2100, long_text)
                               .file();
  const Result found = run(run_find, {file}, "needle");
  CHECK(has(found.text, "2 strings"));
  CHECK(has(found.text, "@ 0x1002  \"needle\""));
  CHECK(has(found.text, "@ 0x1004  \"..........needle....\""));
  CHECK(has(run(run_find, {file}, "one").text, "@ 0x1000  \"one\""));
  CHECK(has(run(run_find, {file}, "two n").text, "@ 0x1001  \"two n\""));
  CHECK(has(run(run_find, {file}, "onet").text, "0 strings"));
}

TEST_CASE("summary: an array is the text of a string that has all of it") {
  const std::string file = SharedStrings()
                               .string(A, 0x2000, 0, 4)
                               .string(A + 1, 0x2100, 0, 4)
                               .string(A + 2, 0x2200, 0, 2)
                               .string(A + 3, 0x2300, 2, 2)
                               .chars(0x2000, "text")
                               .chars(0x2100, "text")
                               .chars(0x2200, "text")
                               .chars(0x2300, "text")
                               .file();
  const Result summary = run(run_summary, {file});
  CHECK(has(summary.text, "2 texts of strings, 1 different ones"));
  CHECK(has(summary.text, "Strings that are a part of a longer array are left out."));
  CHECK(has(summary.json, "\"copies\":2"));
}

TEST_CASE("diff: what grew") {
  Result result = run(run_diff, {small(0), small(4096)});
  CHECK(has(result.json, "\"shallow_change\":4096,\"retained_change\":4096"));
}

TEST_CASE("unknown names and files that are no dumps are said") {
  CHECK(run(run_path, {small(0), "Nobody"}).error == "no class Nobody");
  CHECK(run(run_show, {small(0), "0x77"}).error == "no object 0x77");
  CHECK(has(run(run_summary, {"JAVA PROFILE 1.0.2"}).error, "not a binary hprof file"));
  const std::string android = HprofBuilder(4, "JAVA PROFILE 1.0.3").bytes();
  CHECK(has(run(run_summary, {android}).error, "convert it with hprof-conv of the Android SDK"));
}

TEST_CASE("the page is whole, asks for nothing and lets no name become markup") {
  Result result = run(run_report, {small(1000)});
  std::ostringstream out;
  write_html(result.document, "<script>", out);
  std::string page = out.str();
  CHECK(has(page, "&lt;script&gt;"));
  for (const char* never : {"<script", "src=", "http:", "https:", "url(", "@import"})
    CHECK_FALSE(has(page, never));
  auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("<details>") >= 2);  // the class, its array
  CHECK(count("<details>") == count("</details>"));
  CHECK(count("<table>") == count("</table>"));
  CHECK(has(page, "byte[] @ 0x1001"));
}

TEST_CASE("numbers for people") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(uint64_t{5} << 30) == "5.0 GiB");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(json_string("a\"b\\\n\xff") == "\"a\\\"b\\\\\\u000a\\ufffd\"");
}
