#include "site_table.h"

namespace hprof::sites {

bool SiteTable::open(const Services& services, uint32_t most) {
  services_ = services;
  most_ = most;
  return numbers_.open(services, kFirstSlots, kMostSites + 1);
}

void SiteTable::close() {
  sites_.close(services_);
  numbers_.close();
}

// The key is added first, then the site. If two threads make it at once, one of them inserts its own.
uint32_t SiteTable::find(uint32_t owner, uint32_t trace) {
  std::atomic<uint32_t>* number = numbers_.make(uint64_t{owner} << 32 | trace);
  if (number == nullptr) return 0;
  uint32_t known = number->load(std::memory_order_acquire);
  if (known != 0) return known;
  Site* site = sites_.take(services_, most_);
  if (site == nullptr) return 0;
  site->owner = owner;
  site->trace = trace;
  if (number->compare_exchange_strong(known, site->number, std::memory_order_acq_rel)) return site->number;
  sites_.give_back(site);
  return known;
}

}  // namespace hprof::sites
