#include "plugins/heap_sites/allocating_threads.h"

#include <new>

namespace hprof::sites {

bool AllocatingThreads::open(const Services& services) {
  services_ = services;
  return threads_.open(services, kFirstSlots, kMostSlots);
}

void AllocatingThreads::close() {
  each([this](AllocatingThread& thread) {
    thread.recent.close();
    thread.names.close(services_);
    thread.counts.close();
    services_.release(thread.open, 1);
    hprof_walk_thread& walk = thread.walk;
    if (walk.seen != nullptr)
      services_.release(static_cast<uint8_t*>(walk.seen), services_.hotspot->seen_code_bytes);
    if (walk.chains != nullptr)
      services_.release(static_cast<uint8_t*>(walk.chains), services_.hotspot->stack_chains_bytes);
    services_.release(&thread, 1);
  });
  threads_.close();
}

AllocatingThread* AllocatingThreads::make(const void* env) {
  std::atomic<AllocatingThread*>* place = threads_.make(reinterpret_cast<uintptr_t>(env));
  auto* memory = place != nullptr ? services_.allocate<AllocatingThread>(1) : nullptr;
  if (memory == nullptr) return nullptr;
  auto* thread = new (memory) AllocatingThread();
  thread->recent.open(services_);
  if (!thread->counts.open(services_, kFirstCounts, kMostCounts)) {
    services_.release(thread, 1);
    return nullptr;
  }
  place->store(thread, std::memory_order_release);
  return thread;
}

Count* AllocatingThreads::count_of(AllocatingThread* thread, uint32_t site) {
  Count* count = thread->counts.make(site);
  if (count != nullptr) count->site = site;
  return count;
}

}  // namespace hprof::sites
