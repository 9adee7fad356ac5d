// The method book: which class a jmethodID belongs to, and its MethodId once it was resolved.
#pragma once

#include <atomic>

#include "core/base/hash.h"
#include "core/model/ids.h"
#include "core/model/numbered_slots.h"

namespace hprof {

// The book's entry for a jmethodID.
struct MethodEntry {
  MethodId method = MethodId::kNone;  // kNone: not resolved yet
  ClassToken owner{};
};

// A jmethodID of an unloaded class must not be passed to JVMTI. So each jmethodID is entered with a token of
// its class when the class is prepared, and removed after the class was unloaded. The tokens are the
// caller's: they find the weak reference by which it can hold the class.
//
// Before a jmethodID is given to JVMTI:  find -> token; hold the class of the token (null: gone); find again.
// If the second answer has the same token, the jmethodID is of the class that is now held. (Tokens may be
// used again after sweep() has taken out all entries with them.)
//
// A hash table of chains; nodes that were taken out are used again, so there are never more than the most
// jmethodIDs that were alive at a time, however many come and go.
//
// Protocol.
//  - Who writes: inserters put nodes in front of a chain, by a compare-and-swap (release) of its root; one
//    sweeper takes nodes out, so the links behind the root have one writer. It marks the value dead by a
//    compare-and-swap first: from then on nobody finds or changes the entry. Then it unlinks the node and
//    gives it back.
//  - Inserters change the entry of a jmethodID by a compare-and-swap of the value; token and MethodId are one
//  word.
//  - A node may be taken out and reused while a reader is on it. `version` is odd while the
//    node is free and grows with each use; the reader copies a node between two equal, even versions, and
//    goes on only if the key is one of its own chain: then the node's link leads on in this chain, from an
//    old place or from its front. Else it starts again. That happens only if another thread makes progress,
//    since an unchanged chain has only good nodes; so a signal handler that has interrupted a writer never
//    gets stuck.
//  - Two threads that enter the same jmethodID at the same time may, in an ABA case of the root, leave two
//    entries. They say the same, as a jmethodID has one class, and sweep() takes out both.
// A class is not entered and swept at the same time: the thread that enters it holds the class.
class MethodMap {
 public:
  constexpr MethodMap() = default;

  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing) {  // [onload]
    return slots_.create(memory, capacity, root_bits(capacity), backing);
  }
  void destroy() { slots_.destroy(); }  // [control]

  // Enters a jmethodID, or changes its entry: the VM has reused a jmethodID that has another token, so the
  // new token replaces it; method kNone keeps the MethodId of an equal token. False: full, or the budget is
  // used up, or nullptr. Lock-free. [onload][control][app]
  bool insert(const void* method_id, MethodEntry entry);

  // False: not in the book. Lock-free. [any]
  bool find(const void* method_id, MethodEntry* entry) const;

  // Removes all entries with gone(token), in one pass over the book, so pass many classes at a time. Returns
  // how many were removed. One thread at a time. [control]
  template <class Gone>
  uint32_t sweep(Gone gone) {
    uint32_t removed = 0;
    for (uint32_t chain = 0; slots_.capacity() && chain < 1u << slots_.root_bits(); ++chain) {
      uint32_t before = 0;
      for (uint32_t id = slots_.roots()[chain].load(std::memory_order_acquire); id;) {
        Node& candidate = node(id);
        const uint32_t next = candidate.next.load(std::memory_order_relaxed);
        uint64_t value = candidate.value.load(std::memory_order_acquire);
        if (gone(owner_of(value)) &&
            candidate.value.compare_exchange_strong(value, kDead, std::memory_order_acq_rel)) {
          unlink(slots_.roots()[chain], before, id, next);
          give(id);
          ++removed;
        } else {
          before = id;
        }
        id = next;
      }
    }
    return removed;
  }

  uint32_t nodes() const { return slots_.last(); }  // including free ones
  static uint64_t room(uint32_t capacity) {
    return NumberedSlots::room(capacity, root_bits(capacity), sizeof(Node));
  }

 private:
  struct Node {
    std::atomic<uint64_t> value;    // MethodId in the upper half, ClassToken in the lower; kDead: removed
    std::atomic<uint32_t> next;     // in the chain; the link of a free node
    std::atomic<uint32_t> version;  // odd: free
    std::atomic<uint64_t> key;      // the jmethodID
  };
  static_assert(sizeof(Node) == 24 && sizeof(std::atomic<uint64_t>) == NumberedSlots::kLinkAt,
                "zeroed memory is a Node, with its link where NumberedSlots expects it");
  struct Copy {
    uint64_t key;
    uint64_t value;
    uint32_t next;
  };
  static constexpr uint64_t kDead = UINT64_MAX;

  static uint64_t value_of(MethodEntry entry) { return uint64_t{raw(entry.method)} << 32 | raw(entry.owner); }
  static ClassToken owner_of(uint64_t value) { return ClassToken{static_cast<uint32_t>(value)}; }

  // One chain per 8 to 16 entries of a full book.
  static uint32_t root_bits(uint32_t capacity) {
    uint32_t bits = 4;
    while (capacity >> (bits + 4)) ++bits;
    return bits;
  }
  uint32_t chain_of(uint64_t key) const {
    return static_cast<uint32_t>(mix64(key) >> (64 - slots_.root_bits()));
  }
  Node& node(uint32_t id) const { return static_cast<Node*>(slots_.slots())[id]; }

  bool read(uint32_t id, uint32_t chain, Copy* copy) const;
  uint32_t search(uint64_t key, uint32_t chain, uint32_t* head, Copy* copy) const;
  void unlink(std::atomic<uint32_t>& root, uint32_t before, uint32_t id, uint32_t next);
  void give(uint32_t id);

  NumberedSlots slots_{sizeof(Node)};
};

}  // namespace hprof
