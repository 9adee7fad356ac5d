// Waste, references, entries of collections, threads and loaders in heaps made by hand.
#include <doctest/doctest.h>
#include <sstream>

#include "tests/unit/tool_heap/small_heap.h"
#include "tools/heap/questions/heap_report.h"
#include "tools/heap/questions/loaded_twice.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr uint64_t A = 0x1000, B = 0x1001, C = 0x1002, D = 0x1003, E = 0x1004;

std::string text_of(Document (*command)(HeapRun&), std::vector<std::string> words) {
  HeapSettings settings;
  auto open = [](const std::string& file) { return std::make_unique<MemoryDump>(file); };
  HeapRun run{settings, std::move(words), open};
  std::ostringstream out;
  write_text(command(run), out);
  CHECK(run.error == "");
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A heap with further classes and fields by name.
class NamedHeap {
 public:
  uint64_t name(const std::string& text) {
    const auto [place, fresh] = names_.try_emplace(text, 0x500 + names_.size());
    if (fresh) definitions_.emplace_back(place->second, text);
    return place->second;
  }
  NamedHeap& type(uint64_t id, const std::string& class_name, uint64_t super, uint32_t size,
                  const std::vector<std::pair<std::string, uint8_t>>& fields, uint64_t loader = 0) {
    classes_.push_back({id, name(class_name), super, size, loader, {}});
    for (const auto& [field, kind] : fields) classes_.back().fields.emplace_back(name(field), kind);
    return *this;
  }
  SmallHeap& heap() {
    if (begun_) return heap_;
    begun_ = true;
    HprofBuilder& b = heap_.builder().end();
    for (const auto& [id, text] : definitions_) b.string(id, text);
    for (const auto& each : classes_) b.load_class(static_cast<uint32_t>(each.id), each.id, 0, each.name);
    b.begin(0x1c);
    for (const auto& each : classes_) {
      b.u1(0x20)
          .id(each.id)
          .u4(0)
          .id(each.super)
          .id(each.loader)
          .id(0)
          .id(0)
          .id(0)
          .id(0)
          .u4(each.size)
          .u2(0)
          .u2(0);
      b.u2(each.fields.size());
      for (const auto& [field, kind] : each.fields) b.id(field).u1(kind);
      heap_.root(each.id);
    }
    return heap_;
  }

 private:
  struct Type {
    uint64_t id, name, super;
    uint32_t size;
    uint64_t loader;
    HprofBuilder::Fields fields;
  };
  SmallHeap heap_;
  bool begun_ = false;
  std::map<std::string, uint64_t> names_;
  std::vector<std::pair<uint64_t, std::string>> definitions_;
  std::vector<Type> classes_;
};

constexpr uint64_t kMap = 0x30, kEntry = 0x31, kList = 0x32, kOwner = 0x33, kNumber = 0x34;

NamedHeap collections() {
  NamedHeap named;
  named.type(kMap, "java/util/HashMap", SmallHeap::kObject, 12, {{"table", 2}, {"size", 10}});
  named.type(kEntry, "java/util/HashMap$Node", SmallHeap::kObject, 24,
             {{"key", 2}, {"value", 2}, {"next", 2}});
  named.type(kList, "java/util/ArrayList", SmallHeap::kObject, 12, {{"elementData", 2}, {"size", 10}});
  named.type(kOwner, "com/acme/Owner", SmallHeap::kObject, 8, {{"of", 2}});
  named.type(kNumber, "java/lang/Integer", SmallHeap::kObject, 4, {{"value", 10}});
  return named;
}

}  // namespace

TEST_CASE("show: the entries of a map, also in chains, and none of a chain that is a circle twice") {
  NamedHeap named = collections();
  SmallHeap& heap = named.heap();
  heap.root(A).builder().instance(A, kMap, 12).id(B).u4(3);
  heap.array(B, {0, C, 0, 0});
  heap.builder().instance(C, kEntry, 24).id(0x2000).id(0x2001).id(D);
  heap.builder().instance(D, kEntry, 24).id(0).id(0x2001).id(E);
  heap.builder().instance(E, kEntry, 24).id(0x2001).id(0).id(C);
  heap.builder().instance(0x2000, kNumber, 4).u4(41).instance(0x2001, kNumber, 4).u4(0xffffffff);
  const std::string text = text_of(run_show, {heap.file(), "0x1000"});
  CHECK(has(text, "java.lang.Integer @ 0x2000 41  java.lang.Integer @ 0x2001 -1"));
  CHECK(has(text, "null                           java.lang.Integer @ 0x2001 -1"));
  CHECK(has(text, "java.lang.Integer @ 0x2001 -1  null"));
}

