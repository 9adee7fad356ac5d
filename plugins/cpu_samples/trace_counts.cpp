// Trace -> number of samples.
#include "plugins/cpu_samples/trace_counts.h"

#include <cstring>

namespace hprof::samples {

static uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

TraceCounts::Entry* TraceCounts::find(hprof_trace_serial trace) const {
  uint64_t at = (trace * 0x9e3779b97f4a7c15ull) >> 20;
  for (;; at++) {
    Entry* entry = &entries_[at & (capacity_ - 1)];
    if (entry->trace == trace || entry->trace == 0) return entry;
  }
}

bool TraceCounts::grow(const Services& services) {
  uint64_t old_capacity = capacity_, capacity = old_capacity == 0 ? 1024 : old_capacity * 2;
  Entry* old = entries_;
  Entry* entries = services.allocate<Entry>(capacity);
  if (entries == nullptr) return false;
  entries_ = entries;
  capacity_ = capacity;
  for (uint64_t i = 0; i < old_capacity; i++) {
    if (old[i].trace != 0) *find(old[i].trace) = old[i];
  }
  services.release(old, old_capacity);
  return true;
}

void TraceCounts::add(const Services& services, hprof_trace_serial trace, uint64_t samples) {
  Entry* entry = capacity_ == 0 || trace == 0 ? nullptr : find(trace);
  if (trace != 0 && (entry == nullptr || entry->trace == 0)) {
    // A new trace: at most half of the table is used, so that a search always ends soon.
    if (size_ >= most_ || ((size_ + 1) * 2 > capacity_ && !grow(services))) {
      entry = nullptr;
    } else {
      entry = find(trace);
      entry->trace = trace;
      size_++;
    }
  }
  if (entry == nullptr) {
    overflow_ = saturating_add(overflow_, samples);
  } else {
    entry->samples = saturating_add(entry->samples, samples);
  }
}

void TraceCounts::clear() {
  if (entries_ != nullptr) memset(entries_, 0, capacity_ * sizeof(Entry));
  size_ = overflow_ = 0;
}

void TraceCounts::close(const Services& services) {
  services.release(entries_, capacity_);
  entries_ = nullptr;
  capacity_ = size_ = overflow_ = 0;
}

void TraceCounts::copy(hprof_cpu_row* rows) const {
  for (uint64_t i = 0; i < capacity_; i++) {
    if (entries_[i].trace != 0) *rows++ = {entries_[i].samples, 0, entries_[i].trace, 0};
  }
}

}  // namespace hprof::samples
