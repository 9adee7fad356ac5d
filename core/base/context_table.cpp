#include "core/base/context_table.h"

#include <cstring>

namespace hprof {

bool ContextTable::open(MemoryAccount& memory) {
  if (is_open()) return true;
  count_ = kMost;
  while (count_ > kFewest && count_ * sizeof(Place) > memory.budget() / kShare) count_ /= 2;
  places_ = static_cast<Place*>(memory.allocate(count_ * sizeof(Place)));
  return is_open();
}

void ContextTable::close(MemoryAccount& memory) {
  memory.release(places_, count_ * sizeof(Place));
  places_ = nullptr;
}

// The first place of the thread that has that owner; nullptr: none.
ContextTable::Place* ContextTable::find(uint32_t thread, uint32_t owner) const {
  const uint32_t start = (thread * 2654435769u) >> 16;
  for (uint32_t i = 0; places_ != nullptr && thread != 0 && i < kProbes; i++) {
    Place* place = &places_[(start + i) & (count_ - 1)];
    if (place->owner.load(std::memory_order_acquire) == owner) return place;
  }
  return nullptr;
}

void ContextTable::write(Place* place, const hprof_context& context) {
  uint32_t words[kWords];
  memcpy(words, &context, sizeof(words));
  const uint32_t sequence = place->sequence.load(std::memory_order_relaxed);
  place->sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (uint32_t i = 0; i < kWords; i++) place->words[i].store(words[i], std::memory_order_relaxed);
  place->sequence.store(sequence + 2, std::memory_order_release);
}

bool ContextTable::set(uint32_t thread, const hprof_context& context) {
  Place* place = find(thread, thread);
  while (place == nullptr) {
    uint32_t none = 0;
    place = find(thread, 0);
    if (place == nullptr) return false;
    if (!place->owner.compare_exchange_strong(none, thread, std::memory_order_acq_rel)) place = nullptr;
  }
  write(place, context);
  return true;
}

void ContextTable::clear(uint32_t thread) {
  Place* place = find(thread, thread);
  if (place == nullptr) return;
  write(place, {});
  place->owner.store(0, std::memory_order_release);
}

bool ContextTable::read(uint32_t thread, hprof_context* context) const {
  const Place* place = find(thread, thread);
  if (place == nullptr) return false;
  const uint32_t sequence = place->sequence.load(std::memory_order_acquire);
  uint32_t words[kWords];
  for (uint32_t i = 0; i < kWords; i++) words[i] = place->words[i].load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  memcpy(context, words, sizeof(words));
  // Another thread may have the place by now.
  return context->size != 0 && sequence % 2 == 0 &&
         place->sequence.load(std::memory_order_relaxed) == sequence &&
         place->owner.load(std::memory_order_relaxed) == thread;
}

}  // namespace hprof
