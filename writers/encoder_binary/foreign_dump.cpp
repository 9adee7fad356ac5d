// Passes a VM's dump on to the output.
#include "foreign_dump.h"

#include <cstring>
#include <new>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/dump_types.hpp>

#include "binary.h"

namespace hprof::binary {

namespace {

constexpr uint32_t kHead = 9;  // of a record: tag, time, length
constexpr char kMagic[] = "JAVA PROFILE 1.0.";
constexpr uint32_t kMagicSize = 19;  // with the last digit and the NUL
constexpr char kClassName[] = "java.lang.Class";
constexpr uint64_t kFillerId = 0x4e00000000000001;
constexpr uint32_t kEmptyTrace = 1;   // as the VM numbers it
constexpr uint32_t kMostMarks = 128;  // class serials overflow beyond
constexpr uint32_t kMostNarrowMarks = 0x70;
constexpr uint32_t kSeveral = UINT32_MAX;  // classes with the same name
constexpr uint64_t kSeveralObjects = UINT64_MAX;
constexpr uint32_t kMostUnknown = 16;
constexpr uint32_t kMostDimensions = 255;
constexpr uint32_t kNameGrowth = 2 * kMostDimensions + 8;

// String ids are addresses: the first two of 8 bytes are 0; 4 bytes have no room for a mark.
void mark_id(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8 && get_u8(id) != 0) id[1] |= static_cast<uint8_t>(mark);
}

// Frames count from 1. Those of 4 bytes stay below the agent's, which begin with 0x70.
void mark_frame(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8) return mark_id(id, id_size, mark);
  if (id[0] == 0) id[0] = static_cast<uint8_t>(mark % kMostNarrowMarks);
}

uint64_t hash_of(const void* bytes, uint64_t size) {
  const uint8_t* at = static_cast<const uint8_t*>(bytes);
  uint64_t hash = size, word = 0;
  for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    hash = mix(hash, word);
  }
  word = 0;
  std::memcpy(&word, at, size);
  return mix(hash, word) | 1;  // not 0
}

// True: may be the name of a class in a package, as the VM writes it. Other texts of the symbol table stay as
// they are.
bool is_package_name(const uint8_t* text, uint32_t size) {
  if (size == 0 || text[0] == '(' || std::memchr(text, '/', size) == nullptr) return false;
  for (uint32_t i = 0; i < size; i++) {
    if (std::strchr(".;[( :", text[i]) != nullptr) return false;
    if (text[i] != '/') continue;
    if (i == 0 || i + 1 == size || text[i + 1] == '/') return false;
  }
  return true;
}

// Turns the VM's name of a class into that of Java source, such as [Ljava/util/Map; into java.util.Map[], and
// returns its size. text: has room for kNameGrowth more.
uint32_t to_source(uint8_t* text, uint32_t size) {
  uint32_t dimensions = 0;
  while (dimensions < size && text[dimensions] == '[') dimensions++;
  uint32_t length = size - dimensions;
  if (dimensions > kMostDimensions) return size;
  if (dimensions != 0) {
    static constexpr const char* kPrimitives[] = {"boolean", "char",  "float", "double",
                                                  "byte",    "short", "int",   "long"};
    const uint32_t type = length == 1 ? type_of(static_cast<char>(text[dimensions])) : 0;
    if (type >= HPROF_TYPE_BOOLEAN) {
      const char* primitive = kPrimitives[type - HPROF_TYPE_BOOLEAN];
      length = static_cast<uint32_t>(std::strlen(primitive));
      std::memcpy(text, primitive, length);
    } else if (length > 2 && text[dimensions] == 'L' && text[size - 1] == ';') {
      length -= 2;
      std::memmove(text, text + dimensions + 1, length);
    } else {
      return size;
    }
  }
  if (is_package_name(text, length)) {
    for (uint32_t i = 0; i < length; i++) text[i] = text[i] == '/' ? '.' : text[i];
  }
  for (uint32_t i = 0; i < dimensions; i++, length += 2) std::memcpy(text + length, "[]", 2);
  return length;
}

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

