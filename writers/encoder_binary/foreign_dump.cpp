// Reads a VM's dump, and fits its numbers and names to the output.
#include "foreign_dump.h"

#include <cstring>
#include <new>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/dump_types.hpp>

#include "binary.h"

namespace hprof::binary {

namespace {

constexpr char kMagic[] = "JAVA PROFILE 1.0.";
constexpr uint32_t kMagicSize = 19;  // with the last digit and the NUL
constexpr char kClassName[] = "java.lang.Class";
constexpr uint32_t kEmptyTrace = 1;   // as the VM numbers it
constexpr uint32_t kMostMarks = 128;  // class serials overflow beyond
constexpr uint32_t kMostNarrowMarks = 0x70;

// String ids are addresses: the first two of 8 bytes are 0; 4 bytes have no room for a mark.
void mark_id(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8 && get_u8(id) != 0) id[1] |= static_cast<uint8_t>(mark);
}

// Frames count from 1. Those of 4 bytes stay below the agent's, which begin with 0x70.
void mark_frame(uint8_t* id, uint32_t id_size, uint32_t mark) {
  if (id_size == 8) return mark_id(id, id_size, mark);
  if (id[0] == 0) id[0] = static_cast<uint8_t>(mark % kMostNarrowMarks);
}

}  // namespace

bool ForeignDump::open(Encoder& encoder, hprof_foreign_dump* dump) {
  dump_ = dump;
  if ((dump->flags & HPROF_FOREIGN_NO_STRINGS) != 0)
    heap_.on_name = [](void* order, uint64_t id) { static_cast<DumpOrder*>(order)->add_name(id); };
  heap_.name_context = &order_;
  number_ = encoder.foreign_dumps++ % kMostMarks;
  id_size_ = encoder.id_size;
  heap_.mark = static_cast<uint8_t>(number_);
  const Services services(encoder.host);
  return heap_.open(services, dump, id_size_) && body_.open(services) && classes_.open(services, encoder) &&
         order_.open(services, encoder, dump, &body_);
}

void ForeignDump::close() {
  heap_.close();
  body_.close();
  classes_.close();
  order_.close();
}

