// Heap dumps. The text shows references only: primitive values and null references are left out, as the
// original does.
#include "ascii.h"

namespace hprof::ascii {

namespace {

void write_reference(TextOut& out, const char (&label)[9], hprof_object_id id) {
  if (id != 0) out.lit(label).hex(id).lit("\n");
}

bool shown(const hprof_value& value) { return value.type == HPROF_TYPE_OBJECT && value.bits != 0; }

}  // namespace

void write_heap_begin(TextOut& out, const hprof_rec_heap_dump& dump) {
  out.lit("HEAP DUMP BEGIN (").dec(dump.objects).lit(" objects, ").dec(dump.bytes).lit(" bytes) ");
  out.date(dump.created_ms).lit("\n");
}

void write_heap_root(TextOut& out, const hprof_rec_heap_root& root) {
  out.lit("ROOT ").hex(root.object);
  switch (root.root) {
    case HPROF_ROOT_THREAD_OBJECT:
      out.lit(" (kind=<thread>, id=").thread(root.thread).lit(", trace=").trace(root.trace);
      break;
    case HPROF_ROOT_JNI_GLOBAL:
      out.lit(" (kind=<JNI global ref>, id=").hex(root.reference).lit(", trace=").trace(root.trace);
      break;
    case HPROF_ROOT_JNI_LOCAL:
      out.lit(" (kind=<JNI local ref>, thread=").thread(root.thread).lit(", frame=").signed_dec(root.frame);
      break;
    case HPROF_ROOT_STICKY_CLASS:
      out.lit(" (kind=<system class>, name=").class_name(root.owner);
      break;
    case HPROF_ROOT_MONITOR_USED:
      out.lit(" (kind=<busy monitor>");
      break;
    case HPROF_ROOT_THREAD_BLOCK:
      out.lit(" (kind=<thread block>, thread=").thread(root.thread);
      break;
    case HPROF_ROOT_JAVA_FRAME:
      out.lit(" (kind=<Java stack>, thread=").thread(root.thread).lit(", frame=").signed_dec(root.frame);
      break;
    case HPROF_ROOT_NATIVE_STACK:
      out.lit(" (kind=<native stack>, thread=").thread(root.thread);
      break;
    default:
      out.lit(" (kind=<unknown>");
  }
  out.lit(")\n");
}

void write_heap_class(TextOut& out, const hprof_rec_heap_class& dump) {
  out.lit("CLS ").hex(dump.object).lit(" (name=").class_name(dump.owner);
  out.lit(", trace=").trace(dump.trace).lit(")\n");
  write_reference(out, "\tsuper\t\t", dump.super);
  if (dump.loader != 0) out.lit("\tloader\t\t").hex(dump.loader).lit("\n");
  if (dump.signers != 0) out.lit("\tsigners\t\t").hex(dump.signers).lit("\n");
  if (dump.domain != 0) out.lit("\tdomain\t\t").hex(dump.domain).lit("\n");
  for (uint32_t i = 0; i < dump.static_count && out.ok(); i++) {
    if (!shown(dump.statics[i])) continue;
    out.lit("\tstatic ");
    out.string(dump.statics[i].name, Safe::kWord);
    out.lit("\t").hex(dump.statics[i].bits).lit("\n");
  }
  for (uint32_t i = 0; i < dump.constant_count && out.ok(); i++) {
    if (!shown(dump.constants[i])) continue;
    out.lit("\tconstant pool entry ").dec(dump.constants[i].index);
    out.lit("\t").hex(dump.constants[i].bits).lit("\n");
  }
}

void write_heap_instance(TextOut& out, const hprof_rec_heap_instance& instance) {
  out.lit("OBJ ").hex(instance.object).lit(" (sz=").dec(instance.heap_bytes);
  out.lit(", trace=").trace(instance.trace).lit(", class=").class_name(instance.owner);
  out.lit("@").hex(instance.class_object).lit(")\n");
  if (instance.fields == nullptr) return;
  for (uint32_t i = 0; i < instance.field_count && out.ok(); i++) {
    const hprof_value& field = instance.fields[i];
    if (!shown(field)) continue;
    out.lit("\t");
    out.string(field.name, Safe::kWord) < 8 ? out.lit("\t\t") : out.lit("\t");
    out.hex(field.bits).lit("\n");
  }
}

static void write_elements(TextOut& out, const void* elements, uint32_t first, uint32_t count) {
  const uint64_t* ids = static_cast<const uint64_t*>(elements);
  if (ids == nullptr) return;
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    if (ids[i] != 0) out.lit("\t[").dec(first + i).lit("]\t\t").hex(ids[i]).lit("\n");
  }
}

void write_heap_array(TextOut& out, const hprof_rec_heap_array& array) {
  const bool of_objects = array.head.kind == HPROF_RECORD_HEAP_OBJECT_ARRAY;
  const bool part = HPROF_REACHES(&array.head, hprof_rec_heap_array, count) && array.count != 0;
  if (part && array.first != 0) {
    if (of_objects) write_elements(out, array.elements, array.first, array.count);
    return;
  }
  out.lit("ARR ").hex(array.object).lit(" (sz=").dec(array.heap_bytes);
  out.lit(", trace=").trace(array.trace).lit(", nelems=").dec(array.length);
  out.lit(", elem type=").class_name(array.owner);
  if (!of_objects) {
    out.lit(")\n");
    return;
  }
  out.lit("@").hex(array.class_object).lit(")\n");
  write_elements(out, array.elements, 0, part ? array.count : array.length);
}

}  // namespace hprof::ascii
