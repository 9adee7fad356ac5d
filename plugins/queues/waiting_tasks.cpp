#include "waiting_tasks.h"

namespace hprof::queues {

static_assert(WaitingTasks::kBuckets == 1u << (32 - 18), "see bucket_of");

bool WaitingTasks::open(const Services& services) {
  services_ = services;
  buckets_ = services.allocate<Bucket>(kBuckets);
  return buckets_ != nullptr;
}

void WaitingTasks::close() {
  services_.release(buckets_, kBuckets);
  buckets_ = nullptr;
  entries_.close(services_);
}

bool WaitingTasks::add(const Task& task) {
  Entry* entry = entries_.take(services_);
  if (entry == nullptr) return false;
  entry->task = task;
  entry->next = 0;
  Bucket& bucket = bucket_of(task.hash);
  const LockGuard guard(bucket.lock, services_);
  if (bucket.first == 0) {
    bucket.first = entry->number;
  } else {
    entries_[bucket.last].next = entry->number;
  }
  bucket.last = entry->number;
  return true;
}

bool WaitingTasks::has(uint32_t hash) {
  Bucket& bucket = bucket_of(hash);
  const LockGuard guard(bucket.lock, services_);
  uint32_t at = bucket.first;
  while (at != 0 && entries_[at].task.hash != hash) at = entries_[at].next;
  return at != 0;
}

bool WaitingTasks::take(uint32_t hash, bool last, Task* task) {
  Bucket& bucket = bucket_of(hash);
  Entry* found = nullptr;
  {
    const LockGuard guard(bucket.lock, services_);
    uint32_t before = 0, before_found = 0;
    for (uint32_t at = bucket.first; at != 0 && (found == nullptr || last); at = entries_[at].next) {
      if (entries_[at].task.hash == hash) {
        found = &entries_[at];
        before_found = before;
      }
      before = at;
    }
    if (found == nullptr) return false;
    (before_found != 0 ? entries_[before_found].next : bucket.first) = found->next;
    if (bucket.last == found->number) bucket.last = before_found;
  }
  *task = found->task;
  entries_.give_back(found);
  return true;
}

}  // namespace hprof::queues
