#include "object_traces.h"

#include <algorithm>
#include <utility>

#include "radix_sort.h"

namespace hprof::dump {

bool AddressTable::open(const Services* services, uint64_t most) {
  if (most >= UINT32_MAX) most = UINT32_MAX - 1;
  services_ = services;
  count_ = next_ = 0;
  is_full_ = false;
  return entries_.open(*services, most);
}

void AddressTable::close() {
  entries_.close();
  buckets_.close();
  count_ = next_ = 0;
}

bool AddressTable::add(uint64_t address, uint32_t trace) {
  const bool is_object =
      address != 0 && address >> kMostAddressBits == 0 && (address & ((1u << kAlignBits) - 1)) == 0;
  if (!is_object || trace >= kMostTraces) return false;
  is_full_ = is_full_ || !entries_.cover(count_ + 1);
  if (is_full_) return false;
  entries_[count_++] = address >> kAlignBits << kTraceBits | trace;
  return true;
}

void AddressTable::sort() {
  bool is_sorted = true;
  uint64_t differing = 0;
  for (uint64_t i = 1; i < count_; i++) {
    is_sorted = is_sorted && entries_[i - 1] <= entries_[i];
    differing |= entries_[i] ^ entries_[0];
  }
  if (is_sorted) return;
  LazyTable<uint64_t> spare;
  if (!spare.open(*services_, entries_.most()) || !spare.cover(count_)) {
    std::sort(entries_.data(), entries_.data() + count_);
  } else {
    uint32_t bits = kTraceBits;
    while (bits < 64 && differing >> bits != 0) bits++;
    const uint64_t* sorted = radix_sort(entries_.data(), spare.data(), count_, kTraceBits, bits);
    if (sorted == spare.data()) std::swap(entries_, spare);
  }
  spare.close();
}

bool AddressTable::finish() {
  if (count_ == 0) return true;
  sort();
  const uint64_t buckets = 1 + (count_ > kFirstBuckets ? count_ : kFirstBuckets);
  if (!buckets_.open(*services_, buckets) || !buckets_.cover(buckets)) {
    count_ = 0;
    return false;
  }
  lowest_ = address_at(0);
  highest_ = address_at(count_ - 1);
  shift_ = kAlignBits;
  while (bucket_of(highest_) + 1 >= buckets_.most()) shift_++;
  uint64_t next = 0;  // the first bucket without a first entry so far
  for (uint64_t i = 0; i < count_; i++) {
    for (const uint64_t bucket = bucket_of(address_at(i)); next <= bucket; next++) {
      buckets_[next] = static_cast<uint32_t>(i);
    }
  }
  buckets_[next] = static_cast<uint32_t>(count_);
  return true;
}

uint32_t AddressTable::find(uint64_t address) {
  if (count_ == 0 || address < lowest_ || address > highest_) return 0;
  // A search begins where the last one ended, since a heap is usually walked upwards.
  const bool is_next =
      (next_ == 0 || address_at(next_ - 1) < address) && (next_ == count_ || address_at(next_) >= address);
  if (!is_next) {
    const uint64_t bucket = bucket_of(address);
    const uint64_t* begin = entries_.data() + buckets_[bucket];
    const uint64_t* end = entries_.data() + buckets_[bucket + 1];
    const uint64_t least = address >> kAlignBits << kTraceBits;
    next_ = static_cast<uint64_t>(std::lower_bound(begin, end, least) - entries_.data());
  }
  if (next_ == count_ || address_at(next_) != address) return 0;
  return static_cast<uint32_t>(entries_[next_++] & (kMostTraces - 1));
}

bool ObjectTraces::begin(const DumpServices* services) {
  services_ = services;
  const hprof_host* host = services->host;
  if (!HPROF_HAS(host, hprof_host, find_extension)) return false;
  table_ = static_cast<const hprof_object_traces*>(
      host->find_extension(host, nullptr, HPROF_EXTENSION_OBJECT_TRACES));
  if (table_ == nullptr || !HPROF_HAS(table_, hprof_object_traces, end)) return false;
  followed_ = table_->begin();
  begun_ = followed_ != 0;
  return begun_;
}

bool ObjectTraces::knows_addresses(void* jvmti, void* jni) const {
  const hprof_weaks_service* weaks = services_->weaks;
  return weaks != nullptr && weaks->prove_addresses(services_->host, jvmti, jni) != 0;
}

// False: there is no room for another.
bool ObjectTraces::add_trace(hprof_trace_serial serial) {
  if (serial == last_added_) return true;
  last_added_ = serial;
  if (number_of(serial) != kUndefined) return true;
  const bool room = trace_count_ + 1 < kUndefined && serials_.cover(trace_count_ + 2);
  uint32_t* at = room ? numbers_.at(serial) : nullptr;
  if (at == nullptr) return false;
  *at = ++trace_count_;
  serials_[*at] = serial;
  return true;
}

hprof_status ObjectTraces::define(How how) {
  const Services& s = *services_;
  close_tables();  // of another engine, which failed
  const bool room = serials_.open(s, AddressTable::kMostTraces) && numbers_.open(services_) &&
                    (how == How::kByAddress || by_tag_.open(services_));
  if (!room) {
    give_up();
    return HPROF_OK;
  }
  table_->each(this, [](void* self, void*, hprof_trace_serial serial) {
    static_cast<ObjectTraces*>(self)->add_trace(serial);
  });
  hprof_status status = HPROF_OK;
  for (uint32_t i = 1; i <= trace_count_ && status == HPROF_OK; i++)
    status = s.emit->define(s.host, HPROF_RECORD_TRACE, serials_[i]);
  how_ = how;
  return status;
}

// The dump continues without traces.
void ObjectTraces::give_up() {
  by_address_.close();
  how_ = How::kNone;
  services_->log->message(services_->host, "out of memory: the heap dump has no allocation sites");
}

void ObjectTraces::take_addresses() {
  if (how_ == How::kNone) return;
  // More than at the beginning of the dump: an object being allocated may come twice. Address space only.
  constexpr uint64_t kMore = 1u << 20;
  if (!by_address_.open(services_, 2 * followed_ + kMore)) return give_up();
  table_->each(this, [](void* argument, void* weak, hprof_trace_serial serial) {
    auto* self = static_cast<ObjectTraces*>(argument);
    const DumpServices& s = *self->services_;
    const uint64_t address = s.weaks->address(s.host, weak);
    if (address != 0) self->by_address_.add(address, self->number_of(serial));
  });
  if (by_address_.is_full() || !by_address_.finish()) give_up();
}

void ObjectTraces::end() {
  if (begun_) table_->end();
  begun_ = false;
  if (services_ != nullptr) close_tables();
}

void ObjectTraces::close_tables() {
  by_address_.close();
  by_tag_.close();
  numbers_.close();
  serials_.close();
  trace_count_ = 0;
  last_added_ = 0;
  how_ = How::kNone;
}

}  // namespace hprof::dump
