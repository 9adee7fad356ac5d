// Heap dumps: a line for each root, class, object and array, with all values.
#include <type_traits>

#include <hprof/cpp/dump_types.hpp>

#include "json_out.h"

namespace hprof::json {

namespace {

const char* root_name(uint32_t root) {
  constexpr const char* kNames[] = {"jni_global",   "jni_local",    "java_frame",   "native_stack",
                                    "sticky_class", "thread_block", "monitor_used", "thread_object"};
  return root >= HPROF_ROOT_JNI_GLOBAL && root <= HPROF_ROOT_THREAD_OBJECT
             ? kNames[root - HPROF_ROOT_JNI_GLOBAL]
             : "unknown";
}

const char* type_name(uint32_t type) {
  constexpr const char* kNames[] = {"object", nullptr, "boolean", "char", "float",
                                    "double", "byte",  "short",   "int",  "long"};
  return type >= HPROF_TYPE_OBJECT && type <= HPROF_TYPE_LONG ? kNames[type - HPROF_TYPE_OBJECT] : nullptr;
}

template <class To>
To from_bits(uint64_t bits) {
  // By way of the integer of the same width, so that it is right in either byte order.
  std::conditional_t<sizeof(To) == 8, uint64_t, uint32_t> word =
      static_cast<std::conditional_t<sizeof(To) == 8, uint64_t, uint32_t>>(bits);
  To value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// `bits`: as in hprof_value. A char is its UTF-16 unit, an object its id, 0 for null.
void write_value(JsonOut& out, uint32_t type, uint64_t bits) {
  switch (type) {
    case HPROF_TYPE_BOOLEAN:
      bits != 0 ? out.lit("true") : out.lit("false");
      break;
    case HPROF_TYPE_BYTE:
      out.signed_dec(static_cast<int8_t>(bits));
      break;
    case HPROF_TYPE_SHORT:
      out.signed_dec(static_cast<int16_t>(bits));
      break;
    case HPROF_TYPE_INT:
      out.signed_dec(static_cast<int32_t>(bits));
      break;
    case HPROF_TYPE_LONG:
      out.signed_dec(static_cast<int64_t>(bits));
      break;
    case HPROF_TYPE_FLOAT:
      out.real(static_cast<double>(from_bits<float>(bits)));
      break;
    case HPROF_TYPE_DOUBLE:
      out.real(from_bits<double>(bits));
      break;
    default:
      out.dec(bits);
  }
}

void write_values(JsonOut& out, const hprof_value* values, uint32_t count, bool has_names, bool has_values) {
  out.lit("[");
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    const hprof_value& value = values[i];
    if (i != 0) out.lit(",");
    out.lit("{\"type\":");
    out.text(type_name(value.type));
    has_names ? out.string("name", value.name) : out.number("index", value.index);
    if (has_values) write_value(out.key("value"), value.type, value.bits);
    out.lit("}");
  }
  out.lit("]");
}

void write_ids(JsonOut& out, hprof_object_id object, hprof_trace_serial trace) {
  out.number("object", object).number("trace", trace);
}

// Reads one element of native byte order.
uint64_t element_at(const void* elements, uint32_t index, uint32_t width) {
  const uint8_t* at = static_cast<const uint8_t*>(elements) + uint64_t{index} * width;
  uint8_t u1;
  uint16_t u2;
  uint32_t u4;
  uint64_t u8;
  switch (width) {
    case 1:
      std::memcpy(&u1, at, sizeof u1);
      return u1;
    case 2:
      std::memcpy(&u2, at, sizeof u2);
      return u2;
    case 4:
      std::memcpy(&u4, at, sizeof u4);
      return u4;
    default:
      std::memcpy(&u8, at, sizeof u8);
      return u8;
  }
}

}  // namespace

void write_heap_begin(JsonOut& out, const hprof_rec_heap_dump& dump) {
  out.begin("heap_dump").number("time_us", dump.head.time_us).number("created_ms", dump.created_ms);
  out.number("objects", dump.objects).number("bytes", dump.bytes).end();
}

void write_heap_root(JsonOut& out, const hprof_rec_heap_root& root) {
  out.begin("root").key("kind").text(root_name(root.root));
  write_ids(out, root.object, root.trace);
  out.number("reference", root.reference).key("thread").thread_of(root.thread);
  out.key("frame").signed_dec(root.frame);
  out.key("class").class_of(root.owner).end();
}

void write_heap_class(JsonOut& out, const hprof_rec_heap_class& dump) {
  out.begin("heap_class").key("class").class_of(dump.owner);
  write_ids(out, dump.object, dump.trace);
  out.number("super", dump.super).number("loader", dump.loader).number("signers", dump.signers);
  out.number("domain", dump.domain).number("instance_size", dump.instance_size);
  write_values(out.key("constants"), dump.constants, dump.constant_count, false, true);
  write_values(out.key("statics"), dump.statics, dump.static_count, true, true);
  write_values(out.key("fields"), dump.fields, dump.field_count, true, false);
  out.end();
}

void write_heap_instance(JsonOut& out, const hprof_rec_heap_instance& instance) {
  out.begin("instance").key("class").class_of(instance.owner);
  write_ids(out, instance.object, instance.trace);
  out.number("class_object", instance.class_object).number("bytes", instance.heap_bytes);
  write_values(out.key("fields"), instance.fields, instance.fields != nullptr ? instance.field_count : 0,
               true, true);
  out.end();
}

void write_heap_array(JsonOut& out, const hprof_rec_heap_array& array) {
  const bool of_objects = array.head.kind == HPROF_RECORD_HEAP_OBJECT_ARRAY;
  const uint32_t type = of_objects ? HPROF_TYPE_OBJECT : array.type;
  const bool part = HPROF_REACHES(&array.head, hprof_rec_heap_array, count) && array.count != 0;
  const uint32_t count = part ? array.count : array.length;
  const uint32_t width = width_of(type, sizeof(uint64_t));
  out.begin("array").key("class").class_of(array.owner);
  write_ids(out, array.object, array.trace);
  out.number("class_object", array.class_object).number("bytes", array.heap_bytes);
  out.key("type")
      .text(type_name(type))
      .number("length", array.length)
      .number("first", part ? array.first : 0);
  out.key("elements");
  if (array.elements == nullptr || width == 0) {
    out.lit("null");
  } else {
    out.lit("[");
    for (uint32_t i = 0; i < count && out.ok(); i++) {
      if (i != 0) out.lit(",");
      write_value(out, type, element_at(array.elements, i, width));
    }
    out.lit("]");
  }
  out.end();
}

}  // namespace hprof::json
