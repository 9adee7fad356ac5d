#include "allocating_threads.h"

#include <new>

namespace hprof::sites {

bool AllocatingThreads::open(const Services& services) {
  services_ = services;
  return threads_.open(services, kFirstSlots, kMostSlots);
}

void AllocatingThreads::close() {
  AllocatingThread* next;
  for (AllocatingThread* thread = last_made_.load(std::memory_order_relaxed); thread != nullptr;
       thread = next) {
    next = thread->made_before;
    stacks_.close_thread(&thread->stacks);
    thread->counts.close();
    thread->log.close(services_);
    services_.release(thread->followed.open, 1);
    services_.release(thread, 1);
  }
  last_made_.store(nullptr, std::memory_order_relaxed);
  free_ = nullptr;
  threads_.close();
}

AllocatingThread* AllocatingThreads::take_free() {
  LockGuard guard(free_lock_, services_);
  AllocatingThread* thread = free_;
  if (thread != nullptr) free_ = thread->next_free;
  return thread;
}

AllocatingThread* AllocatingThreads::make() {
  auto* memory = services_.allocate<AllocatingThread>(1);
  if (memory == nullptr) return nullptr;
  auto* thread = new (memory) AllocatingThread();
  if (!thread->counts.open(services_, kFirstCounts, kMostCounts)) {
    services_.release(thread, 1);
    return nullptr;
  }
  thread->made_before = last_made_.load(std::memory_order_relaxed);
  while (!last_made_.compare_exchange_weak(thread->made_before, thread, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  return thread;
}

AllocatingThread* AllocatingThreads::take(const void* env) {
  std::atomic<AllocatingThread*>* entry = threads_.make(reinterpret_cast<uintptr_t>(env));
  if (entry == nullptr) return nullptr;
  AllocatingThread* thread = take_free();
  if (thread == nullptr) thread = make();
  entry->store(thread, std::memory_order_relaxed);
  return thread;
}

Count* AllocatingThreads::count_of(AllocatingThread* thread, uint32_t site) {
  Count* count = thread->counts.make(site);
  if (count != nullptr) count->site = site;
  return count;
}

}  // namespace hprof::sites
