#include "core/model/method_map.h"

namespace hprof {
namespace {

uint64_t key_of(const void* method_id) { return reinterpret_cast<uintptr_t>(method_id); }

}  // namespace

// Copies a node that was reached from a chain. False: it is no longer in that chain.
bool MethodMap::read(uint32_t id, uint32_t chain, Copy* copy) const {
  const Node& there = node(id);
  const uint32_t version = there.version.load(std::memory_order_acquire);
  copy->key = there.key.load(std::memory_order_acquire);
  copy->value = there.value.load(std::memory_order_acquire);
  copy->next = there.next.load(std::memory_order_acquire);
  return !(version & 1) && there.version.load(std::memory_order_relaxed) == version &&
         chain_of(copy->key) == chain;
}

// The node of a jmethodID; 0: none. *head: the first node of the chain.
uint32_t MethodMap::search(uint64_t key, uint32_t chain, uint32_t* head, Copy* copy) const {
  for (;;) {
    *head = slots_.roots()[chain].load(std::memory_order_acquire);
    uint32_t id = *head;
    while (id && read(id, chain, copy)) {
      if (copy->key == key && copy->value != kDead) return id;
      id = copy->next;
    }
    if (!id) return 0;
  }
}

bool MethodMap::find(const void* method_id, MethodEntry* entry) const {
  *entry = {};
  if (!method_id || !slots_.capacity()) return false;
  uint32_t head;
  Copy copy;
  if (!search(key_of(method_id), chain_of(key_of(method_id)), &head, &copy)) return false;
  entry->method = MethodId{static_cast<uint32_t>(copy.value >> 32)};
  entry->owner = owner_of(copy.value);
  return true;
}

// Cold: for the methods of a class once, when it is prepared.
[[gnu::cold]] bool MethodMap::insert(const void* method_id, MethodEntry entry) {
  if (!method_id || !slots_.capacity()) return false;
  const uint64_t key = key_of(method_id);
  const uint64_t value = value_of(entry);
  const uint32_t chain = chain_of(key);
  uint32_t mine = 0;
  for (;;) {
    uint32_t head;
    Copy copy;
    const uint32_t id = search(key, chain, &head, &copy);
    if (id) {
      const bool known =
          owner_of(copy.value) == entry.owner && (entry.method == MethodId::kNone || copy.value == value);
      if (!known && !node(id).value.compare_exchange_strong(copy.value, value, std::memory_order_acq_rel))
        continue;
      if (mine) give(mine);
      return true;
    }
    if (!mine) {
      if (!(mine = slots_.take())) return false;
      Node& fresh = node(mine);
      fresh.key.store(key, std::memory_order_release);
      fresh.value.store(value, std::memory_order_release);
      fresh.next.store(head, std::memory_order_release);
      fresh.version.store((fresh.version.load(std::memory_order_relaxed) | 1) + 1, std::memory_order_release);
    } else {
      node(mine).next.store(head, std::memory_order_release);
    }
    if (slots_.roots()[chain].compare_exchange_strong(head, mine, std::memory_order_release,
                                                      std::memory_order_relaxed)) {
      return true;
    }
  }
}

[[gnu::cold]] void MethodMap::unlink(std::atomic<uint32_t>& root, uint32_t before, uint32_t id,
                                     uint32_t next) {
  if (!before) {
    uint32_t first = id;
    if (root.compare_exchange_strong(first, next, std::memory_order_acq_rel)) return;
    // Other threads may have added nodes in front; only this one removes any.
    for (uint32_t at = first; at != id; at = node(at).next.load(std::memory_order_acquire)) before = at;
  }
  node(before).next.store(next, std::memory_order_release);
}

void MethodMap::give(uint32_t id) {
  Node& there = node(id);
  there.version.store(there.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slots_.give(id);
}

}  // namespace hprof
