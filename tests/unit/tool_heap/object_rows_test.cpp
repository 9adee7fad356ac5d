// Rows of objects, and paths of fields.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/questions/heap_report.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr uint64_t kNode = 0x20, kSub = 0x21, kString = 0x22, kChars = 0x23;
constexpr uint64_t A = 0x1000, B = 0x1001, C = 0x1002, T = 0x2000, X = 0x2001, L = 0x2002;

// Node { int size; Node next; String name; boolean good; char letter; float part; double share; long id; }
class Nodes {
 public:
  Nodes() {
    HprofBuilder& b = heap_.builder().end();
    const char* names[] = {"size", "next",  "name", "good",    "letter",           "part", "share",
                           "id",   "value", "Node", "SubNode", "java/lang/String", "own"};
    uint64_t name = 0x400;
    for (const char* each : names) b.string(name++, each);
    b.load_class(70, kNode, 0, 0x409).load_class(71, kSub, 0, 0x40a).load_class(72, kString, 0, 0x40b);
    b.begin(0x1c);
    b.class_dump(
        kNode, SmallHeap::kObject, 8 + 16 + 24,
        {{0x400, 10}, {0x401, 2}, {0x402, 2}, {0x403, 4}, {0x404, 5}, {0x405, 6}, {0x406, 7}, {0x407, 11}});
    b.class_dump(kSub, kNode, 52, {{0x40c, 9}}).class_dump(kString, SmallHeap::kObject, 8, {{0x408, 2}});
    for (uint64_t id : {kNode, kSub, kString}) heap_.root(id);
  }
  Nodes& node(uint64_t id, int32_t size, uint64_t next, uint64_t name, bool sub = false) {
    heap_.root(id);
    return garbage(id, size, next, name, sub);
  }
  Nodes& garbage(uint64_t id, int32_t size, uint64_t next, uint64_t name, bool sub = false) {
    HprofBuilder& b = heap_.builder();
    b.instance(id, sub ? kSub : kNode, sub ? 45 : 43);
    if (sub) b.u2(0xfffe);
    b.u4(static_cast<uint32_t>(size)).id(next).id(name).u1(1).u2('x').u4(0x3f000000).u8(0x7ff0000000000000);
    b.u8(uint64_t{1} << 40);
    return *this;
  }
  Nodes& string(uint64_t id, uint64_t array, const std::string& text) {
    HprofBuilder& b = heap_.builder();
    b.instance(id, kString, 8).id(array).u1(0x23).id(array).u4(0).u4(text.size()).u1(5);
    for (char c : text) b.u2(static_cast<uint8_t>(c));
    return *this;
  }
  SmallHeap& heap() { return heap_; }
  std::string file() { return heap_.file(); }

 private:
  SmallHeap heap_;
};

struct Rows {
  std::string text, error;
  std::vector<std::string> notes;
};

Rows rows(const std::string& file, const std::string& name, const std::string& fields, bool json = false,
          bool retained = false, bool unreachable = false) {
  HeapSettings settings;
  settings.json = json;
  settings.snapshot.keep_unreached = unreachable;
  auto open = [](const std::string& bytes) { return std::make_unique<MemoryDump>(bytes); };
  HeapRun run{settings, {file, name}, open};
  std::ostringstream out;
  Rows result;
  run_rows(run, fields, retained, out);
  result.notes = run.notes;
  result.text = out.str();
  result.error = run.error;
  return result;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string two_nodes() {
  return Nodes().string(T, X, "say \"hi\", twice").node(A, -5, B, T).node(B, 7, 0, 0).file();
}

}  // namespace

TEST_CASE("rows: a value of each type, and what is nothing") {
  const Rows csv = rows(two_nodes(), "Node", "size,name,good,letter,part,share,id");
  CHECK(csv.error == "");
  CHECK(csv.text ==
        "object,class,shallow_bytes,size,name,good,letter,part,share,id\n"
        "0x1000,Node,48,-5,\"say \"\"hi\"\", twice\",true,x,0.5,,1099511627776\n"
        "0x1001,Node,48,7,,true,x,0.5,,1099511627776\n");
  CHECK(rows(two_nodes(), "Node", "name,share,size", true).text ==
        "{\"object\":\"0x1000\",\"class\":\"Node\",\"shallow_bytes\":48,\"name\":\"say \\\"hi\\\", "
        "twice\",\"share\":null,\"size\":-5}\n"
        "{\"object\":\"0x1001\",\"class\":\"Node\",\"shallow_bytes\":48,\"name\":null,\"share\":null,"
        "\"size\":7}\n");
}

