// HEAP_DUMP and OBJECT_DUMP: their records, made while the VM walks the heap.
#include "plugins/jvmpi/heap_dump.h"

namespace hprof::jvmpi {

namespace {

// The bits of a value that fills the first `width` bytes of `bytes`, as the machine has them.
uint64_t bits_of(const void* bytes, uint32_t width) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < width; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint32_t at = width - 1 - i;
#else
    const uint32_t at = i;
#endif
    bits = bits << 8 | static_cast<const unsigned char*>(bytes)[at];
  }
  return bits;
}

// Of an array of primitive values.
uint32_t width_of_elements(jint kind) {
  constexpr char kLetters[] = "ZCFDBSIJ";  // of the kinds from JVMPI_BOOLEAN on
  return width_of_primitive(kLetters[(kind - JVMPI_BOOLEAN) & 7]);
}

}  // namespace

// --- records

const DumpField* HeapDump::field(const DumpClass& cls, jint index) {
  const auto at = static_cast<uint32_t>(index) - cls.first_field;
  return at < cls.field_count && cls.fields[at].width != 0 ? &cls.fields[at] : nullptr;
}

const HeapDump::Seen* HeapDump::seen(const jlong* tag) const { return seen_.find(number_of_tag(*tag)); }

uint64_t HeapDump::see(jlong class_tag, jlong* tag, jint length) {
  if (*tag != 0 && (is_one_object_ || seen(tag) != nullptr)) return number_of_tag(*tag);
  const uint64_t cls = number_of_tag(class_tag);
  // Left out, as in OBJECT_ALLOC: objects from the VM's archive whose class is not linked yet.
  const DumpClass* of = classes_.find(cls);
  const bool is_known = of != nullptr && (of->has_fields || of->kind != JVMPI_NORMAL_OBJECT);
  if (!is_one_object_ && !is_known) return 0;
  if (*tag == 0) *tag = static_cast<jlong>(bridge_.ids.take());
  const uint64_t number = number_of_tag(*tag);
  if (number == 0 || is_one_object_) return number;
  if ((*tag & kClass) != 0) {
    const ClassInfo* itself = bridge_.classes.info(number);
    if (itself != nullptr && itself->hidden) return 0;
  }
  return add_record(number, cls, length) ? number : 0;
}

bool HeapDump::add_record(uint64_t number, uint64_t cls, jint length) {
  const DumpClass* of = classes_.laid_out(cls);
  const DumpClass* itself = classes_.laid_out(number);
  if (itself != nullptr && !itself->has_fields) itself = nullptr;
  Seen* slot = of != nullptr ? seen_.make(number) : nullptr;
  if (slot == nullptr) {
    failed_ = true;
    return false;
  }
  *slot = {records_.size(), itself != nullptr ? itself : of};
  jobjectID id = id_of_number(number);
  if (level_ == JVMPI_DUMP_LEVEL_0) {
    records_.u1(static_cast<uint8_t>(of->kind));
    records_.pointer(id);
  } else if (itself != nullptr) {
    return add_class(*itself);
  } else if (of->kind == JVMPI_NORMAL_OBJECT) {
    records_.u1(JVMPI_GC_INSTANCE_DUMP);
    records_.pointer(id);
    records_.pointer(id_of_number(of->number));
    records_.u4(of->instance_bytes);
    records_.append(of->instance_bytes);
  } else if (of->kind == JVMPI_CLASS) {
    records_.u1(JVMPI_GC_OBJ_ARRAY_DUMP);
    records_.pointer(id);
    records_.u4(static_cast<uint32_t>(length));
    records_.pointer(id_of_number(of->component));
    records_.append(static_cast<uint64_t>(length) * kId);
  } else {
    records_.u1(JVMPI_GC_PRIM_ARRAY_DUMP);
    records_.pointer(id);
    records_.u4(static_cast<uint32_t>(length));
    records_.u1(static_cast<uint8_t>(of->kind));
    if (level_ >= JVMPI_DUMP_LEVEL_2)
      records_.append(static_cast<uint64_t>(length) * width_of_elements(of->kind));
  }
  return !records_.failed();
}

// The name and the word after it are null, as in HotSpot, and there are no constants.
bool HeapDump::add_class(const DumpClass& cls) {
  records_.u1(JVMPI_GC_CLASS_DUMP);
  records_.pointer(id_of_number(cls.number));
  records_.pointer(id_of_number(cls.super));
  records_.append(kInterfacesAt - 4 - (1 + 2 * kId));
  records_.u4(cls.instance_bytes);
  for (uint32_t i = 0; i < cls.interface_count; i++) records_.pointer(id_of_number(cls.interfaces[i]));
  records_.number(0, 2);
  records_.append(cls.static_bytes);
  return !records_.failed();
}

// --- what the walk tells

// Few, in the order of their numbers: searched from the first.
const HeapDump::Thread* HeapDump::thread(jlong tag) const {
  for (jint i = 0; i < thread_count_; i++) {
    if (threads_[i].number == number_of_tag(tag)) return &threads_[i];
  }
  return nullptr;
}

