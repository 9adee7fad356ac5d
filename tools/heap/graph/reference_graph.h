// The references between objects, as runs of numbers in one array of 4 bytes per reference.
//
// A run is the source followed by its targets; the last target has kLast set. Slots of kSkip belong to no
// run.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/heap/graph/big_array.h"
#include "tools/heap/graph/object_numbers.h"

namespace hprof::tool {

class ReferenceGraph {
 public:
  ReferenceGraph() = default;
  ReferenceGraph(ReferenceGraph&& other) noexcept
      : slots_(std::move(other.slots_)), first_(std::move(other.first_)), used_(other.used_.exchange(1)) {}
  ReferenceGraph& operator=(ReferenceGraph&& other) noexcept {
    slots_ = std::move(other.slots_);
    first_ = std::move(other.first_);
    used_ = other.used_.exchange(1);
    return *this;
  }
  static constexpr uint32_t kLast = 0x80000000u;
  static constexpr uint32_t kSkip = 0x7fffffffu;
  static constexpr uint32_t kMostNodes = kSkip - 1;

  // slots: the most sources and references; throws OutOfMemory beyond 2^32.
  void allocate(MemoryBudget& budget, uint32_t nodes, uint64_t slots, uint64_t expected);
  void reset();
  uint32_t nodes() const { return static_cast<uint32_t>(first_.size()); }

  // Reserves `count` slots for the caller. Thread-safe.
  uint64_t reserve(uint64_t count) { return used_.fetch_add(count); }
  uint32_t* slots() { return slots_.data(); }
  const uint32_t* slots() const { return slots_.data(); }
  uint64_t used() const { return used_; }
  // Frees the memory of the slots from `used` on.
  void truncate(uint64_t used);
  // By node: the slot of its first target; 0: no references.
  BigArray<uint32_t>& first() { return first_; }
  const BigArray<uint32_t>& first() const { return first_; }
  // Adds references to a node that has some; its run moves to the end, which must have room.
  void add(uint32_t source, const std::vector<uint32_t>& targets);

  // Calls visit(target) for each reference of a node.
  template <typename Visit>
  void for_each(uint32_t node, Visit visit) const {
    uint64_t at = first_[node];
    if (at == 0) return;
    for (;; ++at) {
      uint32_t slot = slots_[at];
      visit(slot & ~kLast);
      if ((slot & kLast) != 0) return;
    }
  }
  // Calls visit(source, target) for all references, in slot order.
  template <typename Visit>
  void for_all(Visit visit) const {
    uint64_t end = used_;
    for (uint64_t at = 1; at < end; ++at) {
      uint32_t source = slots_[at];
      if (source == kSkip) continue;
      do {
        ++at;
        visit(source & ~kLast, slots_[at] & ~kLast);
      } while ((slots_[at] & kLast) == 0);
    }
  }

 private:
  friend class SnapshotFile;
  BigArray<uint32_t> slots_;
  BigArray<uint32_t> first_;
  std::atomic<uint64_t> used_{1};  // slot 0 belongs to no run
};

// A thread's buffer of runs, before they go into the graph.
class RunBuffer {
 public:
  explicit RunBuffer(ReferenceGraph& graph) : graph_(graph) {}
  ~RunBuffer() { flush(); }
  // Begins the references of a node; finish() ends them.
  void begin(uint32_t source) {
    start_ = buffer_.size();
    buffer_.push_back(source | ReferenceGraph::kLast);
  }
  void add(uint32_t target) { buffer_.push_back(target); }
  void finish();
  void flush();
  uint64_t references() const { return references_; }

 private:
  static constexpr size_t kFlushAt = size_t{1} << 16;
  ReferenceGraph& graph_;
  std::vector<uint32_t> buffer_;
  std::vector<uint32_t> starts_;
  size_t start_ = 0;
  uint64_t references_ = 0;
};

}  // namespace hprof::tool
