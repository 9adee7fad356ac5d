// A heap that was read: its objects, its dominator tree, and retained sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/heap/graph/big_array.h"
#include "tools/heap/graph/dominators.h"
#include "tools/heap/graph/object_numbers.h"
#include "tools/heap/graph/reference_graph.h"
#include "tools/heap/read/dump_outline.h"
#include "tools/heap/read/object_layout.h"

namespace hprof::tool {

struct SnapshotOptions {
  unsigned dump = 0;     // which dump of the file, from 1; 0 = the last
  unsigned threads = 2;  // that read
  Follow follow = Follow::kSoft;
  bool keep_unreached = false;
  bool strings = false;  // fill in HeapObjects.string_arrays and wide_arrays
  ObjectLayout layout;   // used if layout.given; else it is found by the addresses
};

// True: a root on a thread's stack.
constexpr bool is_stack_root(uint8_t tag) {
  return tag == kRootJniLocal || tag == kRootJavaFrame || tag == kRootNativeStack || tag == kRootThreadBlock;
}

// A GC root; several may name one object.
struct HeapRoot {
  uint32_t object;
  uint32_t thread;  // index in threads, kNoThread
  uint32_t frame;   // depth, UINT32_MAX = none
  uint8_t tag;
};

struct HeapThread {
  uint32_t serial;
  uint32_t object;  // kNoObject when it is not in the dump
  uint32_t trace;
  std::string name;
  uint32_t stack = kNoObject;  // the node that stands for its stack, when it holds something
  std::string label() const { return name.empty() ? "#" + std::to_string(serial) : name; }
};
constexpr uint32_t kNoThread = UINT32_MAX;

// The sizes of objects that differ from their class's.
class OwnSizes {
 public:
  void allocate(MemoryBudget& budget, uint32_t objects) { units_.allocate(budget, objects); }
  void reset() {
    units_.reset();
    std::vector<Large>().swap(large_);
  }
  struct Large {
    uint32_t object;
    uint64_t size;
  };
  // Thread-safe for different objects, with a list for each thread.
  void set(uint32_t object, uint64_t size, std::vector<Large>& large) {
    uint64_t units = size / kUnit;
    if (size % kUnit == 0 && units < kElsewhere) {
      units_[object] = static_cast<uint8_t>(units);
    } else {
      units_[object] = kElsewhere;
      large.push_back({object, size});
    }
  }
  void add(std::vector<Large>& large);
  void finish();
  // 0: the size of its class.
  uint64_t get(uint32_t object) const;

 private:
  friend class SnapshotFile;
  static constexpr unsigned kUnit = 8;
  static constexpr uint8_t kElsewhere = 255;
  BigArray<uint8_t> units_;
  std::vector<Large> large_;  // by object
};

// What the second reading finds about each object.
struct HeapObjects {
  PackedArray<3> class_of;  // index, 0 = unknown
  OwnSizes sizes;
  BigArray<uint32_t> trace_of;  // serial number; empty when the dump has none
  BitArray string_arrays;       // byte[] and char[] that hold the text of a java.lang.String
  BitArray wide_arrays;         // those of them in UTF-16
};

struct ClassTotals {
  uint64_t objects = 0, bytes = 0;  // all
  uint64_t reached = 0, reached_bytes = 0;
};

class Snapshot {
 public:
  Snapshot(DumpOpener& opener, const SnapshotOptions& options, MemoryBudget& budget);

  // Reads the dump. Returns nothing with *error if there is nothing to show. Questions about references take
  // the graph; find_dominators() then needs its memory.
  std::optional<ReferenceGraph> read(std::string* error);
  void find_dominators(ReferenceGraph graph);

  uint64_t size_of(uint32_t object) const;  // before find_dominators()
  uint32_t class_of(uint32_t object) const;

  // By place in the dominator tree; place 0 is the root above all, whose size is 0.
  uint64_t shallow(uint32_t place) const { return prefix.get(place + 1) - prefix.get(place); }
  uint64_t retained(uint32_t place) const {
    return prefix.get(place + tree.subtree[place]) - prefix.get(place);
  }
  uint32_t end_of(uint32_t place) const { return place + tree.subtree[place]; }
  uint64_t total_bytes() const { return retained(0); }  // of all reached objects
  // The place of a node; kUnreached: it has none, or is kNoObject.
  uint32_t place_of(uint32_t node) const {
    return node == kNoObject ? DominatorTree::kUnreached : tree.place_of[node];
  }
  // True: what no root reaches hangs below the root above all as well.
  bool takes_unreached() const { return options.keep_unreached || root_nodes.empty(); }
  bool is_reached(uint32_t node) const { return place_of(node) != DominatorTree::kUnreached; }
  uint64_t retained_by(uint32_t node) const { return is_reached(node) ? retained(place_of(node)) : 0; }
  // The nodes at these places, in their order.
  std::vector<uint32_t> nodes_at(const std::vector<uint32_t>& places) const;
  // A node as text: "com.acme.Foo @ 0x7f00". Class objects are "class com.acme.Foo", stacks "stack of thread
  // main".
  std::string describe(uint32_t node) const;
  std::string class_name(uint32_t index) const { return outline.classes.list[index].name; }
  // The class of a class object; kNoClass: none.
  uint32_t class_of_mirror(uint32_t object) const;
  // The class object of a class; kNoObject: the dump has none.
  uint32_t mirror_of(uint32_t index) const;
  bool is_stack(uint32_t node) const { return node >= numbers.size(); }

  DumpOpener& opener;
  SnapshotOptions options;
  MemoryBudget& budget;
  DumpOutline outline;
  ObjectNumbers numbers;
  ObjectLayout layout;
  bool big_endian = false;  // the VM's processor
  HeapObjects objects;
  std::vector<HeapRoot> roots;
  std::vector<uint32_t> root_nodes;  // of the search: objects and stacks
  std::vector<HeapThread> threads;
  std::vector<ClassTotals> totals;  // by class
  uint64_t references = 0, dangling = 0;
  DominatorTree tree;
  PackedArray<5> prefix;        // bytes of all places before
  PackedArray<3> class_at;      // by place; kStackClass
  BigArray<uint32_t> trace_at;  // by place
  bool loaded = false;          // from an index, with its dominator tree
  static constexpr uint32_t kStackClass = (1u << 24) - 1;

 private:
  void take_roots();
  void take_threads();
  bool read_outline(std::string* error);
  ReferenceGraph read_objects();
  void hang_up_stacks(ReferenceGraph& graph);
  void size_objects(const std::vector<ClassGap>& gaps, std::vector<OwnSizes::Large>& large);
  void count_classes();
  void add_totals(const std::vector<std::vector<ClassTotals>>& sums);  // of the threads
  void fill_tree();
};

}  // namespace hprof::tool
