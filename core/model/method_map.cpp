// The method book: which class a jmethodID belongs to, and its MethodId once it was resolved.
#include "core/model/method_map.h"

#include "core/base/hash.h"

namespace hprof {

bool MethodMap::create(MemoryAccount& memory, uint32_t capacity, Backing backing) {
  if (!region_.create(memory, room(capacity), backing)) return false;
  if (!region_.cover(kRoots * sizeof(uint32_t))) {
    region_.destroy();
    return false;
  }
  capacity_ = capacity;
  return true;
}

void MethodMap::destroy() {
  region_.destroy();
  capacity_ = 0;
  next_.store(0, std::memory_order_relaxed);
  live_.store(0, std::memory_order_relaxed);
}

// False: it is being changed.
bool MethodMap::read(const Node& node, Copy* copy) {
  for (;;) {
    copy->version = node.version.load(std::memory_order_acquire);
    if (copy->version & 1) return false;
    copy->key = node.key.load(std::memory_order_acquire);
    copy->value = node.value.load(std::memory_order_acquire);
    if (node.version.load(std::memory_order_relaxed) == copy->version) return true;
  }
}

// Changes a node that still is as it was seen. False: it is not.
bool MethodMap::write(Node& node, const Copy& seen, uintptr_t key, uint64_t value) {
  uint32_t version = seen.version;
  if (!node.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) return false;
  node.key.store(key, std::memory_order_release);
  node.value.store(value, std::memory_order_release);
  node.version.store(seen.version + 2, std::memory_order_release);
  return true;
}

// Says something else of a jmethodID that is there. False: look at the node again.
bool MethodMap::update(Node& node, const Copy& seen, MethodEntry entry) {
  const uint64_t value = value_of(entry);
  if (owner_of(seen.value) != entry.owner) return write(node, seen, seen.key, value);
  if (entry.method == MethodId::kNone || seen.value == value) return true;
  uint64_t old = seen.value;
  return node.value.compare_exchange_strong(old, value, std::memory_order_acq_rel);
}

uint32_t MethodMap::clear(Node& node, const Copy& seen) {
  if (!write(node, seen, 0, 0)) return 0;
  live_.fetch_sub(1, std::memory_order_relaxed);
  return 1;
}

uint32_t MethodMap::take() {
  uint32_t last = next_.load(std::memory_order_relaxed);
  do {
    if (last >= capacity_) return 0;
    if (!region_.cover(kRoots * sizeof(uint32_t) + (uint64_t{last} + 2) * sizeof(Node))) return 0;
  } while (!next_.compare_exchange_weak(last, last + 1, std::memory_order_acq_rel));
  return last + 1;
}

// A node that was taken but is not needed becomes an empty one.
void MethodMap::link_empty(uint32_t id, std::atomic<uint32_t>* link, uint64_t path) {
  node(id).value.store(0, std::memory_order_relaxed);
  node(id).key.store(0, std::memory_order_relaxed);
  uint32_t there = 0;
  while (!link->compare_exchange_strong(there, id, std::memory_order_release, std::memory_order_acquire)) {
    link = &node(there).child[path >> 62];
    path <<= 2;
    there = 0;
  }
}

bool MethodMap::insert(const void* method_id, MethodEntry entry) {
  const uintptr_t key = reinterpret_cast<uintptr_t>(method_id);
  if (!key || !capacity_) return false;
  const uint64_t hash = mix64(key);
  uint32_t mine = 0;
  for (;;) {  // again from the root when another thread was faster with an empty node
    std::atomic<uint32_t>* link = root(hash);
    uint64_t path = hash << kRootBits;
    Node* empty = nullptr;
    Copy empty_seen{};
    uint32_t id = link->load(std::memory_order_acquire);
    for (;;) {
      if (!id) {
        if (empty) break;
        if (!mine) {
          if (!(mine = take())) return false;
          node(mine).value.store(value_of(entry), std::memory_order_relaxed);
          node(mine).key.store(key, std::memory_order_relaxed);
        }
        if (link->compare_exchange_strong(id, mine, std::memory_order_release, std::memory_order_acquire)) {
          live_.fetch_add(1, std::memory_order_relaxed);
          return true;
        }
      }
      Node& there = node(id);
      Copy copy;
      const bool stable = read(there, &copy);
      if (stable && copy.key == key) {
        if (!update(there, copy, entry)) continue;
        if (mine) link_empty(mine, &there.child[path >> 62], path << 2);
        return true;
      }
      if (stable && !copy.key && !empty) {
        empty = &there;
        empty_seen = copy;
      }
      link = &there.child[path >> 62];
      path <<= 2;
      id = link->load(std::memory_order_acquire);
    }
    if (!write(*empty, empty_seen, key, value_of(entry))) continue;
    live_.fetch_add(1, std::memory_order_relaxed);
    if (mine) link_empty(mine, root(hash), hash << kRootBits);
    return true;
  }
}

bool MethodMap::find(const void* method_id, MethodEntry* entry) const {
  const uintptr_t key = reinterpret_cast<uintptr_t>(method_id);
  *entry = {};
  if (!key || !capacity_) return false;
  const uint64_t hash = mix64(key);
  uint64_t path = hash << kRootBits;
  uint32_t id = root(hash)->load(std::memory_order_acquire);
  while (id) {
    const Node& there = node(id);
    Copy copy;
    if (read(there, &copy) && copy.key == key) {
      entry->method = MethodId{static_cast<uint32_t>(copy.value >> 32)};
      entry->owner = owner_of(copy.value);
      return true;
    }
    id = there.child[path >> 62].load(std::memory_order_acquire);
    path <<= 2;
  }
  return false;
}

}  // namespace hprof
