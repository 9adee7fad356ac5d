// Whole commands on small dumps.
#include <doctest/doctest.h>
#include <new>
#include <sstream>
#include <stdexcept>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/questions/heap_report.h"
#include "tools/hprof/command.h"
#include "tools/hprof/heap/heap_page.h"

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

Result run(Document (*command)(HeapRun&), std::vector<std::string> words, const std::string& text = "",
           bool subclasses = false, bool unreachable = false) {
  HeapSettings settings;
  settings.subclasses = subclasses;
  settings.snapshot.keep_unreached = unreachable;
  settings.text = text;
  auto open = [](const std::string& file) { return std::make_unique<MemoryDump>(file); };
  HeapRun each{settings, std::move(words), open};
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
    heap_.root(id);
    return garbage(id, array, offset, count);
  }
  SharedStrings& garbage(uint64_t id, uint64_t array, uint32_t offset, uint32_t count) {
    heap_.builder().instance(id, 0x90, 16).id(array).u4(offset).u4(count);
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
  CHECK(has(
      result.json,
      "\"zero_arrays\":[\n{\"arrays\":1,\"shallow_bytes\":1016,\"class\":\"byte[]\",\"class_id\":null}]"));
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
  CHECK(has(run(run_objects, {file, "byte[]"}).json,
            "\"retained_bytes\":1016,\"object\":\"byte[] @ 0x1001\",\"object_id\":\"0x1001\""));
  Result shown = run(run_show, {file, "0x1001"});
  CHECK(has(shown.text, "1,016 bytes"));
  CHECK(has(shown.text, "java.lang.Object[] @ 0x1000"));
}

TEST_CASE("show: an unreachable object and one that refers to it have their classes") {
  const Result shown =
      run(run_show, {SmallHeap().array(A, {B}).bytes(B, 10).root(C).bytes(C, 1).file(), "0x1001"});
  CHECK(shown.text.find("byte[] @ 0x1001\n") == 0);
  CHECK(has(shown.text, "reachable  no"));
  CHECK(has(shown.text, "[0]  java.lang.Object[] @ 0x1000"));
}

TEST_CASE("retained by class is that of all its objects together") {
  // Neither of two owners alone retains what they share.
  std::string file = SmallHeap().root(A).root(B).array(A, {C}).array(B, {C}).bytes(C, 100).file();
  CHECK(has(run(run_retained, {file, "java.lang.Object[]"}).text, "3 objects of 168 B would be free"));
}

// A root with a byte[84]; garbage: an Object[] with that and a byte[8], and a circle of two.
std::string with_garbage() {
  SmallHeap heap;
  heap.root(A).array(A, {B}).bytes(B, 84).array(0x2000, {0x2001, B}).bytes(0x2001, 8);
  return heap.array(0x2002, {0x2003}).array(0x2003, {0x2002}).file();
}

TEST_CASE("what no root reaches is in no answer, unless --unreachable takes it in") {
  const std::string file = with_garbage();
  const auto ask = [&](Document (*command)(HeapRun&), const char* what, bool unreachable) {
    return run(command,
               what == nullptr ? std::vector<std::string>{file} : std::vector<std::string>{file, what}, "",
               false, unreachable)
        .json;
  };
  const auto classes = [&](bool unreachable) { return ask(run_histogram, nullptr, unreachable); };
  CHECK(has(classes(false), "\"objects\":1,\"shallow_bytes\":104,\"class\":\"byte[]\""));
  CHECK(has(classes(true), "\"objects\":2,\"shallow_bytes\":128,\"class\":\"byte[]\""));
  CHECK(has(classes(false), "\"unreachable\":4,"));
  CHECK(has(ask(run_retained, "byte[]", false),
            "\"objects\":1,\"shallow_bytes\":104,\"retained_objects\":1,\"retained_bytes\":104,"
            "\"unreachable\":1}"));
  CHECK(has(ask(run_retained, "byte[]", true),
            "\"objects\":2,\"shallow_bytes\":128,\"retained_objects\":2,\"retained_bytes\":128}"));
  // What hangs on garbage is free with it.
  CHECK(has(ask(run_retained, "Object[]", false),
            "\"objects\":1,\"shallow_bytes\":24,\"retained_objects\":2,"));
  CHECK(
      has(ask(run_retained, "Object[]", true), "\"objects\":4,\"shallow_bytes\":96,\"retained_objects\":6,"));
  CHECK(has(run(run_retained, {file, "0x2000"}).error, "no GC root reaches 0x2000 (--unreachable"));
  CHECK(has(ask(run_retained, "0x2000", true), "\"retained_objects\":2,"));
  CHECK(has(ask(run_show, "byte[]", false), "\"of\":1,\"object\":\"byte[] @ 0x1001\""));
  CHECK(has(ask(run_show, "byte[]", true), "\"of\":2,"));
  CHECK(has(ask(run_summary, nullptr, false), "\"zero_arrays\":[\n{\"arrays\":1,"));
  CHECK(has(ask(run_summary, nullptr, true), "\"zero_arrays\":[\n{\"arrays\":2,"));
}