TEST_CASE("waste: empty and sparse collections, equal arrays and numbers, and their owner") {
  NamedHeap named = collections();
  SmallHeap& heap = named.heap();
  heap.root(A).builder().instance(A, kOwner, 8).id(B);
  heap.array(B, {C, D, 0x3000, 0x3001, 0x3002, 0x3003, 0x3004});
  heap.builder().instance(C, kList, 12).id(0x2000).u4(0);
  heap.array(0x2000, std::vector<uint64_t>(10));  // 56 bytes
  heap.builder().instance(D, kList, 12).id(0x2001).u4(1);
  std::vector<uint64_t> room(21);
  room[0] = A;
  heap.array(0x2001, room);
  heap.bytes(0x3000, 100).bytes(0x3001, 100).bytes(0x3002, 99);
  heap.builder().instance(0x3003, kNumber, 4).u4(7).instance(0x3004, kNumber, 4).u4(7);
  const std::string text = text_of(run_waste, {heap.file()});
  // Empty: a list of 24 bytes and its array of 56. Unused: 20 elements of 4 bytes. Equal: byte[100] and 16
  // bytes.
  CHECK(has(text,
            "80 B by empty collections, 80 B by unused room of others, 136 B by arrays and boxed numbers"));
  CHECK(has(text, "2      1           80 B       1    80 B    4.8%  java.util.ArrayList"));
  CHECK(has(text, "3         2   120 B  byte[]"));
  CHECK(has(text, "2         1    16 B  java.lang.Integer"));
  CHECK(has(text, "4   296 B  com.acme.Owner"));
}

TEST_CASE("a field of the JDK's class is read, not one that a subclass has by the same name") {
  constexpr uint64_t kSub = 0x35, kThread = 0x36, kOwnThread = 0x37, kString = 0x38;
  NamedHeap named = collections();
  named.type(kSub, "com/acme/Cache", kMap, 16, {{"size", 10}});
  named.type(kThread, "java/lang/Thread", SmallHeap::kObject, 8, {{"name", 2}});
  named.type(kOwnThread, "com/acme/Worker", kThread, 16, {{"name", 2}});
  named.type(kString, "java/lang/String", SmallHeap::kObject, 8, {{"value", 2}});
  SmallHeap& heap = named.heap();
  heap.root(A).builder().instance(A, kSub, 16).u4(0).id(B).u4(1);
  heap.array(B, {C}).builder().instance(C, kEntry, 24).id(0x2000).id(0x2000).id(0);
  heap.builder().instance(0x2000, kNumber, 4).u4(41);
  heap.thread(D, 1).builder().instance(D, kOwnThread, 16).id(0).id(E);
  heap.builder().instance(E, kString, 8).id(0x2001).u1(0x23).id(0x2001).u4(0).u4(4).u1(8);
  for (char each : std::string("jobs")) heap.builder().u1(static_cast<uint8_t>(each));
  CHECK(has(text_of(run_show, {heap.file(), "0x1000"}), "entries      1"));
  CHECK(has(text_of(run_waste, {heap.file()}), "0 B by empty collections"));
  CHECK(has(text_of(run_path, {heap.file(), "0x1003"}), "running thread \"jobs\""));
}

TEST_CASE("references: what only a soft reference holds, not what a stronger one holds too") {
  SmallHeap heap;
  heap.root(A).root(B).root(C).root(D);
  heap.reference(A, SmallHeap::kSoft, 0x2000)
      .array(0x2000, {0x2001, 0x2002})
      .bytes(0x2001, 84)
      .bytes(0x2002, 100);
  heap.reference(B, SmallHeap::kWeak, 0x2000).reference(C, SmallHeap::kWeak, 0).array(D, {0x2002});
  for (Follow follow : {Follow::kStrong, Follow::kSoft, Follow::kAll}) {
    HeapSettings settings;
    settings.snapshot.follow = follow;
    auto open = [](const std::string& file) { return std::make_unique<MemoryDump>(file); };
    HeapRun run{settings, {heap.file()}, open};
    std::ostringstream out;
    write_json(run_references(run), out);
    CHECK(has(out.str(),
              "\"references\":1,\"cleared\":0,\"only_objects\":2,\"only_bytes\":128,\"kind\":\"soft\""));
    CHECK(has(out.str(),
              "\"references\":2,\"cleared\":1,\"only_objects\":0,\"only_bytes\":0,\"kind\":\"weak\""));
  }
}

TEST_CASE("threads: a frame's objects are in its row") {
  SmallHeap heap;
  HprofBuilder& b = heap.builder();
  b.end().string(0x600, "work").string(0x601, "()V").string(0x602, "Holder.java").string(0x603, "worker");
  b.frame(0x700, 0x600, 0x601, 0x602, SmallHeap::kHolder, 12)
      .trace(9, 3, {0x700})
      .start_thread(3, A, 9, 0x603);
  b.begin(0x1c);
  b.u1(0x08).id(A).u4(3).u4(9);
  heap.local(B, 3).bytes(B, 1000).array(A, {});
  const std::string text = text_of(run_threads, {heap.file()});
  CHECK(has(text, "Stack of \"worker\""));
  CHECK(has(text, "Holder.work(Holder.java:12)  byte[] @ 0x1001"));
}