bool ForeignDump::open(Encoder& encoder, hprof_foreign_dump* dump) {
  dump_ = dump;
  apart_ = (dump->flags & HPROF_FOREIGN_APART) != 0;
  filters_ = (dump->flags & HPROF_FOREIGN_NO_STRINGS) != 0;
  if (filters_)
    heap_.on_name = [](void* self, uint64_t id) { static_cast<ForeignDump*>(self)->note_name(id); };
  heap_.name_context = this;
  number_ = encoder.foreign_dumps++ % kMostMarks;
  id_size_ = encoder.id_size;
  heap_.mark = static_cast<uint8_t>(number_);
  const Services services(encoder.host);
  const bool made =
      heap_.open(services, dump, id_size_) && body_.open(services, kMostHeld) &&
      definitions_.open(services, kMostHeld) && classes_of_output_.open(services) &&
      known_names_.open(services) && class_objects_.open(services, ObjectPlaces::kMostClasses) &&
      trace_threads_.open(services, ObjectPlaces::kThreads * sizeof(TraceThread)) && index_classes(encoder);
  if (!made || !filters_) return made;
  return strings_.open(services, kMostHeld) && classes_.open(services, kMostHeld) && names_.open(services);
}

void ForeignDump::close() {
  heap_.close();
  body_.close();
  definitions_.close();
  strings_.close();
  classes_.close();
  names_.close();
  classes_of_output_.close();
  known_names_.close();
  class_objects_.close();
  trace_threads_.close();
}

hprof_status ForeignDump::fail(const char* words) {
  if (dump_->failure == nullptr) dump_->failure = words;
  return HPROF_FAILED;
}

uint64_t ForeignDump::id_at(const uint8_t* bytes) const {
  return id_size_ == 8 ? get_u8(bytes) : get_u4(bytes);
}

void ForeignDump::put_id(uint8_t* to, uint64_t id) const {
  id_size_ == 8 ? put_u8(to, id) : put_u4(to, static_cast<uint32_t>(id));
}

hprof_status ForeignDump::take(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record) {
  if (record.dump != dump_ || dump_->failure != nullptr) return HPROF_FAILED;
  to_ = {&encoder, &out, record.head.time_us};
  if ((record.flags & HPROF_FOREIGN_BEGINS) != 0)
    heap_.maps_threads = out.can_patch() && HPROF_HAS(dump_, hprof_foreign_dump, thread_of);
  hprof_status status = take_bytes(record.stream, record.bytes, record.size);
  if (status == HPROF_OK && (record.flags & HPROF_FOREIGN_ENDS) != 0) status = finish();
  dump_->objects = heap_.objects();
  dump_->traced = heap_.traced();
  return status;
}

hprof_status ForeignDump::take_bytes(uint32_t stream, uint8_t* bytes, uint64_t size) {
  if (bytes == nullptr) return size == 0 ? HPROF_OK : HPROF_FAILED;
  if (stream == 0 && !has_header_) {
    hprof_status status = take_header(&bytes, &size);
    if (status != HPROF_OK) return status;
  }
  return take_records(stream == 0 ? main_ : objects_, bytes, size);
}

