// Heap dumps: sub-records, gathered into HEAP DUMP SEGMENT records of bounded length.
//
// The size of every sub-record is known before its first byte is written. A sub-record that fits goes to the
// segment buffer, which is written, after its length, when the next one does not fit; one larger than the
// buffer goes straight to the output in a segment of its own. So a segment's length is always right and never
// 0, even if the process dies.
#include <hprof/cpp/dump_types.hpp>

#include "binary.h"

namespace hprof::binary {

namespace {

void flush_segment(Encoder& encoder, BinaryOut& out, uint64_t time_us) {
  if (encoder.segment_used == 0) return;
  write_head(encoder, out, kHeapDumpSegment, time_us, static_cast<uint32_t>(encoder.segment_used));
  out.bytes(encoder.segment.data(), encoder.segment_used);
  encoder.segment_used = 0;
}

hprof_status no_more(hprof_out*, uint32_t) { return HPROF_FAILED; }

// Writes a sub-record of exactly `size` bytes by body(BinaryOut&).
template <typename Body>
void write_sub_record(Encoder& encoder, BinaryOut& out, uint64_t time_us, uint64_t size, const Body& body) {
  if (size > UINT32_MAX) return out.fail(HPROF_FAILED);
  if (!encoder.segment.cover(encoder.segment_used + size)) flush_segment(encoder, out, time_us);
  if (!encoder.segment.cover(encoder.segment_used + size)) {
    write_head(encoder, out, kHeapDumpSegment, time_us, static_cast<uint32_t>(size));
    body(out);
    return;
  }
  uint8_t* begin = encoder.segment.data() + encoder.segment_used;
  hprof_out buffer = {};
  buffer.size = offsetof(hprof_out, through);  // neither `through` nor `patch`
  buffer.at = begin;
  buffer.end = begin + size;
  buffer.more = no_more;
  BinaryOut into(&buffer, encoder.id_size);
  body(into);
  if (into.ok()) encoder.segment_used += size;
  out.fail(into.status());
}

void write_root(Encoder& encoder, BinaryOut& out, const hprof_rec_heap_root& root) {
  const bool of_thread = root.root == HPROF_ROOT_THREAD_OBJECT || root.root == HPROF_ROOT_JNI_LOCAL ||
                         root.root == HPROF_ROOT_JAVA_FRAME || root.root == HPROF_ROOT_NATIVE_STACK ||
                         root.root == HPROF_ROOT_THREAD_BLOCK;
  // Readers fail if a root's thread is missing.
  const uint32_t kind = of_thread && root.thread == 0 ? HPROF_ROOT_UNKNOWN : root.root;
  uint64_t extra = 0;
  switch (kind) {
    case HPROF_ROOT_JNI_GLOBAL:
      extra = encoder.id_size;
      break;
    case HPROF_ROOT_THREAD_OBJECT:
    case HPROF_ROOT_JNI_LOCAL:
    case HPROF_ROOT_JAVA_FRAME:
      extra = 8;
      break;
    case HPROF_ROOT_NATIVE_STACK:
    case HPROF_ROOT_THREAD_BLOCK:
      extra = 4;
      break;
    case HPROF_ROOT_STICKY_CLASS:
    case HPROF_ROOT_MONITOR_USED:
    case HPROF_ROOT_UNKNOWN:
      break;
    default:
      return out.fail(HPROF_UNSUPPORTED);
  }
  write_sub_record(encoder, out, root.head.time_us, 1 + encoder.id_size + extra, [&](BinaryOut& to) {
    to.u1(kind);
    to.object(root.object);
    if (kind == HPROF_ROOT_JNI_GLOBAL) to.raw_id(root.reference);
    if (extra == 0 || kind == HPROF_ROOT_JNI_GLOBAL) return;
    to.thread(root.thread);
    if (extra == 4) return;
    kind == HPROF_ROOT_THREAD_OBJECT ? to.trace(root.trace) : to.u4(static_cast<uint32_t>(root.frame));
  });
}

void write_value(BinaryOut& to, const hprof_value& value, uint32_t id_size) {
  to.u1(value.type);
  if (value.type == HPROF_TYPE_OBJECT) return to.object(value.bits);
  switch (width_of(value.type, id_size)) {
    case 1:
      to.u1(static_cast<uint32_t>(value.bits));
      break;
    case 2:
      to.u2(static_cast<uint32_t>(value.bits));
      break;
    case 4:
      to.u4(static_cast<uint32_t>(value.bits));
      break;
    default:
      to.u8(value.bits);
  }
}

// The values of a class; a missing list counts as empty.
struct Values {
  const hprof_value* at;
  uint32_t count;
  Values(const hprof_value* values, uint32_t n) : at(values), count(values == nullptr ? 0 : n) {}
  // Bytes of the values without their types; known: false if there is an unknown type.
  uint64_t width(uint32_t id_size, bool& known) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t width = width_of(at[i].type, id_size);
      if (width == 0) known = false;
      sum += width;
    }
    return sum;
  }
};

