#include "allocating_threads.h"

#include <new>

namespace hprof::sites {

bool AllocatingThreads::open(const Services& services) {
  services_ = services;
  return threads_.open(services, kFirstSlots, kMostSlots);
}

void AllocatingThreads::close() {
  each([this](AllocatingThread& thread) {
    stacks_.close_thread(&thread.stacks);
    thread.counts.close();
    services_.release(thread.followed.open, 1);
    services_.release(&thread, 1);
  });
  threads_.close();
}

AllocatingThread* AllocatingThreads::make(const void* env) {
  std::atomic<AllocatingThread*>* state = threads_.make(reinterpret_cast<uintptr_t>(env));
  auto* memory = state != nullptr ? services_.allocate<AllocatingThread>(1) : nullptr;
  if (memory == nullptr) return nullptr;
  auto* thread = new (memory) AllocatingThread();
  if (!thread->counts.open(services_, kFirstCounts, kMostCounts)) {
    services_.release(thread, 1);
    return nullptr;
  }
  state->store(thread, std::memory_order_release);
  return thread;
}

Count* AllocatingThreads::count_of(AllocatingThread* thread, uint32_t site) {
  Count* count = thread->counts.make(site);
  if (count != nullptr) count->site = site;
  return count;
}

}  // namespace hprof::sites
