// The records of HEAP_DUMP and OBJECT_DUMP, made while the VM walks the heap.
#include "heap_dump.h"

#include <hprof/cpp/byte_order.hpp>

namespace hprof::jvmpi {

namespace {

// Bytes of an element of an array of primitives.
uint32_t width_of_elements(jint kind) {
  constexpr char kLetters[] = "ZCFDBSIJ";  // type letters from JVMPI_BOOLEAN on
  return width_of_primitive(kLetters[(kind - JVMPI_BOOLEAN) & 7]);
}

}  // namespace

const DumpField* HeapDump::field(const DumpClass& cls, jint index) {
  const auto at = static_cast<uint32_t>(index) - cls.first_field;
  return at < cls.field_count && cls.fields[at].width != 0 ? &cls.fields[at] : nullptr;
}

uint64_t HeapDump::see(jlong class_tag, jlong* tag, jlong size, jint length) {
  const uint64_t* known = is_one_object_ || *tag == 0 ? nullptr : marks(number_of_tag(*tag));
  if (known != nullptr && (*known & is_seen(number_of_tag(*tag))) != 0) return number_of_tag(*tag);
  if (is_one_object_ && *tag != 0) return number_of_tag(*tag);
  const uint64_t cls = number_of_tag(class_tag);
  // Objects from the CDS archive whose class is not linked yet are left out, as in OBJECT_ALLOC.
  const DumpClass* of = classes_.find(cls);
  const bool is_known = of != nullptr && (of->has_fields || of->kind != JVMPI_NORMAL_OBJECT);
  if (!is_one_object_ && !is_known) return 0;
  if (*tag == 0) *tag = static_cast<jlong>(bridge_.ids.take());
  const uint64_t number = number_of_tag(*tag);
  if (number == 0) return 0;
  if (is_known) bridge_.facts.keep(number, cls, size);
  if (is_one_object_) return number;
  if ((*tag & kClass) != 0) {
    const ClassInfo* itself = bridge_.classes.info(number);
    if (itself != nullptr && itself->hidden) return 0;
  }
  return announce(number, cls, length) ? number : 0;
}

bool HeapDump::announce(uint64_t number, uint64_t cls, jint length) {
  const DumpClass* of = classes_.laid_out(cls);
  if (of == nullptr) return fail(Failure::kIndex);
  uint64_t* marks = marks_.make(number >> 5);
  if (marks == nullptr) return fail(Failure::kText);
  *marks |= is_seen(number);
  objects_++;
  const bool has_references = cls == classes_.of_classes() || of->kind == JVMPI_CLASS;
  const bool is_empty = of->kind != JVMPI_NORMAL_OBJECT && (level_ < JVMPI_DUMP_LEVEL_2 || length == 0);
  if (level_ != JVMPI_DUMP_LEVEL_0 && !has_references && !is_empty) {
    unwritten_++;
    return true;
  }
  *marks |= is_written(number);
  if (level_ != JVMPI_DUMP_LEVEL_0 && has_references) {
    uint64_t* place = places_.make(number);
    if (place == nullptr) return fail(Failure::kText);
    *place = text_.next();
  }
  const DumpClass* itself = classes_.laid_out(number);
  if (itself != nullptr && itself->has_fields && level_ != JVMPI_DUMP_LEVEL_0) {
    add_class(*itself);
  } else {
    add_record(number, *of, length);
  }
  return !text_.failed();
}

const HeapDump::Record* HeapDump::record(jlong tag, jlong class_tag) {
  const uint64_t number = number_of_tag(tag);
  if (number == last_.number && number != 0) return &last_;
  const DumpClass* of = classes_.laid_out(number_of_tag(class_tag));
  if (const uint64_t* place = places_.find(number)) {
    const bool is_class = static_cast<uint8_t>(*text_.at(*place)) == JVMPI_GC_CLASS_DUMP;
    last_ = {number, *place, is_class ? classes_.find(number) : of};
    return last_.cls != nullptr ? &last_ : nullptr;
  }
  uint64_t* marks = this->marks(number);
  if (of == nullptr && classes_.find(number_of_tag(class_tag)) != nullptr) fail(Failure::kIndex);
  if (marks == nullptr || (*marks & is_seen(number)) == 0 || of == nullptr || of->kind != JVMPI_NORMAL_OBJECT)
    return nullptr;
  if ((*marks & is_written(number)) != 0) {
    fail(Failure::kOrder);
    return nullptr;
  }
  *marks |= is_written(number);
  unwritten_--;
  last_ = {number, text_.next(), of};
  add_record(number, *of, 0);
  return text_.failed() ? nullptr : &last_;
}

// Adds a record with all references null and all values zero.
void HeapDump::add_record(uint64_t number, const DumpClass& of, jint length) {
  jobjectID id = id_of_number(number);
  if (level_ == JVMPI_DUMP_LEVEL_0) {
    text_.u1(static_cast<uint8_t>(of.kind));
    text_.pointer(id);
  } else if (of.kind == JVMPI_NORMAL_OBJECT) {
    text_.u1(JVMPI_GC_INSTANCE_DUMP);
    text_.pointer(id);
    text_.pointer(id_of_number(of.number));
    text_.u4(of.instance_bytes);
    text_.append(of.instance_bytes);
  } else if (of.kind == JVMPI_CLASS) {
    text_.u1(JVMPI_GC_OBJ_ARRAY_DUMP);
    text_.pointer(id);
    text_.u4(static_cast<uint32_t>(length));
    text_.pointer(id_of_number(of.component));
    text_.append(static_cast<uint64_t>(length) * kId);
  } else {
    text_.u1(JVMPI_GC_PRIM_ARRAY_DUMP);
    text_.pointer(id);
    text_.u4(static_cast<uint32_t>(length));
    text_.u1(static_cast<uint8_t>(of.kind));
    if (level_ >= JVMPI_DUMP_LEVEL_2)
      text_.append(static_cast<uint64_t>(length) * width_of_elements(of.kind));
  }
}

// Name and pointer are null, as in HotSpot, and there are no constants.
void HeapDump::add_class(const DumpClass& cls) {
  text_.u1(JVMPI_GC_CLASS_DUMP);
  text_.pointer(id_of_number(cls.number));
  text_.pointer(id_of_number(cls.super));
  text_.append(kInterfacesAt - 4 - (1 + 2 * kId));
  text_.u4(cls.instance_bytes);
  for (uint32_t i = 0; i < cls.interface_count; i++) text_.pointer(id_of_number(cls.interfaces[i]));
  text_.number(0, 2);
  text_.append(cls.static_bytes);
}

// A linear search in a few threads.
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
  char bytes[1 + 2 * kId + 4];
  uint64_t size = 1;
  bytes[0] = static_cast<char>(type);
  const auto add = [&](const void* pointer) {
    std::memcpy(bytes + size, &pointer, kId);
    size += kId;
  };
  add(id_of_number(number));
  if (type == JVMPI_GC_ROOT_JNI_GLOBAL) add(nullptr);  // null: JVMTI does not report the reference
  if (on != nullptr) {
    add(on->env);
    if (type != JVMPI_GC_ROOT_THREAD_BLOCK) {
      const auto frame = static_cast<uint32_t>(depth < on->frames ? depth : -1);
      for (int shift = 24; shift >= 0; shift -= 8) bytes[size++] = static_cast<char>(frame >> shift & 0xff);
    }
  }
  text_.prepend(bytes, size);
}

