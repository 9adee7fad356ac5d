#include "object_facts.h"

namespace hprof::jvmpi {

void ObjectFacts::keep(uint64_t number, uint64_t cls, int64_t size) {
  constexpr int64_t kUnit = 8, kMost = INT32_MAX;
  if (cls > UINT32_MAX || size / kUnit > kMost) return;
  LockGuard guard(lock_, services_);
  if (!facts_.is_open() && (!facts_.open(services_) || !counts_.open(services_))) return facts_.close();
  ObjectFact* fact = facts_.make(number);
  uint32_t* count = counts_.make(number >> Pages<ObjectFact>::kPageBits);
  if (fact == nullptr || count == nullptr) return;
  if (fact->cls == 0) {
    (*count)++;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  fact->cls = static_cast<uint32_t>(cls);
  fact->units = static_cast<uint32_t>(size / kUnit) & INT32_MAX;
}

bool ObjectFacts::find(uint64_t number, ObjectFact* fact) const {
  LockGuard guard(lock_, services_);
  const ObjectFact* found = facts_.find(number);
  if (found == nullptr || found->cls == 0) return false;
  *fact = *found;
  return true;
}

bool ObjectFacts::mark_told(uint64_t number) {
  LockGuard guard(lock_, services_);
  ObjectFact* found = facts_.find(number);
  if (found == nullptr || found->cls == 0 || found->sent != 0) return false;
  found->sent = 1;
  return true;
}

bool ObjectFacts::forget(uint64_t number) {
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  LockGuard guard(lock_, services_);
  ObjectFact* found = facts_.find(number);
  if (found == nullptr || found->cls == 0) return false;
  const bool was_sent = found->sent != 0;
  *found = {};
  count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  if (--*counts_.find(number >> Pages<ObjectFact>::kPageBits) == 0) facts_.drop(number);
  return was_sent;
}

void ObjectFacts::close() {
  facts_.close();
  counts_.close();
}

}  // namespace hprof::jvmpi