hprof_status ForeignDump::take_header(uint8_t** bytes, uint64_t* size) {
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

hprof_status ForeignDump::take_records(Framing& framing, uint8_t* bytes, uint64_t size) {
  hprof_status status = HPROF_OK;
  while (size != 0 && status == HPROF_OK) {
    if (framing.have < kHead) {
      framing.head[framing.have++] = *bytes++;
      size--;
      if (framing.have < kHead) continue;
      framing.left = get_u4(framing.head + 5);
      if (framing.head[0] != kHeapDumpSegment) body_.clear();  // the other stream may be inside a definition
      if (framing.head[0] == kHeapDumpSegment && !filters_) {
        if (!objects_begun_) status = begin_objects();
        if (status == HPROF_OK) status = write(kHeapDumpSegment, framing.left, nullptr, 0);
      }
    }
    const uint64_t n = size < framing.left ? size : framing.left;
    const bool is_segment = framing.head[0] == kHeapDumpSegment;
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

// left: bytes of the segment still to come.
hprof_status ForeignDump::take_segment(uint8_t* bytes, uint64_t size, uint32_t left) {
  if (filters_ && !objects_begun_) {
    const uint64_t classes = heap_.feed(bytes, size, true);
    if (classes_.add(bytes, classes) == nullptr) return fail("no memory for the classes of the VM's dump");
    bytes += classes;
    size -= classes;
    if (heap_.failed()) return fail(heap_.failure());
    if (size == 0) return HPROF_OK;
    hprof_status status = begin_objects();
    if (status == HPROF_OK) status = write(kHeapDumpSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  } else if (filters_ && needs_head_) {
    hprof_status status = write(kHeapDumpSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  }
  needs_head_ = left == 0;
  heap_.feed(bytes, size, false);
  if (heap_.failed()) return fail(heap_.failure());
  return write_more(bytes, size);
}

// Trace 1 is the empty trace of all classes and objects, the same in all dumps. The VM writes it after
// classes that refer to it.
hprof_status ForeignDump::put_empty_trace() {
  if (has_empty_trace_ || number_ != 0) return HPROF_OK;
  has_empty_trace_ = true;
  uint8_t body[12] = {};
  put_u4(body, kEmptyTrace);
  return write_or_hold(kTrace, body, sizeof(body));
}

hprof_status ForeignDump::take_trace(uint8_t* body, uint32_t size) {
  if (size < 12 || (size - 12) / id_size_ != get_u4(body + 8)) return fail("the VM's dump cannot be read");
  if (get_u4(body) == kEmptyTrace) return put_empty_trace();
  if (number_ == 0) return write_or_hold(kTrace, body, size);
  body[0] |= static_cast<uint8_t>(number_);
  for (uint8_t* frame = body + 12; frame < body + size; frame += id_size_)
    mark_frame(frame, id_size_, number_);
  return write_or_hold(kTrace, body, size);
}

hprof_status ForeignDump::take_definition(uint32_t tag, uint8_t* body, uint32_t size) {
  const uint32_t id = id_size_;
  switch (tag) {
    case kHeapDumpEnd:
      ended_ = true;
      return HPROF_OK;
    case kUtf8:
      if (size < id) return fail("the VM's dump cannot be read");
      mark_id(body, id, number_);
      if (!take_name(&body, &size)) return fail("no memory for the names of the VM's dump");
      if (size - id == sizeof(kClassName) - 1 && std::memcmp(body + id, kClassName, size - id) == 0) {
        class_name_ = id_at(body);
      }
      if (filters_) return hold(strings_, tag, body, size);
      break;
    case kLoadClass:
      if (size != 2 * id + 8) return fail("the VM's dump cannot be read");
      heap_.note_loaded(id_at(body + 4));
      mark_id(body + 8 + id, id, number_);
      if (const uint32_t* serial = known_names_.find(id_at(body + 8 + id))) {
        uint64_t& object = class_objects_[*serial];
        const uint64_t loaded = id_at(body + 4);  // arrays of primitives come twice
        object = object == 0 || object == loaded ? loaded : kSeveralObjects;
      }
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
  return write_or_hold(tag, body, size);
}

// Finds the classes that the output has defined, or may define later, by their names.
bool ForeignDump::index_classes(const Encoder& encoder) {
  uint32_t unknown = 0;  // serials in a row: other threads may be adding classes
  for (hprof_class_serial serial = 1; unknown < kMostUnknown && serial < ObjectPlaces::kMostClasses;
       serial++) {
    const auto info = find_class(encoder.ids, encoder.host, serial);
    const hprof_text name = encoder.ids->string_text(encoder.host, info->name);
    unknown = info && name.data != nullptr ? 0 : unknown + 1;
    if (unknown != 0) continue;
    uint32_t* known = classes_of_output_.make(hash_of(name.data, name.size));
    if (known == nullptr) return false;
    *known = *known == 0 ? serial : kSeveral;
    class_end_ = serial + 1;
  }
  return class_objects_.cover(class_end_);
}

// Puts a string of the VM into the form of Java source if it names a class, and notes that of a class of the
// output.
bool ForeignDump::take_name(uint8_t** body, uint32_t* size) {
  const uint32_t id = id_size_;
  if (body_.add(nullptr, kNameGrowth) == nullptr) return false;
  *body = body_.data();
  *size = id + to_source(*body + id, *size - id);
  body_.cut(*size);
  const uint32_t* serial = classes_of_output_.find(hash_of(*body + id, *size - id));
  if (serial == nullptr || *serial == kSeveral) return true;
  if (uint32_t* known = known_names_.make(id_at(*body))) *known = *serial;
  return true;
}

// Gives classes and threads that were defined before the dump the ids of their objects in it, and the dump's
// STACK TRACE records the serials of their threads.
void ForeignDump::patch_definitions() {
  BinaryOut& out = *to_.out;
  ObjectPlaces& places = to_.encoder->places;
  for (hprof_class_serial serial = 1; serial < class_end_; serial++) {
    const uint64_t object = class_objects_[serial];
    ObjectPlaces::Class* of = object != 0 && object != kSeveralObjects ? places.make_class(serial) : nullptr;
    if (of == nullptr) continue;
    if (of->position != 0) out.patch_object(of->position, object);
    of->object = object;
  }
  heap_.each_thread([&](uint64_t, const DumpedThread& thread) {
    const uint64_t place = places.of_thread(thread.serial);
    if (place != 0) out.patch_object(place, thread.object);
  });
  for (uint64_t at = 0; at < trace_threads_.size(); at += sizeof(TraceThread)) {
    TraceThread trace;
    std::memcpy(&trace, trace_threads_.data() + at, sizeof trace);
    const hprof_thread_serial serial = heap_.find_thread(trace.vm_serial);
    uint8_t number[4];
    put_u4(number, kFirstThreadNumber + serial);
    if (serial != 0) out.patch(trace.position, number, sizeof number);
  }
  uint8_t* end = definitions_.data() + definitions_.size();
  for (uint8_t* at = definitions_.data(); at < end; at += kHead + uint64_t{get_u4(at + 5)}) {
    const hprof_thread_serial serial = *at == kTrace ? heap_.find_thread(get_u4(at + kHead + 4)) : 0;
    if (serial != 0) put_u4(at + kHead + 4, kFirstThreadNumber + serial);
  }
}

hprof_status ForeignDump::write_or_hold(uint32_t tag, const uint8_t* body, uint32_t size) {
  if (filters_ || (apart_ && objects_begun_)) return hold(definitions_, tag, body, size);
  return write(tag, size, body, size);
}

hprof_status ForeignDump::hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size) {
  uint8_t* to = where.add(nullptr, kHead + uint64_t{size});
  if (to == nullptr) return fail("no memory for the strings of the VM's dump");
  to[0] = static_cast<uint8_t>(tag);
  put_u4(to + 1, 0);
  put_u4(to + 5, size);
  std::memcpy(to + kHead, body, size);
  return HPROF_OK;
}

// Puts the strings that are names in front of the definitions.
hprof_status ForeignDump::add_named_strings() {
  body_.clear();
  const uint8_t* at = strings_.data();
  const uint8_t* end = at + strings_.size();
  while (at < end) {
    const uint64_t size = kHead + uint64_t{get_u4(at + 5)};
    if (names_.find(id_at(at + kHead)) != nullptr && body_.add(at, size) == nullptr)
      return fail("no memory for names");
    at += size;
  }
  if (body_.add(definitions_.data(), definitions_.size()) == nullptr) return fail("no memory for names");
  definitions_.clear();
  return definitions_.add(body_.data(), body_.size()) != nullptr ? HPROF_OK : fail("no memory for names");
}

hprof_status ForeignDump::write_held() {
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

hprof_status ForeignDump::begin_objects() {
  objects_begun_ = true;
  hprof_status status = HPROF_OK;
  if (apart_) {
    status = write_gap();
  } else if (filters_) {
    status = add_named_strings();
    if (status == HPROF_OK) status = write_held();
  }
  if (status != HPROF_OK || classes_.size() == 0) return status;
  return write(kHeapDumpSegment, static_cast<uint32_t>(classes_.size()), classes_.data(), classes_.size());
}

// Writes an unused string of blanks.
hprof_status ForeignDump::write_gap() {
  if (!to_.out->can_patch()) return fail("the output cannot be put in order");
  gap_position_ = to_.out->position();
  gap_size_ = kGap;
  if (filters_) gap_size_ += strings_.size() / 4 + uint64_t{heap_.class_count()} * 256;
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
hprof_status ForeignDump::fill_gap() {
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
  put_id(filler + kHead, kFillerId);
  if (body_.add(data, fits) == nullptr || body_.add(filler, kHead + id_size_) == nullptr) {
    return fail("no memory for the classes of the VM's dump");
  }
  uint8_t* at = body_.data();
  for (uint64_t next = 0; next < body_.size() - id_size_;) {
    put_u4(at + next + 1, to_.encoder->last_time);
    next += kHead + uint64_t{next < fits ? get_u4(at + next + 5) : 0};
  }
  to_.out->patch(gap_position_, body_.data(), body_.size());
  if (!to_.out->ok()) return to_.out->status();
  std::memmove(definitions_.data(), definitions_.data() + fits, definitions_.size() - fits);
  definitions_.cut(definitions_.size() - fits);
  return write_held();
}

// Adds the CLASS DUMPs of classes that are not linked, to which the VM refers without writing them.
hprof_status ForeignDump::add_missing_classes() {
  body_.clear();
  for (uint32_t number = 1; number <= heap_.class_count(); number++) {
    const DumpedClass& of = heap_.class_at(number);
    if (of.is_dumped != 0) continue;
    uint8_t* to = body_.add(nullptr, 1 + 7 * id_size_ + 14);
    if (to == nullptr) return fail("no memory for the classes of the VM's dump");
    std::memset(to, 0, 1 + 7 * id_size_ + 14);
    *to = kClassDump;
    put_id(to + 1, of.id);
    put_u4(to + 1 + id_size_, kEmptyTrace);
    put_id(to + 1 + id_size_ + 4, heap_.object_class());  // superclass
  }
  // Class objects of classes without a name: JVMTI reports no more of them, either.
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
      *to = kInstanceDump;
      put_id(to + 1, id);
      put_u4(to + 1 + id_size_, kEmptyTrace);
      put_id(to + 1 + id_size_ + 4, class_class_);
      put_u4(to + 1 + 2 * id_size_ + 4, class_size);
    });
  if (!room) return fail("no memory for the classes of the VM's dump");
  if (body_.size() == 0) return HPROF_OK;
  return write(kHeapDumpSegment, static_cast<uint32_t>(body_.size()), body_.data(), body_.size());
}

hprof_status ForeignDump::finish() {
  const bool whole = main_.have == 0 && objects_.have == 0 && heap_.is_between();
  if (!whole || !ended_ || !objects_begun_) return fail("the VM's dump broke off");
  hprof_status status = add_missing_classes();
  if (status == HPROF_OK) status = write(kHeapDumpEnd, 0, nullptr, 0);
  if (status == HPROF_OK) patch_definitions();
  if (status == HPROF_OK && apart_) status = fill_gap();
  return status;
}

// tag: of a record with `length` bytes, the first `size` of which are here.
hprof_status ForeignDump::write(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size) {
  Encoder& encoder = *to_.encoder;
  write_head(encoder, *to_.out, static_cast<Tag>(tag), to_.time_us, length);
  if (tag == kHeapDumpEnd) encoder.in_dump = 0;
  if (tag == kHeapDumpSegment) encoder.in_dump = 1;
  if (tag == kTrace && heap_.maps_threads) {
    const TraceThread trace = {to_.out->position() + 4, get_u4(bytes + 4)};
    trace_threads_.add(&trace, sizeof trace);
  }
  return write_more(bytes, size);
}

hprof_status ForeignDump::write_more(const uint8_t* bytes, uint64_t size) {
  to_.out->bytes(bytes, size);
  return to_.out->status();
}

// False: the dump has the reason, and the collector sends no more of it.
static bool begin_foreign(Encoder& encoder, hprof_foreign_dump* dump) {
  void* memory = encoder.mem->allocate(encoder.host, sizeof(ForeignDump));
  encoder.foreign = memory != nullptr ? new (memory) ForeignDump() : nullptr;
  if (encoder.foreign != nullptr && encoder.foreign->open(encoder, dump)) return true;
  dump->failure = "no memory to read the VM's dump";
  end_foreign(encoder);
  return false;
}

void end_foreign(Encoder& encoder) {
  if (encoder.foreign == nullptr) return;
  encoder.foreign->close();
  encoder.mem->release(encoder.host, encoder.foreign, sizeof(ForeignDump));
  encoder.foreign = nullptr;
}

void write_foreign(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record) {
  if ((record.flags & HPROF_FOREIGN_BEGINS) != 0) {
    end_foreign(encoder);  // an earlier dump that broke off without a last record
    if (!begin_foreign(encoder, record.dump)) return;
  }
  const hprof_status status =
      encoder.foreign != nullptr ? encoder.foreign->take(encoder, out, record) : hprof_status{HPROF_FAILED};
  if ((record.flags & (HPROF_FOREIGN_ENDS | HPROF_FOREIGN_BROKEN)) != 0) end_foreign(encoder);
  out.fail(status);
}

}  // namespace hprof::binary