hprof_status ForeignDump::take(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record) {
  if (record.dump != dump_ || dump_->failure != nullptr) return HPROF_FAILED;
  order_.send_to({&encoder, &out, record.head.time_us});
  if ((record.flags & HPROF_FOREIGN_BEGINS) != 0)
    heap_.maps_threads = order_.maps_threads =
        out.can_patch() && HPROF_HAS(dump_, hprof_foreign_dump, thread_of);
  hprof_status status = take_bytes(record.stream, record.bytes, record.size);
  if (status == HPROF_OK && (record.flags & HPROF_FOREIGN_ENDS) != 0) status = finish(encoder, out);
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
    if (framing.have < kRecordHead) {
      framing.head[framing.have++] = *bytes++;
      size--;
      if (framing.have < kRecordHead) continue;
      framing.left = get_u4(framing.head + 5);
      if (framing.head[0] != kHeapDumpSegment) body_.clear();  // the other stream may be inside a definition
      if (framing.head[0] == kHeapDumpSegment && !order_.filters()) {
        if (!order_.has_begun()) status = begin_objects();
        if (status == HPROF_OK) status = order_.write(kHeapDumpSegment, framing.left, nullptr, 0);
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
  if (order_.filters() && !order_.has_begun()) {
    const uint64_t classes = heap_.feed(bytes, size, true);
    if (order_.add_classes(bytes, classes) != HPROF_OK) return HPROF_FAILED;
    bytes += classes;
    size -= classes;
    if (heap_.failed()) return fail(heap_.failure());
    if (size == 0) return HPROF_OK;
    hprof_status status = begin_objects();
    if (status == HPROF_OK)
      status = order_.write(kHeapDumpSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  } else if (order_.filters() && needs_head_) {
    hprof_status status = order_.write(kHeapDumpSegment, static_cast<uint32_t>(size) + left, nullptr, 0);
    if (status != HPROF_OK) return status;
  }
  needs_head_ = left == 0;
  heap_.feed(bytes, size, false);
  if (heap_.failed()) return fail(heap_.failure());
  return order_.write_more(bytes, size);
}

// Trace 1 is the empty trace of all classes and objects, the same in all dumps. The VM writes it after
// classes that refer to it.
hprof_status ForeignDump::put_empty_trace() {
  if (has_empty_trace_ || number_ != 0) return HPROF_OK;
  has_empty_trace_ = true;
  uint8_t body[12] = {};
  put_u4(body, kEmptyTrace);
  return order_.add_definition(kTrace, body, sizeof(body));
}

hprof_status ForeignDump::take_trace(uint8_t* body, uint32_t size) {
  if (size < 12 || (size - 12) / id_size_ != get_u4(body + 8)) return fail("the VM's dump cannot be read");
  if (get_u4(body) == kEmptyTrace) return put_empty_trace();
  if (number_ == 0) return order_.add_definition(kTrace, body, size);
  body[0] |= static_cast<uint8_t>(number_);
  for (uint8_t* frame = body + 12; frame < body + size; frame += id_size_)
    mark_frame(frame, id_size_, number_);
  return order_.add_definition(kTrace, body, size);
}

// Puts a string of the VM into the form of Java source if it names a class.
hprof_status ForeignDump::take_string(uint8_t* body, uint32_t size) {
  const uint32_t id = id_size_;
  if (size < id) return fail("the VM's dump cannot be read");
  mark_id(body, id, number_);
  if (body_.add(nullptr, kNameGrowth) == nullptr) return fail("no memory for the names of the VM's dump");
  body = body_.data();
  size = id + to_source(body + id, size - id);
  body_.cut(size);
  classes_.add_name(id_at(body), body + id, size - id);
  if (size - id == sizeof(kClassName) - 1 && std::memcmp(body + id, kClassName, size - id) == 0)
    class_name_ = id_at(body);
  return order_.add_string(body, size);
}

hprof_status ForeignDump::take_class(uint8_t* body) {
  const uint32_t id = id_size_;
  const uint64_t object = id_at(body + 4);
  heap_.add_loaded(object);
  mark_id(body + 8 + id, id, number_);
  const uint64_t name = id_at(body + 8 + id);
  classes_.add_class(name, object);
  order_.add_name(name);
  if (name == class_name_ && class_class_ == 0) class_class_ = object;
  put_u4(body, get_u4(body) + kClassSerialBase * (1 + number_));
  if (hprof_status status = put_empty_trace(); status != HPROF_OK) return status;
  return order_.add_definition(kLoadClass, body, 2 * id + 8);
}

hprof_status ForeignDump::take_definition(uint32_t tag, uint8_t* body, uint32_t size) {
  const uint32_t id = id_size_;
  switch (tag) {
    case kHeapDumpEnd:
      ended_ = true;
      return HPROF_OK;
    case kUtf8:
      return take_string(body, size);
    case kLoadClass:
      return size == 2 * id + 8 ? take_class(body) : fail("the VM's dump cannot be read");
    case kFrame:
      if (size != 4 * id + 8) return fail("the VM's dump cannot be read");
      mark_frame(body, id, number_);
      for (uint32_t i = 1; i < 4; i++) mark_id(body + i * id, id, number_);
      for (uint32_t i = 1; i < 4; i++) order_.add_name(id_at(body + i * id));
      if (get_u4(body + 4 * id) != 0) {
        put_u4(body + 4 * id, get_u4(body + 4 * id) + kClassSerialBase * (1 + number_));
      }
      break;
    case kTrace:
      return take_trace(body, size);
    default:
      break;
  }
  return order_.add_definition(tag, body, size);
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
  return order_.write(kHeapDumpSegment, static_cast<uint32_t>(body_.size()), body_.data(), body_.size());
}

// Gives classes and threads that were defined before the dump the ids of their objects in it, and the dump's
// STACK TRACE records the serials of their threads.
void ForeignDump::patch_definitions(Encoder& encoder, BinaryOut& out) {
  classes_.patch(encoder.positions, out);
  heap_.each_thread([&](uint64_t, const DumpedThread& thread) {
    const uint64_t position = encoder.positions.of_thread(thread.serial);
    if (position != 0) out.patch_object(position, thread.object);
  });
  order_.patch_threads(heap_);
}

hprof_status ForeignDump::finish(Encoder& encoder, BinaryOut& out) {
  const bool whole = main_.have == 0 && objects_.have == 0 && heap_.is_between();
  if (!whole || !ended_ || !order_.has_begun()) return fail("the VM's dump broke off");
  hprof_status status = add_missing_classes();
  if (status == HPROF_OK) status = order_.write(kHeapDumpEnd, 0, nullptr, 0);
  if (status == HPROF_OK) patch_definitions(encoder, out);
  return status == HPROF_OK ? order_.end() : status;
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
