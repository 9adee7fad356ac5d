#include "plugins/heap_sites/thread_map.h"

#include <new>

namespace hprof::sites {

bool ThreadMap::open(const Services& services) {
  services_ = services;
  if (slots_ != nullptr) return true;
  for (room_ = kRoom; slots_ == nullptr && room_ >= kLeastRoom; room_ /= 2) {
    slots_ = static_cast<Slot*>(services.mem->reserve(services.host, room_ * sizeof(Slot)));
    if (slots_ != nullptr) break;
  }
  return slots_ != nullptr;
}

void ThreadMap::close() {
  ThreadState* state = first_.exchange(nullptr);
  while (state != nullptr) {
    ThreadState* next = state->next;
    state->recent.close();
    state->counts.close();
    services_.release(state->open, 1);
    services_.release(state->code, 1);
    services_.release(state, 1);
    state = next;
  }
  if (slots_ != nullptr) services_.mem->unreserve(services_.host, slots_, room_ * sizeof(Slot));
  slots_ = nullptr;
}

ThreadState* ThreadMap::make() {
  auto* memory = services_.allocate<ThreadState>(1);
  if (memory == nullptr) return nullptr;
  auto* state = new (memory) ThreadState();
  state->recent.open(services_);
  state->counts.open(services_);
  ThreadState* head = first_.load(std::memory_order_relaxed);
  do {
    state->next = head;
  } while (!first_.compare_exchange_weak(head, state, std::memory_order_release, std::memory_order_relaxed));
  return state;
}

// Slots are taken and never given back.
ThreadState* ThreadMap::search(const void* env, uint64_t at) {
  for (uint32_t i = 0; i < kMostProbes; i++, at = (at + 1) & (room_ - 1)) {
    const void* found = slots_[at].env.load(std::memory_order_acquire);
    if (found == nullptr && slots_[at].env.compare_exchange_strong(found, env)) found = env;
    if (found != env) continue;
    ThreadState* state = slots_[at].state.load(std::memory_order_relaxed);
    if (state == nullptr && (state = make()) != nullptr)
      slots_[at].state.store(state, std::memory_order_relaxed);
    return state;
  }
  return nullptr;
}

}  // namespace hprof::sites
