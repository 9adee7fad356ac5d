#include "plugins/heap_sites/site_table.h"

namespace hprof::sites {

bool SiteTable::open(const Services& services, uint32_t most) {
  services_ = services;
  most_ = most;
  buckets_ = services.allocate<uint32_t>(kBuckets);
  return buckets_ != nullptr;
}

void SiteTable::close() {
  sites_.close(services_);
  services_.release(buckets_, kBuckets);
  buckets_ = nullptr;
  last_.store(0, std::memory_order_release);
}

uint32_t SiteTable::find(uint32_t owner, uint32_t trace) {
  uint32_t& bucket = buckets_[mix(owner, trace) >> 40 & (kBuckets - 1)];
  SpinGuard guard(lock_);
  for (uint32_t at = bucket; at != 0; at = sites_[at].next) {
    if (sites_[at].owner == owner && sites_[at].trace == trace) return at;
  }
  uint32_t number = last_.load(std::memory_order_relaxed) + 1;
  if (number > most_ || !sites_.cover(services_, number)) return 0;
  sites_[number].owner = owner;
  sites_[number].trace = trace;
  sites_[number].next = bucket;
  bucket = number;
  last_.store(number, std::memory_order_release);
  return number;
}

}  // namespace hprof::sites
