// The method book: which class a jmethodID belongs to, and its MethodId once it was resolved.
#pragma once

#include <atomic>

#include "core/base/region.h"
#include "core/model/ids.h"

namespace hprof {

// What the book says of a jmethodID.
struct MethodEntry {
  MethodId method = MethodId::kNone;  // kNone: not resolved yet
  ClassToken owner{};
};

// A jmethodID of an unloaded class must not be given to JVMTI. So each jmethodID is entered with a token of
// its class when the class is prepared, and taken out after the class has gone. The tokens are the caller's:
// whatever finds the weak reference by which the class can be held.
//
// Before a jmethodID is given to JVMTI:  find -> token; hold the class of the token (null: gone); find again.
// If the second answer has the same token, the jmethodID is of the class that is now held. (Tokens may be
// used again after sweep() has taken out all entries with them.)
//
// The entries are the nodes of a hash trie like InternTable's, except that they can be emptied: a node whose
// entry was taken out stays where it is and is used again by the next jmethodID whose path leads over it. So
// the number of nodes follows the most jmethodIDs that were alive at a time, not how many there have ever
// been.
//
// Protocol.
//  - Paths: links change once, from 0, by compare-and-swap (release) to a node that is filled in.
//  - Contents: `version` is odd while somebody changes key and value; who makes it odd by a compare-and-swap
//  owns the
//    node until he makes it even again (release). Readers copy between two equal, even versions. A node that
//    is being changed counts as "not this one" to everybody else; nobody waits for it. Only the MethodId of
//    an entry whose class the caller holds is set without that, by a compare-and-swap of the whole value.
//  - So two threads that enter the same jmethodID at the same time may leave two entries for it. They say the
//  same, as
//    a jmethodID has one class; sweep() takes out both.
//  - A jmethodID that is there with another token was used again by the VM: the new token takes its place.
//  - Only one thread at a time sweeps. A class is not entered and swept at the same time: who enters holds
//  the class.
class MethodMap {
 public:
  constexpr MethodMap() = default;

  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing);  // [onload]
  void destroy();                                                          // [control]

  // Enters a jmethodID, or changes what is said of it. method kNone leaves a MethodId of the same token as it
  // is. False: full, or the budget is used up, or nullptr. Lock-free. [onload][control][app]
  bool insert(const void* method_id, MethodEntry entry);

  // False: not in the book. Lock-free, no waiting. [any]
  bool find(const void* method_id, MethodEntry* entry) const;

  // Takes out all entries whose token gone(ClassToken) holds for, in one pass over all nodes: do many classes
  // at a time. Returns how many entries went. One thread at a time. [control]
  template <class Gone>
  uint32_t sweep(Gone gone) {
    uint32_t removed = 0;
    const uint32_t last = next_.load(std::memory_order_acquire);
    for (uint32_t i = 1; i <= last; ++i) {
      Node& candidate = node(i);
      Copy copy;
      if (read(candidate, &copy) && copy.key && gone(owner_of(copy.value))) removed += clear(candidate, copy);
    }
    return removed;
  }

  uint32_t count() const { return live_.load(std::memory_order_relaxed); }  // entries
  uint32_t nodes() const { return next_.load(std::memory_order_relaxed); }  // and empty nodes
  uint32_t capacity() const { return capacity_; }
  uint64_t charged() const { return region_.charged(); }
  static uint64_t room(uint32_t capacity) {
    return kRoots * sizeof(uint32_t) + (uint64_t{capacity} + 1) * sizeof(Node);
  }

 private:
  struct Node {
    std::atomic<uint64_t> value;    // MethodId in the upper half, ClassToken in the lower
    std::atomic<uintptr_t> key;     // 0: empty
    std::atomic<uint32_t> version;  // odd: being changed
    std::atomic<uint32_t> child[4];
  };
  struct Copy {
    uintptr_t key;
    uint64_t value;
    uint32_t version;
  };
  static constexpr uint32_t kRootBits = 10;
  static constexpr uint32_t kRoots = 1u << kRootBits;

  static uint64_t value_of(MethodEntry entry) { return uint64_t{raw(entry.method)} << 32 | raw(entry.owner); }
  static ClassToken owner_of(uint64_t value) { return ClassToken{static_cast<uint32_t>(value)}; }

  std::atomic<uint32_t>* root(uint64_t hash) const {
    return reinterpret_cast<std::atomic<uint32_t>*>(region_.base()) + (hash >> (64 - kRootBits));
  }
  Node& node(uint32_t id) const {
    return reinterpret_cast<Node*>(region_.base() + kRoots * sizeof(uint32_t))[id];
  }

  static bool read(const Node& node, Copy* copy);
  static bool write(Node& node, const Copy& seen, uintptr_t key, uint64_t value);
  static bool update(Node& node, const Copy& seen, MethodEntry entry);
  uint32_t clear(Node& node, const Copy& seen);
  uint32_t take();
  void link_empty(uint32_t id, std::atomic<uint32_t>* link, uint64_t path);

  Region region_;
  uint32_t capacity_ = 0;
  std::atomic<uint32_t> next_{0};
  std::atomic<uint32_t> live_{0};
};

}  // namespace hprof
