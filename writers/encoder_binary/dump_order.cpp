// Holds back what the VM writes too late or may not write, and puts it where readers expect it.
#include "dump_order.h"

#include <cstring>

#include <hprof/cpp/byte_order.hpp>

#include "binary.h"

namespace hprof::binary {

namespace {

constexpr uint32_t kHead = kRecordHead;
constexpr uint64_t kFillerId = 0x4e00000000000001;

}  // namespace

bool HeldBytes::open(const Services& services, uint64_t most) {
  size_ = 0;
  return bytes_.open(services, most);
}

uint8_t* HeldBytes::add(const void* bytes, uint64_t size) {
  if (size > bytes_.most() || !bytes_.cover(size_ + size)) return nullptr;
  uint8_t* to = bytes_.data() + size_;
  if (bytes != nullptr) std::memcpy(to, bytes, size);
  size_ += size;
  return to;
}

bool DumpOrder::open(const Services& services, const Encoder& encoder, hprof_foreign_dump* dump,
                     HeldBytes* scratch) {
  dump_ = dump;
  scratch_ = scratch;
  id_size_ = encoder.id_size;
  is_apart_ = (dump->flags & HPROF_FOREIGN_APART) != 0;
  filters_ = (dump->flags & HPROF_FOREIGN_NO_STRINGS) != 0;
  if (!definitions_.open(services) ||
      !trace_threads_.open(services, IdPositions::kThreads * sizeof(TraceThread)))
    return false;
  return !filters_ || (strings_.open(services) && classes_.open(services) && names_.open(services));
}

void DumpOrder::close() {
  definitions_.close();
  strings_.close();
  classes_.close();
  names_.close();
  trace_threads_.close();
}

hprof_status DumpOrder::fail(const char* why) {
  if (dump_->failure == nullptr) dump_->failure = why;
  return HPROF_FAILED;
}

hprof_status DumpOrder::add_definition(uint32_t tag, const uint8_t* body, uint32_t size) {
  if (filters_ || (is_apart_ && has_begun_)) return hold(definitions_, tag, body, size);
  return write(tag, size, body, size);
}

hprof_status DumpOrder::add_string(const uint8_t* body, uint32_t size) {
  return filters_ ? hold(strings_, kUtf8, body, size) : add_definition(kUtf8, body, size);
}

hprof_status DumpOrder::add_classes(const uint8_t* bytes, uint64_t size) {
  return classes_.add(bytes, size) != nullptr ? HPROF_OK : fail("no memory for the classes of the VM's dump");
}

hprof_status DumpOrder::hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size) {
  uint8_t* to = where.add(nullptr, kHead + uint64_t{size});
  if (to == nullptr) return fail("no memory for the strings of the VM's dump");
  to[0] = static_cast<uint8_t>(tag);
  put_u4(to + 1, 0);
  put_u4(to + 5, size);
  std::memcpy(to + kHead, body, size);
  return HPROF_OK;
}

// Puts the strings that are names in front of the definitions.
hprof_status DumpOrder::add_named_strings() {
  scratch_->clear();
  const uint8_t* at = strings_.data();
  const uint8_t* end = at + strings_.size();
  while (at < end) {
    const uint64_t size = kHead + uint64_t{get_u4(at + 5)};
    if (names_.find(id_at(at + kHead, id_size_)) != nullptr && scratch_->add(at, size) == nullptr)
      return fail("no memory for names");
    at += size;
  }
  if (scratch_->add(definitions_.data(), definitions_.size()) == nullptr) return fail("no memory for names");
  definitions_.clear();
  return definitions_.add(scratch_->data(), scratch_->size()) != nullptr ? HPROF_OK
                                                                         : fail("no memory for names");
}

hprof_status DumpOrder::write_held() {
  const uint8_t* at = definitions_.data();
  const uint8_t* end = at + definitions_.size();
  hprof_status status = HPROF_OK;
  while (at < end && status == HPROF_OK) {
    const uint32_t size = get_u4(at + 5);
    status = write(at[0], size, at + kHead, size);
    at += kHead + size;
  }
  definitions_.clear();
  return status;
}

hprof_status DumpOrder::begin_objects(uint32_t class_count) {
  has_begun_ = true;
  hprof_status status = HPROF_OK;
  if (is_apart_) {
    status = write_gap(class_count);
  } else if (filters_) {
    status = add_named_strings();
    if (status == HPROF_OK) status = write_held();
  }
  if (status != HPROF_OK || classes_.size() == 0) return status;
  return write(kHeapDumpSegment, static_cast<uint32_t>(classes_.size()), classes_.data(), classes_.size());
}

