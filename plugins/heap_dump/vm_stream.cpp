// The VM's dump on its way to the output.
#include "plugins/heap_dump/vm_stream.h"

#include <cstring>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/draft/foreign_dump.h>

namespace hprof::dump {

namespace {

enum Tag : uint32_t {
  kUtf8 = 0x01,
  kLoadClass = 0x02,
  kFrame = 0x04,
  kTrace = 0x05,
  kSegment = 0x1c,
  kEnd = 0x2c
};

constexpr uint32_t kHead = 9;  // of a record: tag, time, length
constexpr char kMagic[] = "JAVA PROFILE 1.0.";
constexpr uint32_t kMagicSize = 19;  // with the last digit and the NUL
constexpr char kClassName[] = "java/lang/Class";
constexpr uint64_t kFillerId = 0x4e00000000000001;
constexpr uint32_t kEmptyTrace = 1;
constexpr uint32_t kMostMarks = 128;  // the numbers of class serials run over beyond
constexpr uint32_t kMostNarrowMarks = 0x70;

// Strings are addresses: of 8 bytes the first two are 0, of 4 none is to spare.
void mark_id(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8 && get_u8(id) != 0) id[1] |= static_cast<uint8_t>(mark);
}

// Frames count from 1. Those of 4 bytes stay below the agent's own, which begin with 0x70.
void mark_frame(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8) return mark_id(id, id_size, mark);
  if (id[0] == 0) id[0] = static_cast<uint8_t>(mark % kMostNarrowMarks);
}

}  // namespace

// --- HeldBytes ---

bool HeldBytes::open(const Services* services, uint64_t most) {
  size_ = 0;
  return bytes_.open(*services, most);
}

uint8_t* HeldBytes::add(const void* bytes, uint64_t size) {
  if (size > bytes_.most() || !bytes_.cover(size_ + size)) return nullptr;
  uint8_t* to = bytes_.data() + size_;
  if (bytes != nullptr) std::memcpy(to, bytes, size);
  size_ += size;
  return to;
}

// --- life ---

bool VmStream::open(const Services* services, const Config& config, bool apart, uint32_t number,
                    Progress* progress, ObjectTraces* traces) {
  services_ = services;
  config_ = config;
  apart_ = apart;
  progress_ = progress;
  traces_ = traces;
  heap_.traces = traces;
  filters_ = config.redact == static_cast<uint32_t>(Redact::kFull);
  heap_.on_name = [](void* self, uint64_t id) { static_cast<VmStream*>(self)->note_name(id); };
  heap_.name_context = this;
  if (!filters_) heap_.on_name = nullptr;
  number_ = number % kMostMarks;
  heap_.mark = static_cast<uint8_t>(number_);
  const bool made = heap_.open(services, config, id_size_) && body_.open(services, kMostHeld) &&
                    definitions_.open(services, kMostHeld);
  if (!made || !filters_) return made;
  return strings_.open(services, kMostHeld) && classes_.open(services, kMostHeld) && names_.open(services);
}

void VmStream::close() {
  heap_.close();
  body_.close();
  definitions_.close();
  strings_.close();
  classes_.close();
  names_.close();
}

hprof_status VmStream::fail(const char* words) {
  if (failure_ == nullptr) failure_ = words;
  return HPROF_FAILED;
}

uint64_t VmStream::id_at(const uint8_t* bytes) const { return id_size_ == 8 ? get_u8(bytes) : get_u4(bytes); }

// --- framing ---

hprof_status VmStream::take(uint32_t stream, uint8_t* bytes, uint64_t size) {
  if (failure_ != nullptr) return HPROF_FAILED;
  // No object moves until this returns.
  if (traces_ != nullptr) traces_->take_addresses();
  traces_ = nullptr;
  bytes_ += size;
  progress_->tell(heap_.objects(), bytes_);
  if (stream == 0 && !has_header_) {
    hprof_status status = take_header(&bytes, &size);
    if (status != HPROF_OK || size == 0) return status;
  }
  return take_records(stream == 0 ? main_ : objects_, bytes, size);
}

hprof_status VmStream::take_header(uint8_t** bytes, uint64_t* size) {
  const uint64_t n = *size < sizeof(header_) - header_have_ ? *size : sizeof(header_) - header_have_;
  std::memcpy(header_ + header_have_, *bytes, n);
  header_have_ += static_cast<uint32_t>(n);
  *bytes += n;
  *size -= n;
  if (header_have_ < sizeof(header_)) return HPROF_OK;
  has_header_ = true;
  if (std::memcmp(header_, kMagic, sizeof(kMagic) - 1) != 0) return fail("the VM's dump has another format");
  return get_u4(header_ + kMagicSize) == id_size_ ? HPROF_OK : fail("the VM's dump has ids of another size");
}

