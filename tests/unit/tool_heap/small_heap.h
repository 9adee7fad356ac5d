// Small heaps with ids of our choice, and what the analysis makes of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/support/hprof_builder.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::test {

// Objects of class Node with one reference each to as many others as wanted, made of arrays: an Object[] of n
// elements takes 16 + 4 * n bytes rounded up to 8 in the assumed layout.
class SmallHeap {
 public:
  static constexpr uint64_t kObject = 0x10, kClass = 0x11, kArray = 0x12, kHolder = 0x13, kWeak = 0x14,
                            kReference = 0x15, kSoft = 0x16;

  explicit SmallHeap(unsigned id_size = 8, const HprofBuilder::Fields& of_references = {{2, 2}})
      : b_(id_size) {
    const char* names[] = {"java/lang/Object",
                           "java/lang/Class",
                           "[Ljava/lang/Object;",
                           "Holder",
                           "java/lang/ref/WeakReference",
                           "java/lang/ref/Reference",
                           "java/lang/ref/SoftReference"};
    b_.string(1, "field").string(2, "referent").string(3, "next").string(4, "discovered");
    uint64_t id = kObject;
    for (const char* name : names) {
      b_.string(id + 0x100, name).load_class(static_cast<uint32_t>(id), id, 0, id + 0x100);
      ++id;
    }
    b_.begin(0x1c);
    b_.class_dump(kObject, 0, 0, {}).class_dump(kClass, kObject, 0, {}).class_dump(kArray, kObject, 0, {});
    const auto size = static_cast<uint32_t>(id_size * of_references.size());
    b_.class_dump(kReference, kObject, size, of_references);
    b_.class_dump(kWeak, kReference, size, {}).class_dump(kSoft, kReference, size, {});
    for (uint64_t each = kObject; each <= kSoft; ++each) {
      if (each != kHolder) root(each);
    }
  }
  // class Holder, with a static field
  SmallHeap& holder(uint64_t value) {
    b_.u1(0x20).id(kHolder).u4(0).id(kObject).id(0).id(0).id(0).id(0).id(0).u4(0).u2(0).u2(1).id(1).u1(2).id(
        value);
    b_.u2(0);
    return *this;
  }
  SmallHeap& root(uint64_t id) {
    b_.u1(0x05).id(id);
    return *this;
  }
  SmallHeap& thread(uint64_t id, uint32_t serial) {
    b_.u1(0x08).id(id).u4(serial).u4(0);
    return *this;
  }
  SmallHeap& local(uint64_t id, uint32_t serial) {
    b_.u1(0x03).id(id).u4(serial).u4(0);
    return *this;
  }
  // An Object[]
  SmallHeap& array(uint64_t id, const std::vector<uint64_t>& elements) {
    b_.u1(0x22).id(id).u4(0).u4(elements.size()).id(kArray);
    for (uint64_t element : elements) b_.id(element);
    return *this;
  }
  SmallHeap& bytes(uint64_t id, uint32_t length) {
    b_.u1(0x23).id(id).u4(0).u4(length).u1(8);
    for (uint32_t i = 0; i < length; ++i) b_.u1(0);
    return *this;
  }
  SmallHeap& reference(uint64_t id, uint64_t kind, uint64_t referent) {
    b_.instance(id, kind, b_.id_size()).id(referent);
    return *this;
  }
  HprofBuilder& builder() { return b_; }
  std::string file() {
    HprofBuilder whole = b_;
    return whole.end().begin(0x2c).end().bytes();
  }

 private:
  HprofBuilder b_;
};

class MemoryDump : public tool::DumpOpener {
 public:
  explicit MemoryDump(std::string bytes) : bytes_(std::move(bytes)) {}
  std::unique_ptr<tool::ByteSource> open(std::string*) override {
    return std::make_unique<tool::MemorySource>(bytes_.data(), bytes_.size());
  }

 private:
  std::string bytes_;
};

// The whole analysis of a dump in memory.
struct Analysis {
  explicit Analysis(const std::string& file, tool::SnapshotOptions options = {})
      : dump(file), heap(dump, options, budget) {
    std::optional<tool::ReferenceGraph> graph = heap.read(&error);
    good = graph.has_value();
    if (good) heap.find_dominators(std::move(*graph));
  }
  uint32_t place(uint64_t id) const {
    uint32_t object = heap.numbers.number_of(id);
    return object == tool::kNoObject ? tool::DominatorTree::kUnreached : heap.tree.place_of[object];
  }
  bool reached(uint64_t id) const { return place(id) != tool::DominatorTree::kUnreached; }
  uint64_t retained(uint64_t id) const { return reached(id) ? heap.retained(place(id)) : 0; }
  uint64_t shallow(uint64_t id) const { return reached(id) ? heap.shallow(place(id)) : 0; }

  MemoryDump dump;
  tool::MemoryBudget budget;
  tool::Snapshot heap;
  std::string error;
  bool good = false;
};

}  // namespace hprof::test
