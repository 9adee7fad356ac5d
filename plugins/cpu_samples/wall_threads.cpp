#include "wall_threads.h"

namespace hprof::samples {

WallThread* WallThreads::find(const hprof_thread* thread) {
  auto* entry = static_cast<WallThread*>(__atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE));
  const bool is_its = entry != nullptr && entry->serial.load(std::memory_order_acquire) == thread->serial;
  return is_its ? entry : nullptr;
}

// The control thread may add a thread that is just starting and adds itself: one of the two entries gets into
// the slot, the other is ended unused.
bool WallThreads::add(const Services& services, hprof_thread* thread, jweak reference, bool sampled,
                      bool of_jdk, uint64_t now) {
  void* before = __atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE);
  WallThread* entry = entries_.take(services);
  if (entry == nullptr) return false;
  entry->sampled.store(0, std::memory_order_relaxed);
  entry->os_id = thread->os_id;
  entry->of_jdk = of_jdk;
  entry->reference = reference;
  entry->seen_ns = now;
  entry->open_ns = 0;
  entry->trace = 0;
  entry->is_idle = false;
  live_.fetch_add(1, std::memory_order_relaxed);
  entry->serial.store(thread->serial, std::memory_order_release);
  const bool is_first = __atomic_compare_exchange_n(&thread->slot, &before, static_cast<void*>(entry), false,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (!is_first) end(entry, thread->serial, now);
  if (is_first && sampled) entry->sampled.store(1, std::memory_order_relaxed);
  return true;
}

bool WallThreads::end(WallThread* entry, hprof_thread_serial serial, uint64_t now) {
  uint32_t expected = serial;
  if (serial == 0 || !entry->serial.compare_exchange_strong(expected, 0, std::memory_order_acq_rel))
    return false;
  live_.fetch_sub(1, std::memory_order_relaxed);
  entry->ended_ns = now;
  entry->ended.store(serial, std::memory_order_release);
  return true;
}

}  // namespace hprof::samples