hprof_status VmStream::take_records(Framing& framing, uint8_t* bytes, uint64_t size) {
  hprof_status status = HPROF_OK;
  while (size != 0 && status == HPROF_OK) {
    if (framing.have < kHead) {
      framing.head[framing.have++] = *bytes++;
      size--;
      if (framing.have < kHead) continue;
      framing.left = get_u4(framing.head + 5);
      if (framing.head[0] != kSegment) body_.clear();  // the other stream may be amid a definition
      if (framing.head[0] == kSegment && !filters_) {
        if (!objects_begun_) status = begin_objects();
        if (status == HPROF_OK) status = emit(kSegment, framing.left, nullptr, 0);
      }
    }
    const uint64_t n = size < framing.left ? size : framing.left;
    const bool is_segment = framing.head[0] == kSegment;
    framing.left -= static_cast<uint32_t>(n);
    if (status == HPROF_OK && is_segment) status = take_segment(bytes, n, framing.left);
    if (status == HPROF_OK && !is_segment && body_.add(bytes, n) == nullptr) {
      status = fail("a record of the VM's dump is too long");
    }
    bytes += n;
    size -= n;
    if (framing.left != 0) continue;
    framing.have = 0;
    if (status == HPROF_OK && !is_segment) {
      status = take_definition(framing.head[0], body_.data(), static_cast<uint32_t>(body_.size()));
    }
  }
  return status;
}