TEST_CASE("find and references leave out garbage") {
  const std::string file =
      SharedStrings().string(A, 0x2000, 0, 4).garbage(B, 0x2000, 0, 4).chars(0x2000, "text").file();
  CHECK(has(run(run_find, {file}, "text").text, "1 string\n"));
  CHECK(has(run(run_find, {file}, "text", false, true).text, "2 strings\n"));
  SmallHeap heap;
  heap.root(A).reference(A, SmallHeap::kSoft, 0).reference(B, SmallHeap::kSoft, 0);
  CHECK(has(run(run_references, {heap.file()}).json, "{\"references\":1,\"cleared\":1,"));
  CHECK(has(run(run_references, {heap.file()}, "", false, true).json, "{\"references\":2,\"cleared\":2,"));
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

TEST_CASE("classes by short names, patterns and with subclasses; class objects by name and id") {
  const std::string file = SmallHeap()
                               .holder(A)
                               .root(SmallHeap::kHolder)
                               .array(A, {B, C})
                               .reference(B, SmallHeap::kWeak, 0)
                               .reference(C, SmallHeap::kSoft, 0)
                               .file();
  CHECK(has(run(run_objects, {file, "WeakReference"}).text, "Objects of java.lang.ref.WeakReference by"));
  CHECK(has(run(run_objects, {file, "java.lang.ref.*"}).json, "\"objects\":2,"));
  CHECK(has(run(run_objects, {file, "*.Weak?eference"}).json, "\"objects\":1,"));
  CHECK(has(run(run_objects, {file, "Weak?ef*"}).json, "\"objects\":1,"));
  CHECK(run(run_objects, {file, "java.x*"}).error == "no class java.x*");
  CHECK(has(run(run_objects, {file, "Reference"}).error, "class java.lang.ref.Reference has no instances"));
  const Result both = run(run_objects, {file, "Reference"}, "", true);
  CHECK(has(both.text, "Objects of java.lang.ref.Reference and its subclasses by"));
  CHECK(has(both.json, "\"objects\":2,"));
  for (const char* name : {"class:Holder", "0x13"}) {
    CAPTURE(name);
    const Result shown = run(run_show, {file, name});
    CHECK(has(shown.text, "static field  object  java.lang.Object[] @ 0x1000"));
    CHECK(has(shown.json,
              "\"object\":\"class Holder @ "
              "0x13\",\"object_id\":\"0x13\",\"object_kind\":\"class\",\"object_class\":\"Holder\""));
    CHECK(has(run(run_path, {file, name}).text, "Shortest path from a GC root to class Holder"));
    CHECK(has(run(run_dominators, {file, name}).text, "What class Holder retains"));
    CHECK(has(run(run_retained, {file, name}).json, "\"retained_objects\":4,"));
  }
  CHECK(has(run(run_show, {file, "class:*Reference"}).text, "The first of 3 objects of class *Reference."));
  const Result tree = run(run_dominators, {file, "java.lang.ref.*"});
  CHECK(has(tree.text, "What each of the 2 objects of java.lang.ref.* retains"));
  CHECK(has(tree.text, "java.lang.ref.SoftReference @ 0x1002"));
}

TEST_CASE("a short name of several classes is refused with their names") {
  SmallHeap heap;
  heap.builder().end().string(0x300, "a/Node").load_class(90, 0x90, 0, 0x300);
  heap.builder().string(0x301, "b/Node").load_class(91, 0x91, 0, 0x301).begin(0x1c);
  heap.builder().class_dump(0x90, SmallHeap::kObject, 0, {}).class_dump(0x91, SmallHeap::kObject, 0, {});
  CHECK(run(run_objects, {heap.file(), "Node"}).error ==
        "Node is the short name of several classes: a.Node, b.Node");
}

TEST_CASE("limits: what is wrong is named with its byte") {
  Condition limit;
  std::string error;
  auto wrong = [&](const char* text) {
    CHECK_FALSE(parse_limit(text, &limit, &error));
    return error;
  };
  CHECK(wrong("") == "'', byte 1: instances, shallow, retained, suspect or heap is missing");
  CHECK(wrong("instance(A)>1") ==
        "'instance(A)>1', byte 1: instances, shallow, retained, suspect or heap instead of 'instance(A)>1'");
  CHECK(wrong("instances>1") == "'instances>1', byte 10: (CLASS) instead of '>1'");
  CHECK(wrong("retained(A>1") == "'retained(A>1', byte 13: ')' is missing");
  CHECK(wrong("retained()>1") == "'retained()>1', byte 10: a class instead of ')>1'");
  CHECK(wrong("retained(A)=1") == "'retained(A)=1', byte 12: > or < instead of '=1'");
  CHECK(wrong("retained(A)>=1q") == "'retained(A)>=1q', byte 14: a size such as 50m instead of '1q'");
  CHECK(wrong("instances(A)>") == "'instances(A)>', byte 14: a number is missing");
  CHECK(wrong("suspect>101%") == "'suspect>101%', byte 9: a percentage from 0 to 100 instead of '101%'");
  CHECK(parse_limit("retained(a.B$C) >= 50m", &limit, &error));
  CHECK(limit.name == "a.B$C");
  CHECK((limit.measure == HeapMeasure::kRetained && limit.above && limit.or_equal &&
         limit.limit == 50.0 * 1024 * 1024));
  CHECK(parse_limit("suspect<12.5%", &limit, &error));
  CHECK((!limit.above && !limit.or_equal && limit.limit == 12.5));
}

TEST_CASE("limits: objects that are reachable count") {
  const std::string file =
      SmallHeap().holder(A).root(SmallHeap::kHolder).array(A, {B}).bytes(B, 100000).bytes(C, 4000).file();
  HeapSettings settings;
  for (const char* text : {"instances(byte[])>1", "instances(byte[])>=1", "shallow(byte[])>100016",
                           "retained(Object[])<200k", "heap>1m", "suspect>90%", "instances(Nothing)>0"}) {
    std::string error;
    settings.limits.emplace_back();
    REQUIRE(parse_limit(text, &settings.limits.back(), &error));
  }
  auto open = [](const std::string& bytes) { return std::make_unique<MemoryDump>(bytes); };
  HeapRun each{settings, {file}, open};
  const Document document = run_leaks(each);
  CHECK(each.error.empty());
  CHECK(each.exceeded);
  std::string exceeded;
  for (const auto& row : document.sections[1].tables[0].rows) exceeded += std::get<std::string>(row[0]) + ' ';
  CHECK(exceeded == "no yes no yes no yes no ");
  CHECK(document.sections[1].text[0] == "no class Nothing");
}

TEST_CASE("diff: what grew") {
  Result result = run(run_diff, {small(0), small(4096)});
  CHECK(has(result.json, "\"shallow_change\":4096,\"retained_change\":4096"));
  CHECK(result.text.find("What changed from the first to the second\n") == 0);
  CHECK(has(result.text, "Grew most by shallow bytes: byte[], +4.0 KiB, 0 objects\n"));
  CHECK(has(result.json, "\"grew_most_retained\":\"byte[]\",\"grew_most_shallow\":\"byte[]\""));
  CHECK(has(run(run_diff, {small(4096), small(0)}).text, "No class grew."));
  const std::string longer = SmallHeap()
                                 .holder(A)
                                 .root(SmallHeap::kHolder)
                                 .array(A, std::vector<uint64_t>(500, C))
                                 .bytes(C, 0)
                                 .file();
  const std::string text = run(run_diff, {small(0), longer}).text;
  INFO(text);
  CHECK(has(text, "Grew most by retained bytes: java.lang.Class, +"));
  CHECK(has(text, " KiB, 0 objects, of which class Holder +"));
}

TEST_CASE("unknown names and files that are no dumps are said") {
  CHECK(run(run_path, {small(0), "Nobody"}).error == "no class Nobody");
  CHECK(run(run_show, {small(0), "0x77"}).error == "no object 0x77");
  CHECK(has(run(run_show, {small(0), "0x10000000000000000"}).error, "is no id: 1 to 16 digits"));
  CHECK(run(run_path, {small(0), "Holdre"}).error == "no class Holdre; did you mean Holder?");
  CHECK(has(run(run_retained, {small(0), "Holder"}).error,
            "has no instances (class:Holder is the class object)"));
  CHECK(has(run(run_summary, {"JAVA PROFILE 1.0.2"}).error, "not a binary hprof file"));
  CHECK(has(run(run_summary, {"PK\3\4"}).error, "not a binary hprof file but a zip archive"));
  const std::string android = HprofBuilder(4, "JAVA PROFILE 1.0.3").bytes();
  CHECK(has(run(run_summary, {android}).error, "convert it with hprof-conv of the Android SDK"));
}

TEST_CASE("a length that no container can have is said as a lack of memory") {
  auto thrown_by = [](void (*act)(), uint64_t bound) {
    try {
      act();
    } catch (const std::exception& problem) {
      return failure_text(problem, bound);
    }
    return std::string("nothing");
  };
  auto too_long = [] { std::vector<uint64_t>().resize(std::vector<uint64_t>().max_size() + size_t{1}); };
  CHECK(thrown_by(too_long, 0) == "out of memory");
  CHECK(thrown_by(too_long, 300000000) == "out of memory: the contents take more than 300 MB");
  CHECK(thrown_by([] { throw std::bad_alloc(); }, 0) == "out of memory");
  CHECK(thrown_by([] { throw std::runtime_error("no thread"); }, 0) == "cannot go on: no thread");
}

TEST_CASE(
    "the page says what is wrong above the dominator tree, asks for nothing and lets no name become markup") {
  const Result result = run(run_report, {small(100000)});
  std::ostringstream out;
  write_heap_page(result.document, "<script>", out);
  const std::string page = out.str();
  CHECK(has(page, "i\ttitle\t\\u003cscript>\n"));
  CHECK(has(page, "<summary>1. class Holder retains"));
  CHECK(has(page, "static field \xe2\x86\x92 [0]"));
  for (const char* never : {"<script>\n</", "src=", "http:", "https:", "url(", "@import"})
    CHECK_FALSE(has(page, never));
  auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("<details>") == count("</details>"));
  CHECK(count("<table>") == count("</table>"));
  CHECK(count("<script") == 2);
  // The frames of the tree: the class, its array, and what that has.
  CHECK(has(page, "byte[] @ 0x1001\n"));
  CHECK(has(page, "T\tdominators\tDOMINATOR TREE\n"));
  CHECK(has(page, "d\t100016\t"));
}

