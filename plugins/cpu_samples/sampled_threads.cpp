#include "sampled_threads.h"

namespace hprof::samples {

// Backtracks on a mismatch: the last `*` takes one character more.
static bool covers_one(const char* pattern, const char* end, hprof_text name) {
  const char* star = nullptr;
  uint64_t at = 0, star_at = 0;
  while (at < name.size) {
    if (pattern != end && *pattern == '*') {
      star = ++pattern;
      star_at = at;
    } else if (pattern != end && *pattern == name.data[at]) {
      pattern++;
      at++;
    } else if (star != nullptr) {
      pattern = star;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (pattern != end && *pattern == '*') pattern++;
  return pattern == end;
}

bool covers(const char* pattern, hprof_text name) {
  if (pattern == nullptr || *pattern == '\0') return true;
  for (;; pattern++) {
    const char* end = pattern;
    while (*end != '\0' && *end != ':') end++;
    if (covers_one(pattern, end, name)) return true;
    if (*end == '\0') return false;
    pattern = end;
  }
}

SampledThread* SampledThreads::find(const hprof_thread* thread) {
  auto* entry = static_cast<SampledThread*>(__atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE));
  bool is_its = entry != nullptr && entry->serial.load(std::memory_order_acquire) == thread->serial;
  return is_its ? entry : nullptr;
}

// The control thread may make an entry for a thread that is just making one: only one gets into the slot.
SampledThread* SampledThreads::get(const Services& services, hprof_thread* thread, bool sampled,
                                   bool* is_new) {
  *is_new = false;
  void* before = __atomic_load_n(&thread->slot, __ATOMIC_ACQUIRE);
  if (SampledThread* known = find(thread)) return known;
  SampledThread* entry = entries_.take(services);
  if (entry == nullptr) return nullptr;
  entry->generation.fetch_add(1, std::memory_order_relaxed);
  entry->sampled.store(sampled ? 1 : 0, std::memory_order_relaxed);
  entry->by_jvmti.store(0, std::memory_order_relaxed);
  entry->os_id.store(thread->os_id, std::memory_order_relaxed);
  entry->cpu_seen.store(kCpuNotSeen, std::memory_order_relaxed);
  entry->cpu_open.store(0, std::memory_order_relaxed);
  entry->due.store(kNeverDue, std::memory_order_relaxed);
  entry->moments_number.store(0, std::memory_order_relaxed);
  entry->moments_from.store(0, std::memory_order_relaxed);
  entry->read_ns.store(services.clock->monotonic(services.host), std::memory_order_relaxed);
  entry->serial.store(thread->serial, std::memory_order_release);
  *is_new = __atomic_compare_exchange_n(&thread->slot, &before, static_cast<void*>(entry), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (*is_new) return entry;
  hprof_cpu_timer* none = nullptr;
  give_back(services, entry, thread->serial, &none);
  return find(thread);
}

bool SampledThreads::give_back(const Services& services, SampledThread* entry, hprof_thread_serial serial,
                               hprof_cpu_timer** timer) {
  {
    LockGuard guard(entry->lock, services);
    if (entry->serial.load(std::memory_order_relaxed) != serial) return false;
    *timer = entry->timer.exchange(nullptr, std::memory_order_relaxed);
    entry->serial.store(0, std::memory_order_release);
  }
  entries_.give_back(entry);
  return true;
}

}  // namespace hprof::samples