void HeapDump::root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, uint64_t number) {
  const Thread* on = nullptr;
  jint depth = -1;
  uint8_t type = JVMPI_GC_ROOT_UNKNOWN;
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
      type = JVMPI_GC_ROOT_JNI_GLOBAL;
      break;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
      type = JVMPI_GC_ROOT_STICKY_CLASS;
      break;
    case JVMTI_HEAP_REFERENCE_MONITOR:
      type = JVMPI_GC_ROOT_MONITOR_USED;
      break;
    case JVMTI_HEAP_REFERENCE_THREAD:
      on = thread(static_cast<jlong>(number));
      if (on != nullptr) type = JVMPI_GC_ROOT_THREAD_BLOCK;
      break;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
      on = thread(info->stack_local.thread_tag);
      depth = info->stack_local.depth;
      if (on != nullptr) type = JVMPI_GC_ROOT_JAVA_FRAME;
      break;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
      on = thread(info->jni_local.thread_tag);
      depth = info->jni_local.depth;
      if (on != nullptr) type = JVMPI_GC_ROOT_JNI_LOCAL;
      break;
    default:
      break;
  }
  roots_.u1(type);
  roots_.pointer(id_of_number(number));
  if (type == JVMPI_GC_ROOT_JNI_GLOBAL) roots_.pointer<void>(nullptr);  // JVMTI does not give it
  if (on == nullptr) return;
  roots_.pointer(on->env);
  if (type != JVMPI_GC_ROOT_THREAD_BLOCK) roots_.u4(static_cast<uint32_t>(depth < on->frames ? depth : -1));
}

// After the record's head; in a class dump, after its interfaces.
uint64_t HeapDump::place(const Seen& of, const DumpField& field) {
  if (!field.is_static) return of.at + kInstanceHead + field.at;
  return of.at + kInterfacesAt + of.cls->interface_count * kId + 2 + field.at;
}

void HeapDump::refer(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const Seen& from,
                     uint64_t to) {
  uint64_t at = 0;
  const DumpField* value = nullptr;
  const auto type = static_cast<uint8_t>(*records_.at(from.at));
  const bool is_class = type == JVMPI_GC_CLASS_DUMP;
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_FIELD:
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
      value = from.cls->has_fields ? field(*from.cls, info->field.index) : nullptr;
      if (value != nullptr && value->is_static == is_class) at = place(from, *value);
      break;
    case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
      if (type == JVMPI_GC_OBJ_ARRAY_DUMP)
        at = from.at + kObjectArrayHead + static_cast<uint64_t>(info->array.index) * kId;
      break;
    case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
      if (is_class) at = from.at + kLoaderAt;
      break;
    case JVMTI_HEAP_REFERENCE_SIGNERS:
      if (is_class) at = from.at + kSignersAt;
      break;
    case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
      if (is_class) at = from.at + kDomainAt;
      break;
    default:
      break;
  }
  if (at != 0) records_.put_pointer(at, id_of_number(to));
}

// [heap]
jint JNICALL HeapDump::on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                    jlong class_tag, jlong, jlong, jlong* tag, jlong* referrer_tag,
                                    jint length, void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const uint64_t to = dump->see(class_tag, tag, length);
  if (dump->failed()) return JVMTI_VISIT_ABORT;
  if (to != 0 && dump->level_ != JVMPI_DUMP_LEVEL_0) {
    const Seen* from = referrer_tag != nullptr ? dump->seen(referrer_tag) : nullptr;
    if (from != nullptr) dump->refer(kind, info, *from, to);
    if (referrer_tag == nullptr && !dump->is_one_object_) dump->root(kind, info, to);
  }
  return dump->is_one_object_ ? 0 : JVMTI_VISIT_OBJECTS;
}

// [heap]
jint JNICALL HeapDump::on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong,
                                jlong* tag, jvalue value, jvmtiPrimitiveType type, void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const Seen* of = dump->seen(tag);
  if (of == nullptr || !of->cls->has_fields) return 0;
  const DumpField* to = field(*of->cls, info->field.index);
  const uint32_t width = width_of_primitive(static_cast<char>(type));
  if (to == nullptr || to->width != width || to->is_static != (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD))
    return 0;
  dump->records_.put_number(place(*of, *to), bits_of(&value, width), width);
  return 0;
}

// [heap]
jint JNICALL HeapDump::on_array(jlong, jlong, jlong* tag, jint count, jvmtiPrimitiveType type,
                                const void* elements, void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const Seen* of = dump->seen(tag);
  const uint32_t width = width_of_primitive(static_cast<char>(type));
  if (of == nullptr || width_of_elements(of->cls->kind) != width) return 0;
  const auto* from = static_cast<const char*>(elements);
  for (jint i = 0; i < count; i++) {
    const uint64_t at = static_cast<uint64_t>(i) * width;
    dump->records_.put_number(of->at + kValueArrayHead + at, bits_of(from + at, width), width);
  }
  return 0;
}

bool HeapDump::walk(jobject from) {
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_reference_callback = &HeapDump::on_reference;
  if (level_ >= JVMPI_DUMP_LEVEL_2) {
    callbacks.primitive_field_callback = &HeapDump::on_field;
    callbacks.array_primitive_value_callback = &HeapDump::on_array;
  }
  return vm_.jvmti->FollowReferences(0, nullptr, from, &callbacks, this) == JVMTI_ERROR_NONE && !failed();
}

}  // namespace hprof::jvmpi