// The position of a field's value: after the record's head, in a class dump after its interfaces.
uint64_t HeapDump::place(const Record& of, const DumpField& field) {
  if (!field.is_static) return of.at + kInstanceHead + field.at;
  return of.at + kInterfacesAt + of.cls->interface_count * kId + 2 + field.at;
}

void HeapDump::refer(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const Record& from,
                     uint64_t to) {
  uint64_t at = 0;
  const DumpField* value = nullptr;
  const auto type = static_cast<uint8_t>(*text_.at(from.at));
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
  if (at != 0) text_.put_pointer(at, id_of_number(to));
}

jint JNICALL HeapDump::on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                    jlong class_tag, jlong referrer_class_tag, jlong size, jlong* tag,
                                    jlong* referrer_tag, jint length, void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const uint64_t to = dump->see(class_tag, tag, size, length);
  if (dump->level_ != JVMPI_DUMP_LEVEL_0 && !dump->failed()) {
    const Record* from = referrer_tag != nullptr ? dump->record(*referrer_tag, referrer_class_tag) : nullptr;
    if (from != nullptr && to != 0) dump->refer(kind, info, *from, to);
    if (referrer_tag == nullptr && to != 0 && !dump->is_one_object_) dump->root(kind, info, to);
  }
  if (dump->failed()) return JVMTI_VISIT_ABORT;
  return dump->is_one_object_ ? 0 : JVMTI_VISIT_OBJECTS;
}