// left: bytes of the segment that are still to come.
hprof_status VmStream::take_segment(uint8_t* bytes, uint64_t size, uint32_t left) {
  if (filters_ && !objects_begun_) {
    const uint64_t classes = heap_.feed(bytes, size, true);
    if (classes_.add(bytes, classes) == nullptr) return fail("no memory for the classes of the VM's dump");
    bytes += classes;
    size -= classes;
    if (heap_.failed()) return fail(heap_.failure());
    if (size == 0) return HPROF_OK;
    hprof_status status = begin_objects();
    if (status == HPROF_OK) status = emit(kSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  } else if (filters_ && needs_head_) {
    hprof_status status = emit(kSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  }
  needs_head_ = left == 0;
  heap_.feed(bytes, size, false);
  if (heap_.failed()) return fail(heap_.failure());
  return emit(0, 0, bytes, size);
}

// --- definitions ---

// Trace 1 is the empty one of all classes and objects, the same in all dumps. The VM writes it behind the
// classes that name it.
hprof_status VmStream::put_empty_trace() {
  if (has_empty_trace_ || number_ != 0) return HPROF_OK;
  has_empty_trace_ = true;
  uint8_t body[12] = {};
  put_u4(body, kEmptyTrace);
  return emit_or_hold(kTrace, body, sizeof(body));
}

hprof_status VmStream::take_trace(uint8_t* body, uint32_t size) {
  if (size < 12 || (size - 12) / id_size_ != get_u4(body + 8)) return fail("the VM's dump cannot be read");
  if (get_u4(body) == kEmptyTrace) return put_empty_trace();
  if (number_ == 0) return emit_or_hold(kTrace, body, size);
  body[0] |= static_cast<uint8_t>(number_);
  for (uint8_t* frame = body + 12; frame < body + size; frame += id_size_)
    mark_frame(frame, id_size_, number_);
  return emit_or_hold(kTrace, body, size);
}

hprof_status VmStream::take_definition(uint32_t tag, uint8_t* body, uint32_t size) {
  const uint32_t id = id_size_;
  switch (tag) {
    case kEnd:
      ended_ = true;
      return HPROF_OK;
    case kUtf8:
      if (size < id) return fail("the VM's dump cannot be read");
      mark_id(body, id, number_);
      if (size - id == sizeof(kClassName) - 1 && std::memcmp(body + id, kClassName, size - id) == 0) {
        class_name_ = id_at(body);
      }
      if (filters_) return hold(strings_, tag, body, size);
      break;
    case kLoadClass:
      if (size != 2 * id + 8) return fail("the VM's dump cannot be read");
      heap_.note_loaded(id_at(body + 4));
      mark_id(body + 8 + id, id, number_);
      if (filters_) note_name(id_at(body + 8 + id));
      if (id_at(body + 8 + id) == class_name_ && class_class_ == 0) class_class_ = id_at(body + 4);
      put_u4(body, get_u4(body) + kClassSerialBase * (1 + number_));
      if (hprof_status status = put_empty_trace(); status != HPROF_OK) return status;
      break;
    case kFrame:
      if (size != 4 * id + 8) return fail("the VM's dump cannot be read");
      mark_frame(body, id, number_);
      for (uint32_t i = 1; i < 4; i++) mark_id(body + i * id, id, number_);
      for (uint32_t i = 1; i < 4 && filters_; i++) note_name(id_at(body + i * id));
      if (get_u4(body + 4 * id) != 0) {
        put_u4(body + 4 * id, get_u4(body + 4 * id) + kClassSerialBase * (1 + number_));
      }
      break;
    case kTrace:
      return take_trace(body, size);
    default:
      break;
  }
  return emit_or_hold(tag, body, size);
}

hprof_status VmStream::emit_or_hold(uint32_t tag, const uint8_t* body, uint32_t size) {
  if (filters_ || (apart_ && objects_begun_)) return hold(definitions_, tag, body, size);
  return emit(tag, size, body, size);
}

hprof_status VmStream::hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size) {
  uint8_t* to = where.add(nullptr, kHead + uint64_t{size});
  if (to == nullptr) return fail("no memory for the strings of the VM's dump");
  to[0] = static_cast<uint8_t>(tag);
  put_u4(to + 1, 0);
  put_u4(to + 5, size);
  std::memcpy(to + kHead, body, size);
  return HPROF_OK;
}

// Puts the strings that are names before the definitions.
hprof_status VmStream::add_named_strings() {
  body_.clear();
  const uint8_t* at = strings_.data();
  const uint8_t* end = at + strings_.size();
  while (at < end) {
    const uint64_t size = kHead + uint64_t{get_u4(at + 5)};
    if (names_.find(id_at(at + kHead)) != 0 && body_.add(at, size) == nullptr)
      return fail("no memory for names");
    at += size;
  }
  if (body_.add(definitions_.data(), definitions_.size()) == nullptr) return fail("no memory for names");
  definitions_.clear();
  return definitions_.add(body_.data(), body_.size()) != nullptr ? HPROF_OK : fail("no memory for names");
}

hprof_status VmStream::emit_held() {
  const uint8_t* at = definitions_.data();
  const uint8_t* end = at + definitions_.size();
  hprof_status status = HPROF_OK;
  while (at < end && status == HPROF_OK) {
    const uint32_t size = get_u4(at + 5);
    status = emit(at[0], size, at + kHead, size);
    at += kHead + size;
  }
  definitions_.clear();
  return status;
}

// --- where the segments begin ---

hprof_status VmStream::begin_objects() {
  objects_begun_ = true;
  hprof_status status = HPROF_OK;
  if (apart_) {
    status = emit_gap();
  } else if (filters_) {
    status = add_named_strings();
    if (status == HPROF_OK) status = emit_held();
  }
  if (status != HPROF_OK || classes_.size() == 0) return status;
  return emit(kSegment, static_cast<uint32_t>(classes_.size()), classes_.data(), classes_.size());
}

// An unused string of blanks.
hprof_status VmStream::emit_gap() {
  const auto& s = *services_;
  gap_position_ = s.foreign_dump->position(s.host);
  gap_size_ = kGap;
  if (filters_) gap_size_ += strings_.size() / 4 + uint64_t{heap_.class_count()} * 256;
  uint8_t id[8];
  put_u8(id, kFillerId);
  const uint32_t length = static_cast<uint32_t>(gap_size_ - kHead);
  hprof_status status = emit(kUtf8, length, id + 8 - id_size_, id_size_);
  uint8_t blanks[4096];
  std::memset(blanks, ' ', sizeof(blanks));
  for (uint64_t left = length - id_size_; left != 0 && status == HPROF_OK;) {
    const uint64_t n = left < sizeof(blanks) ? left : sizeof(blanks);
    status = emit(0, 0, blanks, n);
    left -= n;
  }
  return status;
}

// As many of the held records as fit; the others follow the dump.
hprof_status VmStream::fill_gap() {
  const auto& s = *services_;
  hprof_status status = filters_ ? add_named_strings() : HPROF_OK;
  if (status != HPROF_OK) return status;
  const uint8_t* data = definitions_.data();
  const uint64_t most = gap_size_ - kHead - id_size_;
  uint64_t fits = 0;
  for (uint64_t next = 0; next <= most; next += kHead + uint64_t{get_u4(data + next + 5)}) {
    fits = next;
    if (next == definitions_.size()) break;
  }
  body_.clear();
  uint8_t filler[kHead + 8] = {kUtf8};
  put_u4(filler + 5, static_cast<uint32_t>(gap_size_ - fits - kHead));
  id_size_ == 8 ? put_u8(filler + kHead, kFillerId)
                : put_u4(filler + kHead, static_cast<uint32_t>(kFillerId));
  if (body_.add(data, fits) == nullptr || body_.add(filler, kHead + id_size_) == nullptr) {
    return fail("no memory for the classes of the VM's dump");
  }
  uint8_t* at = body_.data();
  for (uint64_t next = 0; next < body_.size() - id_size_;) {
    put_u4(at + next + 1, gap_time_);
    next += kHead + uint64_t{next < fits ? get_u4(at + next + 5) : 0};
  }
  status = s.foreign_dump->patch(s.host, gap_position_, body_.data(), body_.size());
  if (status != HPROF_OK) return status;
  std::memmove(definitions_.data(), definitions_.data() + fits, definitions_.size() - fits);
  definitions_.cut(definitions_.size() - fits);
  return emit_held();
}

// --- the end ---

// The VM writes no CLASS DUMP for classes that are not linked, but refers to them.
hprof_status VmStream::add_missing_classes() {
  body_.clear();
  for (uint32_t number = 1; number <= heap_.class_count(); number++) {
    const DumpedClass& of = heap_.class_at(number);
    if (of.is_dumped != 0) continue;
    uint8_t* to = body_.add(nullptr, 1 + 7 * id_size_ + 14);
    if (to == nullptr) return fail("no memory for the classes of the VM's dump");
    std::memset(to, 0, 1 + 7 * id_size_ + 14);
    *to = 0x20;
    id_size_ == 8 ? put_u8(to + 1, of.id) : put_u4(to + 1, static_cast<uint32_t>(of.id));
    put_u4(to + 1 + id_size_, 1);  // the VM's own number of the empty trace
    uint8_t* super = to + 1 + id_size_ + 4;
    const uint64_t object = heap_.object_class();
    id_size_ == 8 ? put_u8(super, object) : put_u4(super, static_cast<uint32_t>(object));
  }
  // As class objects of classes without a name: JVMTI does not tell more of them either.
  bool room = true;
  const DumpedClass* class_class = heap_.find_class(class_class_);
  const uint32_t class_size = class_class != nullptr ? class_class->instance_size : 0;
  if (class_class != nullptr)
    heap_.mirrors().each_missing([&](uint64_t id) {
      const DumpedClass* known = heap_.find_class(id);
      if (known != nullptr && known->is_dumped == 0) return;  // just added
      uint8_t* to = body_.add(nullptr, 1 + 2 * id_size_ + 8 + class_size);
      room = room && to != nullptr;
      if (to == nullptr) return;
      std::memset(to, 0, 1 + 2 * id_size_ + 8 + class_size);
      *to = 0x21;
      id_size_ == 8 ? put_u8(to + 1, id) : put_u4(to + 1, static_cast<uint32_t>(id));
      put_u4(to + 1 + id_size_, 1);
      uint8_t* owner = to + 1 + id_size_ + 4;
      id_size_ == 8 ? put_u8(owner, class_class_) : put_u4(owner, static_cast<uint32_t>(class_class_));
      put_u4(owner + id_size_, class_size);
    });
  if (!room) return fail("no memory for the classes of the VM's dump");
  if (body_.size() == 0) return HPROF_OK;
  return emit(kSegment, static_cast<uint32_t>(body_.size()), body_.data(), body_.size());
}

hprof_status VmStream::finish() {
  if (failure_ != nullptr) return HPROF_FAILED;
  const bool whole = main_.have == 0 && objects_.have == 0 && heap_.is_between();
  if (!whole || !ended_ || !objects_begun_) return fail("the VM's dump broke off");
  hprof_status status = add_missing_classes();
  if (status == HPROF_OK) status = emit(kEnd, 0, nullptr, 0);
  if (status == HPROF_OK && apart_) status = fill_gap();
  return status;
}

hprof_status VmStream::emit(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size) {
  const uint32_t flags = tag == kEnd ? HPROF_FOREIGN_ENDS : 0;
  hprof_rec_foreign_dump raw = {
      {sizeof(raw), HPROF_RECORD_FOREIGN_DUMP, 0}, tag, length, bytes, size, flags, 0};
  hprof_status status = services_->emit->write(services_->host, &raw.head);
  gap_time_ = raw.head.time_us > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(raw.head.time_us);
  return status;
}

}  // namespace hprof::dump
