#include "wall_threads.h"

namespace hprof::samples {

WallThread* WallThreads::find(const hprof_thread* thread) {
  auto* place = static_cast<WallThread*>(__atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE));
  const bool is_its = place != nullptr && place->serial.load(std::memory_order_acquire) == thread->serial;
  return is_its ? place : nullptr;
}

// The control thread may add a thread that is just starting and adds itself: one of the two places gets into
// the slot, the other is ended unused.
bool WallThreads::add(const Services& services, hprof_thread* thread, jweak reference, bool sampled,
                      bool of_jdk, uint64_t now) {
  void* before = __atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE);
  WallThread* place = places_.take(services);
  if (place == nullptr) return false;
  place->sampled.store(0, std::memory_order_relaxed);
  place->os_id = thread->os_id;
  place->of_jdk = of_jdk;
  place->reference = reference;
  place->seen_ns = now;
  place->open_ns = 0;
  place->trace = 0;
  place->is_idle = false;
  live_.fetch_add(1, std::memory_order_relaxed);
  place->serial.store(thread->serial, std::memory_order_release);
  const bool is_first = __atomic_compare_exchange_n(&thread->slot, &before, static_cast<void*>(place), false,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (!is_first) end(place, thread->serial, now);
  if (is_first && sampled) place->sampled.store(1, std::memory_order_relaxed);
  return true;
}

bool WallThreads::end(WallThread* place, hprof_thread_serial serial, uint64_t now) {
  uint32_t expected = serial;
  if (serial == 0 || !place->serial.compare_exchange_strong(expected, 0, std::memory_order_acq_rel))
    return false;
  live_.fetch_sub(1, std::memory_order_relaxed);
  place->ended_ns = now;
  place->ended.store(serial, std::memory_order_release);
  return true;
}

}  // namespace hprof::samples