TEST_CASE("a page without a dominator tree has the tables alone") {
  std::ostringstream out;
  write_heap_page(run(run_histogram, {small(1000)}).document, "<script>", out);
  CHECK(has(out.str(), "&lt;script&gt;"));
  CHECK_FALSE(has(out.str(), "<script"));
  CHECK(has(out.str(), "byte[]"));
}

TEST_CASE("JSON and CSV: a field for each number, id and class, and how many rows are left out") {
  Table table{"rows",
              "",
              {{"n", "", CellKind::kBytes},
               kClass,
               kObject,
               {"t", "", CellKind::kQuote},
               {"d", "", CellKind::kNumber}}};
  table.rows.push_back({uint64_t{2048}, HeapEntity{"A", HeapEntity::kClass, 16, ""},
                        HeapEntity{"A @ 0x20", HeapEntity::kObject, 32, "A"}, std::string("x,\"y\n"), 0.1});
  table.rows.push_back({uint64_t{1}, HeapEntity{"..."}, {}, {}, 1.0 / 0.0});
  table.left_out = 7;
  Document document;
  document.sections.push_back({"part", "T", {}, {table}});
  document.sections[0].facts = {{data_column("total", CellKind::kCount), uint64_t{5}}};
  std::ostringstream json, text, csv;
  write_json(document, json);
  CHECK(json.str() ==
        "{\"schema\":\"hprof-heap-1\",\"problems\":[],\n\"part\":{\"title\":\"T\",\"text\":[],\n\"facts\":{"
        "\"total\":5},"
        "\"left_out\":{\"rows\":7},\n\"rows\":[\n"
        "{\"n\":2048,\"class\":\"A\",\"class_id\":\"0x10\",\"object\":\"A @ 0x20\",\"object_id\":\"0x20\","
        "\"object_kind\":\"object\",\"object_class\":\"A\",\"t\":\"x,\\\"y\\u000a\",\"d\":0.1},\n"
        "{\"n\":1,\"class\":null,\"class_id\":null,\"object\":null,\"object_id\":null,"
        "\"object_kind\":null,\"object_class\":null,\"t\":null,\"d\":null}],\n\"parts\":[]}\n}\n");
  uint64_t left_out = 0;
  CHECK(write_csv(document, "", csv, &left_out) == "");
  CHECK(left_out == 7);
  CHECK(csv.str() ==
        "n,class,class_id,object,object_id,object_kind,object_class,t,d\n"
        "2048,A,0x10,A @ 0x20,0x20,object,A,\"x,\"\"y\n\",0.1\n1,,,,,,,,\n");
  CHECK(write_csv(document, "other", csv, &left_out) == "this answer has no table other, only rows");
  write_text(document, text);
  CHECK(has(text.str(), "2.0 KiB  A      A @ 0x20  \"x,\"y\\x0a\""));
  CHECK(has(text.str(), "... 7 more"));
}

TEST_CASE("numbers for people") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(uint64_t{5} << 30) == "5.0 GiB");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(json_string("a\"b\\\n\xff") == "\"a\\\"b\\\\\\u000a\\ufffd\"");
}
