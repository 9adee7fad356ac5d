// Whole commands on small dumps.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/hprof/heap/heap_report.h"
#include "tools/hprof/heap/html_page.h"

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

TEST_CASE("diff: what grew") {
  Result result = run(run_diff, {small(0), small(4096)});
  CHECK(has(result.json, "\"shallow_change\":4096,\"retained_change\":4096"));
}

TEST_CASE("unknown names and files that are no dumps are said") {
  CHECK(run(run_path, {small(0), "Nobody"}).error == "no class Nobody");
  CHECK(run(run_show, {small(0), "0x77"}).error == "no object 0x77");
  CHECK(has(run(run_summary, {"JAVA PROFILE 1.0.2"}).error, "not a binary hprof file"));
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
