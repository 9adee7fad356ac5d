#include "core/agent/vm/recent_methods.h"

#include "core/base/hash.h"

namespace hprof {

void RecentMethods::create(MemoryAccount& memory) {
  if (memory.is_fixed()) return;
  constexpr uint64_t kBytes = kEntries * sizeof(Entry);
  if (region_.create(memory, kBytes, Backing::kLazy) && !region_.cover(kBytes)) region_.destroy();
}

RecentMethods::Entry* RecentMethods::entry_of(jmethodID method) const {
  auto* entries = reinterpret_cast<Entry*>(region_.base());
  return entries != nullptr ? entries + mix64(reinterpret_cast<uintptr_t>(method)) % kEntries : nullptr;
}

uint32_t RecentMethods::check_of(jmethodID method, uint32_t epoch, uint32_t id) {
  return static_cast<uint32_t>(
      mix64(reinterpret_cast<uintptr_t>(method) ^ mix64(uint64_t{epoch} << 32 | id)));
}

MethodId RecentMethods::find(jmethodID method, uint32_t epoch) const {
  const Entry* entry = entry_of(method);
  if (entry == nullptr ||
      entry->method.load(std::memory_order_relaxed) != reinterpret_cast<uintptr_t>(method))
    return MethodId::kNone;
  const uint32_t id = entry->id.load(std::memory_order_relaxed);
  const bool is_whole = entry->check.load(std::memory_order_relaxed) == check_of(method, epoch, id);
  return is_whole ? MethodId{id} : MethodId::kNone;
}

void RecentMethods::put(jmethodID method, uint32_t epoch, MethodId id) {
  Entry* entry = entry_of(method);
  if (entry == nullptr) return;
  entry->method.store(reinterpret_cast<uintptr_t>(method), std::memory_order_relaxed);
  entry->id.store(static_cast<uint32_t>(id), std::memory_order_relaxed);
  entry->check.store(check_of(method, epoch, static_cast<uint32_t>(id)), std::memory_order_relaxed);
}

}  // namespace hprof