TEST_CASE("threads: one that many roots name is told once, and owns the lock that others wait for") {
  constexpr uint64_t kSync = 0x30, kThread = 0x31;
  NamedHeap named;
  named.type(kSync, "java/util/concurrent/locks/ReentrantLock$Sync", SmallHeap::kObject, 8,
             {{"exclusiveOwnerThread", 2}});
  named.type(kThread, "java/lang/Thread", SmallHeap::kObject, 8, {{"parkBlocker", 2}});
  SmallHeap& heap = named.heap();
  heap.builder().instance(B, kSync, 8).id(A);
  heap.builder().instance(A, kThread, 8).id(0);
  for (uint32_t serial = 2001; serial <= 5000; ++serial) heap.thread(A, serial);
  for (uint64_t waiting = 0x2000; waiting < 0x2000 + 1000; ++waiting) {
    heap.builder().instance(waiting, kThread, 8).id(B);
    heap.thread(waiting, static_cast<uint32_t>(waiting - 0x1fff));
  }
  CHECK(has(text_of(run_path, {heap.file(), "0x1000"}), "(running thread)"));
  CHECK_FALSE(has(text_of(run_path, {heap.file(), "0x1000"}), ", running thread"));
  CHECK(has(text_of(run_threads, {heap.file()}), "Sync @ 0x1001, held by \"#2001\""));
}

TEST_CASE("leaks: loaders of one application are found, those of two with a library in common are not") {
  auto heap_of = [](const std::vector<std::vector<std::string>>& loaded) {
    NamedHeap named;
    named.type(0x30, "java/lang/ClassLoader", SmallHeap::kObject, 0, {}).type(0x31, "AppLoader", 0x30, 0, {});
    uint64_t id = 0x4000, loader = 0x1000;
    for (const auto& names : loaded) {
      for (const std::string& name : names) named.type(id++, name, SmallHeap::kObject, 0, {}, loader);
      ++loader;
    }
    for (uint64_t each = 0x1000; each < loader; ++each)
      named.heap().root(each).builder().instance(each, 0x31, 0);
    return named.heap().file();
  };
  auto count = [&](const std::vector<std::vector<std::string>>& loaded) {
    Analysis analysis(heap_of(loaded));
    std::vector<size_t> sizes;
    for (const LoadedTwice& each : loaded_twice(analysis.heap)) sizes.push_back(each.loaders.size());
    return sizes;
  };
  using Sizes = std::vector<size_t>;
  CHECK(count({{"a/App", "lib/X"}, {"a/App", "lib/X"}, {"a/App", "a/Late", "lib/X", "lib/y/Z"}}) == Sizes{3});
  CHECK(count({{"a/App", "lib/X", "lib/Y"}, {"b/App", "lib/X", "lib/Y"}}).empty());
  CHECK(count({{"a/App", "lib/X"}, {"b/App", "lib/X"}, {"a/App", "lib/X"}}) == Sizes{2});
  CHECK(count({{"a/App"}, {"b/App"}}).empty());
  CHECK(count({{"a/App$$Lambda"}, {"a/App$$Lambda"}}).empty());
}

TEST_CASE("leaks: applications of Tomcat are told by the URLs that its loaders keep in a list of their own") {
  constexpr uint64_t kLoader = 0x35, kUrlLoader = 0x36, kTomcat = 0x37, kUrl = 0x38, kString = 0x39;
  NamedHeap named = collections();
  named.type(kLoader, "java/lang/ClassLoader", SmallHeap::kObject, 0, {});
  named.type(kUrlLoader, "java/net/URLClassLoader", kLoader, 0, {});
  named.type(kTomcat, "Tomcat", kUrlLoader, 8, {{"localRepositories", 2}});
  named.type(kUrl, "java/net/URL", SmallHeap::kObject, 8, {{"file", 2}});
  named.type(kString, "java/lang/String", SmallHeap::kObject, 8, {{"value", 2}});
  for (uint64_t i = 0; i < 3; ++i) named.type(0x4000 + i, "App", SmallHeap::kObject, 0, {}, 0x1000 + i);
  SmallHeap& heap = named.heap();
  for (uint64_t i = 0x1000; i < 0x1003; ++i) {
    heap.root(i).builder().instance(i, kTomcat, 8).id(i + 0x10);
    heap.builder().instance(i + 0x10, kList, 12).id(i + 0x20).u4(1);
    heap.array(i + 0x20, {i + 0x30}).builder().instance(i + 0x30, kUrl, 8).id(i + 0x40);
    heap.builder().instance(i + 0x40, kString, 8).id(i + 0x50);
    heap.bytes(i + 0x50, i == 0x1001 ? 2 : 3);
  }
  const Analysis analysis(heap.file());
  const std::vector<LoadedTwice> found = loaded_twice(analysis.heap);
  REQUIRE(found.size() == 1);
  CHECK(found[0].loaders == std::vector<uint64_t>{0x1000, 0x1002});
  CHECK(found[0].place == std::string(3, '\0'));
}