// Writes an unused string of blanks.
hprof_status DumpOrder::write_gap(uint32_t class_count) {
  if (!to_.out->can_patch()) return fail("the output cannot be put in order");
  gap_position_ = to_.out->position();
  gap_size_ = kGap;
  if (filters_) gap_size_ += strings_.size() / 4 + uint64_t{class_count} * 256;
  uint8_t id[8];
  put_u8(id, kFillerId);
  const uint32_t length = static_cast<uint32_t>(gap_size_ - kHead);
  hprof_status status = write(kUtf8, length, id + 8 - id_size_, id_size_);
  uint8_t blanks[4096];
  std::memset(blanks, ' ', sizeof(blanks));
  for (uint64_t left = length - id_size_; left != 0 && status == HPROF_OK;) {
    const uint64_t n = left < sizeof(blanks) ? left : sizeof(blanks);
    status = write_more(blanks, n);
    left -= n;
  }
  return status;
}

// Writes as many of the held records into the gap as fit; the others follow the dump.
hprof_status DumpOrder::fill_gap() {
  hprof_status status = filters_ ? add_named_strings() : HPROF_OK;
  if (status != HPROF_OK) return status;
  const uint8_t* data = definitions_.data();
  const uint64_t most = gap_size_ - kHead - id_size_;
  uint64_t fits = 0;
  for (uint64_t next = 0; next <= most; next += kHead + uint64_t{get_u4(data + next + 5)}) {
    fits = next;
    if (next == definitions_.size()) break;
  }
  scratch_->clear();
  uint8_t filler[kHead + 8] = {kUtf8};
  put_u4(filler + 5, static_cast<uint32_t>(gap_size_ - fits - kHead));
  put_id(filler + kHead, id_size_, kFillerId);
  if (scratch_->add(data, fits) == nullptr || scratch_->add(filler, kHead + id_size_) == nullptr) {
    return fail("no memory for the classes of the VM's dump");
  }
  uint8_t* at = scratch_->data();
  for (uint64_t next = 0; next < scratch_->size() - id_size_;) {
    put_u4(at + next + 1, to_.encoder->last_time);
    next += kHead + uint64_t{next < fits ? get_u4(at + next + 5) : 0};
  }
  to_.out->patch(gap_position_, scratch_->data(), scratch_->size());
  if (!to_.out->ok()) return to_.out->status();
  std::memmove(definitions_.data(), definitions_.data() + fits, definitions_.size() - fits);
  definitions_.cut(definitions_.size() - fits);
  return write_held();
}

hprof_status DumpOrder::end() { return is_apart_ ? fill_gap() : hprof_status{HPROF_OK}; }

void DumpOrder::patch_threads(const SubRecords& heap) {
  for (uint64_t at = 0; at < trace_threads_.size(); at += sizeof(TraceThread)) {
    TraceThread trace;
    std::memcpy(&trace, trace_threads_.data() + at, sizeof trace);
    const hprof_thread_serial serial = heap.find_thread(trace.vm_serial);
    uint8_t number[4];
    put_u4(number, kFirstThreadNumber + serial);
    if (serial != 0) to_.out->patch(trace.position, number, sizeof number);
  }
  uint8_t* end = definitions_.data() + definitions_.size();
  for (uint8_t* at = definitions_.data(); at < end; at += kHead + uint64_t{get_u4(at + 5)}) {
    const hprof_thread_serial serial = *at == kTrace ? heap.find_thread(get_u4(at + kHead + 4)) : 0;
    if (serial != 0) put_u4(at + kHead + 4, kFirstThreadNumber + serial);
  }
}

// tag: of a record with `length` bytes, the first `size` of which are here.
hprof_status DumpOrder::write(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size) {
  Encoder& encoder = *to_.encoder;
  write_head(encoder, *to_.out, static_cast<Tag>(tag), to_.time_us, length);
  if (tag == kHeapDumpEnd) encoder.in_dump = 0;
  if (tag == kHeapDumpSegment) encoder.in_dump = 1;
  if (tag == kTrace && maps_threads) {
    const TraceThread trace = {to_.out->position() + 4, get_u4(bytes + 4)};
    trace_threads_.add(&trace, sizeof trace);
  }
  return write_more(bytes, size);
}

hprof_status DumpOrder::write_more(const uint8_t* bytes, uint64_t size) {
  to_.out->bytes(bytes, size);
  return to_.out->status();
}

}  // namespace hprof::binary