TEST_CASE("rows: a class has those objects that a root reaches, an id any") {
  const std::string file = Nodes().node(A, 1, 0, 0).garbage(B, 2, 0, 0).garbage(C, 3, 0, 0, true).file();
  CHECK(has(rows(file, "Node", "size").text, "\n0x1000,Node,48,1\n"));
  CHECK_FALSE(has(rows(file, "Node", "size").text, "0x1001"));
  CHECK(has(rows(file, "Node", "size", false, false, true).text, "\n0x1001,Node,48,2\n"));
  CHECK(has(rows(file, "0x1001", "size", false, true).text, "\n0x1001,Node,48,,2\n"));
  CHECK(has(rows(file, "SubNode", "size").error, "no GC root reaches the only object of SubNode"));
}

TEST_CASE("rows: paths lead through references, arrays and to what is known of an object") {
  Nodes nodes;
  nodes.string(T, X, "t").node(A, 1, B, 0).node(B, 2, L, T).heap().array(L, {A, 0});
  const Rows csv =
      rows(nodes.file(), "Node",
           "next.size,next.name,next.next.length,next.next[0].size,next.next[1].size,next.next[7],"
           "next.@class,next.@id,next.@shallow,name.value.length",
           false, true);
  CHECK(csv.error == "");
  CHECK(has(csv.text, "0x1000,Node,48,48,2,t,2,1,,,Node,0x1001,48,\n"));
  CHECK(has(csv.text, "0x1001,Node,48,112,,,,,,,java.lang.Object[],0x2002,24,1\n"));
}

TEST_CASE("rows: what an error says points at the step") {
  const std::string file = two_nodes();
  CHECK(rows(file, "Node", "next.nmae").error ==
        "--fields: next.nmae\n                      ^ Node has no field nmae; it has size, next, name, good, "
        "letter, "
        "part, share, id");
  CHECK(has(rows(file, "Node", "size.x").error, "^ the value before it is of type int"));
  CHECK(has(rows(file, "Node", "next[0]").error, "^ Node is no array"));
  CHECK(has(rows(file, "Node", "name.value.x").error, "^ char[] has no field x; it has length, [0]"));
  for (const char* wrong : {"", ",", "size,", "next.", "[", "[x]", "[0", "next[0]x", "@no", "@class.x",
                            "next..x", "[9999999999]"}) {
    const Rows result = rows(file, "Node", wrong);
    CHECK(has(result.error, "^ "));
    CHECK(result.text == "");
  }
  CHECK(has(rows(file, "Node", "a" + std::string(33 * 2, '.')).error, "^ a field is missing"));
  std::string deep = "next", many = "size";
  for (int i = 0; i < 40; ++i) deep += ".next";
  for (int i = 0; i < 70; ++i) many += ",size";
  CHECK(has(rows(file, "Node", deep).error, "more than 32 steps"));
  CHECK(has(rows(file, "Node", many).error, "more than 64 paths"));
  CHECK(has(rows(file, "Nobody", "size").error, "no class Nobody"));
}

TEST_CASE("rows: a step that some objects lack is a note") {
  Nodes nodes;
  nodes.node(A, 1, B, 0).node(B, 2, L, 0).node(C, 3, 0x7777, 0).heap().array(L, {});
  const Rows csv = rows(nodes.file(), "Node", "next.size");
  CHECK(csv.error == "");
  CHECK(has(csv.text, "0x1000,Node,48,2\n"));
  CHECK(has(csv.text, "0x1001,Node,48,\n"));
  CHECK(has(csv.text, "0x1002,Node,48,\n"));  // the reference leads out of the dump
  REQUIRE(csv.notes.size() == 1);
  CHECK(has(csv.notes[0], "java.lang.Object[] has no field size"));
  CHECK(has(csv.notes[0], "(1 row has an empty cell for that)"));
}

TEST_CASE("rows: values of subclasses come first in the file; class objects have static fields") {
  Nodes nodes;
  nodes.node(A, 9, 0, 0, true);
  CHECK(has(rows(nodes.file(), "SubNode", "size,own").text, ",9,-2\n"));
  const std::string file = SmallHeap().holder(A).root(SmallHeap::kHolder).array(A, {}).file();
  CHECK(has(rows(file, "0x13", "field,field.length").text, ",0x1000,0\n"));
}

TEST_CASE("rows: of a broken dump what there is") {
  const std::string whole = two_nodes();
  for (size_t size = 0; size < whole.size(); size += 7) {
    const Rows csv = rows(whole.substr(0, size), "Node", "size,name,next.next.name", true, true);
    CHECK((!csv.text.empty() || !csv.error.empty()));
  }
}