jint JNICALL HeapDump::on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                jlong class_tag, jlong* tag, jvalue value, jvmtiPrimitiveType type,
                                void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const Record* of = dump->record(*tag, class_tag);
  if (dump->failed()) return JVMTI_VISIT_ABORT;
  if (of == nullptr || !of->cls->has_fields) return 0;
  const DumpField* to = field(*of->cls, info->field.index);
  const uint32_t width = width_of_primitive(static_cast<char>(type));
  if (to == nullptr || to->width != width || to->is_static != (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD))
    return 0;
  dump->text_.put_number(place(*of, *to), value_bits(&value, width), width);
  return 0;
}

jint JNICALL HeapDump::on_array(jlong class_tag, jlong, jlong* tag, jint count, jvmtiPrimitiveType type,
                                const void* elements, void* self) {
  auto* dump = static_cast<HeapDump*>(self);
  const uint64_t number = number_of_tag(*tag);
  const DumpClass* of = dump->classes_.find(number_of_tag(class_tag));
  uint64_t* marks = dump->marks(number);
  const uint32_t width = width_of_primitive(static_cast<char>(type));
  if (marks == nullptr || (*marks & (is_seen(number) | is_written(number))) != is_seen(number) ||
      of == nullptr || width_of_elements(of->kind) != width)
    return 0;
  *marks |= is_written(number);
  dump->unwritten_--;
  const uint64_t at = dump->text_.next() + kValueArrayHead;
  dump->add_record(number, *of, count);
  if (dump->text_.failed()) return JVMTI_VISIT_ABORT;
  put_values(reinterpret_cast<uint8_t*>(dump->text_.at(at)), elements, static_cast<uint64_t>(count), width);
  return 0;
}

bool HeapDump::add_element_classes() {
  classes_.each([&](const DumpClass& cls) {
    if (classes_.find(cls.component) == nullptr || failed()) return;
    const uint64_t* known = marks(cls.component);
    if (known == nullptr || (*known & is_seen(cls.component)) == 0)
      announce(cls.component, classes_.of_classes(), 0);
  });
  return !failed();
}

bool HeapDump::walk(jobject from) {
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_reference_callback = &HeapDump::on_reference;
  if (level_ >= JVMPI_DUMP_LEVEL_2) {
    callbacks.primitive_field_callback = &HeapDump::on_field;
    callbacks.array_primitive_value_callback = &HeapDump::on_array;
  }
  bridge_.ids.begin_walk();
  if (vm_.jvmti->FollowReferences(0, nullptr, from, &callbacks, this) != JVMTI_ERROR_NONE)
    return fail(Failure::kVm);
  // There are objects that the VM has reported in references but not visited.
  if (unwritten_ != 0 && !failed()) return fail(Failure::kOrder);
  return is_one_object_ || level_ == JVMPI_DUMP_LEVEL_0 || add_element_classes();
}

}  // namespace hprof::jvmpi