void write_class(Encoder& encoder, BinaryOut& out, const hprof_rec_heap_class& dump) {
  const uint32_t id = encoder.id_size;
  const Values constants(dump.constants, dump.constant_count), statics(dump.statics, dump.static_count),
      fields(dump.fields, dump.field_count);
  bool known = true;
  uint64_t size = 1 + 7 * id + 8 + 6;
  size += uint64_t{3} * constants.count + constants.width(id, known);
  size += uint64_t{id + 1} * statics.count + statics.width(id, known);
  size += uint64_t{id + 1} * fields.count;
  fields.width(id, known);
  if (!known) return out.fail(HPROF_FAILED);
  write_sub_record(encoder, out, dump.head.time_us, size, [&](BinaryOut& to) {
    to.u1(kClassDump);
    to.object(dump.object);
    to.trace(dump.trace);
    to.object(dump.super);
    to.object(dump.loader);
    to.object(dump.signers);
    to.object(dump.domain);
    to.object(0);  // reserved, twice
    to.object(0);
    to.u4(dump.instance_size);
    to.u2(constants.count);
    for (uint32_t i = 0; i < constants.count; i++) {
      to.u2(constants.at[i].index);
      write_value(to, constants.at[i], id);
    }
    to.u2(statics.count);
    for (uint32_t i = 0; i < statics.count; i++) {
      to.string(statics.at[i].name);
      write_value(to, statics.at[i], id);
    }
    to.u2(fields.count);
    for (uint32_t i = 0; i < fields.count; i++) {
      to.string(fields.at[i].name);
      to.u1(fields.at[i].type);
    }
  });
}

void write_instance(Encoder& encoder, BinaryOut& out, const hprof_rec_heap_instance& instance) {
  const uint64_t size = 1 + 2 * encoder.id_size + 8 + uint64_t{instance.bytes_size};
  write_sub_record(encoder, out, instance.head.time_us, size, [&](BinaryOut& to) {
    to.u1(kInstanceDump);
    to.object(instance.object);
    to.trace(instance.trace);
    to.object(instance.class_object);
    to.u4(instance.bytes_size);
    instance.bytes == nullptr ? to.zeros(instance.bytes_size) : to.bytes(instance.bytes, instance.bytes_size);
  });
}

uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

bool is_part(const hprof_rec_heap_array& array) {
  return HPROF_REACHES(&array.head, hprof_rec_heap_array, count) && array.count != 0;
}

struct Elements {
  const void* at;
  bool are_objects;
  uint32_t width;
  void write(BinaryOut& to, uint32_t count) const {
    if (at == nullptr) return to.zeros(uint64_t{count} * width);
    if (!are_objects || width == 8) return to.values(at, count, width);
    const uint64_t* ids = static_cast<const uint64_t*>(at);
    for (uint32_t i = 0; i < count && to.ok(); i++) to.object(ids[i]);
  }
};

void write_array(Encoder& encoder, BinaryOut& out, const hprof_rec_heap_array& array) {
  const bool of_objects = array.head.kind == HPROF_RECORD_HEAP_OBJECT_ARRAY;
  const uint32_t id = encoder.id_size;
  const uint32_t width = of_objects ? id : width_of(array.type, id);
  if (width == 0 || (!of_objects && array.type == HPROF_TYPE_OBJECT)) return out.fail(HPROF_FAILED);
  const uint64_t fixed = 1 + id + 8 + (of_objects ? id : 1);
  // The format has no arrays of 4 GiB or more: they are cut, as in the VM's own dumps.
  const uint64_t most = (UINT32_MAX - fixed) / width;
  const uint32_t length = array.length < most ? array.length : static_cast<uint32_t>(most);
  if (length < array.length && (!is_part(array) || array.first == 0))
    count_loss(encoder.lost_elements, array.length - length);
  const uint64_t size = fixed + uint64_t{length} * width;
  const auto write_begin = [&](BinaryOut& to) {
    to.u1(of_objects ? kObjectArrayDump : kPrimitiveArrayDump);
    to.object(array.object);
    to.trace(array.trace);
    to.u4(length);
    of_objects ? to.object(array.class_object) : to.u1(array.type);
  };
  const Elements elements = {array.elements, of_objects, width};
  if (!is_part(array)) {
    return write_sub_record(encoder, out, array.head.time_us, size, [&](BinaryOut& to) {
      write_begin(to);
      elements.write(to, length);
    });
  }
  // The parts of a long array form a segment of their own, which the first part begins.
  if (array.first == 0) {
    flush_segment(encoder, out, array.head.time_us);
    write_head(encoder, out, kHeapDumpSegment, array.head.time_us, static_cast<uint32_t>(size));
    write_begin(out);
  }
  if (array.first < length) elements.write(out, smaller(array.count, length - array.first));
}

}  // namespace

void end_dump(Encoder& encoder, BinaryOut& out, uint64_t time_us) {
  flush_segment(encoder, out, time_us);
  write_head(encoder, out, kHeapDumpEnd, time_us, 0);
  encoder.in_dump = 0;
}

void write_heap_record(Encoder& encoder, BinaryOut& out, const hprof_record* record) {
  // The header's version has no segments.
  if (encoder.segments == 0) return out.fail(HPROF_UNSUPPORTED);
  if (record->kind == HPROF_RECORD_HEAP_DUMP_END) {
    if (encoder.in_dump != 0) end_dump(encoder, out, record->time_us);
    return;
  }
  if (record->kind == HPROF_RECORD_FOREIGN_DUMP) {
    flush_segment(encoder, out, record->time_us);
    return write_foreign(encoder, out, as<hprof_rec_foreign_dump>(record));
  }
  encoder.in_dump = 1;
  switch (record->kind) {
    case HPROF_RECORD_HEAP_DUMP_BEGIN:
      break;
    case HPROF_RECORD_HEAP_ROOT:
      write_root(encoder, out, as<hprof_rec_heap_root>(record));
      break;
    case HPROF_RECORD_HEAP_CLASS:
      write_class(encoder, out, as<hprof_rec_heap_class>(record));
      break;
    case HPROF_RECORD_HEAP_INSTANCE:
      write_instance(encoder, out, as<hprof_rec_heap_instance>(record));
      break;
    default:
      write_array(encoder, out, as<hprof_rec_heap_array>(record));
  }
}

}  // namespace hprof::binary
