#include "dump_classes.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

// java.lang.Class is found as the class of a class: FindClass would call the application's class loader, and
// a dump is often taken because the heap is full.
bool DumpClasses::open(JNIEnv* jni, jclass any) {
  constexpr uint64_t kFirst = 1024, kMost = 1u << 22;
  if (table_.is_open()) return true;
  Local<jclass> of_classes(jni, jni->GetObjectClass(any));
  of_classes_ = classes_.number(jni, of_classes);
  component_of_ = jni->GetMethodID(of_classes, "getComponentType", "()Ljava/lang/Class;");
  if (component_of_ == nullptr) jni->ExceptionClear();
  return table_.open(vm_.services, kFirst, kMost);
}

bool DumpClasses::take(JNIEnv* jni) {
  FromVm<jclass> classes(vm_);
  jint count = 0;
  bool fine = vm_.jvmti->GetLoadedClasses(&count, &classes) == JVMTI_ERROR_NONE && count != 0 &&
              open(jni, classes[0]);
  for (jint i = 0; i < count; i++) {
    fine = fine && add(jni, classes[i]);
    jni->DeleteLocalRef(classes[i]);
  }
  return fine;
}

bool DumpClasses::take_of(JNIEnv* jni, jclass cls) {
  const uint64_t number = classes_.number(jni, cls);
  if (!open(jni, cls)) return false;
  if (find(number) != nullptr) return true;
  if (!add(jni, cls)) return false;
  FromVm<jclass> interfaces(vm_);
  jint count = 0;
  if (vm_.jvmti->GetImplementedInterfaces(cls, &count, &interfaces) != JVMTI_ERROR_NONE) count = 0;
  bool fine = true;
  for (jint i = 0; i < count; i++) {
    fine = fine && take_of(jni, interfaces[i]);
    jni->DeleteLocalRef(interfaces[i]);
  }
  Local<jclass> super(jni, jni->GetSuperclass(cls));
  return fine && (super == nullptr || take_of(jni, super));
}

bool DumpClasses::add(JNIEnv* jni, jclass cls) {
  const uint64_t number = classes_.number(jni, cls);
  const ClassInfo* info = classes_.info(number);
  if (info == nullptr || info->hidden) return info != nullptr;
  jint status = 0;
  auto* made = arena_.allocate_array<DumpClass>(1);
  if (made == nullptr || vm_.jvmti->GetClassStatus(cls, &status) != JVMTI_ERROR_NONE) return false;
  made->number = number;
  made->kind = info->kind;
  made->has_fields = info->kind == JVMPI_NORMAL_OBJECT && (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
  if (made->has_fields) {
    Local<jclass> super(jni, jni->GetSuperclass(cls));
    if (super != nullptr) made->super = classes_.number(jni, super);
    if (!add_fields(cls, made) || !add_interfaces(jni, cls, made)) return false;
  } else if (info->kind == JVMPI_CLASS && component_of_ != nullptr) {
    Local<jclass> of(jni, static_cast<jclass>(jni->CallObjectMethod(cls, component_of_)));
    clear_exception(jni);
    const uint64_t component = of != nullptr ? classes_.number(jni, of) : 0;
    const ClassInfo* known = classes_.info(component);
    if (known != nullptr && known->kind == JVMPI_NORMAL_OBJECT) made->component = component;
  }
  DumpClass** slot = table_.make(number);
  if (slot != nullptr) *slot = made;
  return slot != nullptr;
}

bool DumpClasses::add_fields(jclass cls, DumpClass* to) {
  constexpr jint kAccStatic = 0x0008;
  constexpr char kLowerCase = 'a' - 'A';
  FromVm<jfieldID> fields(vm_);
  jint count = 0;
  if (vm_.jvmti->GetClassFields(cls, &count, &fields) != JVMTI_ERROR_NONE) count = 0;
  char* own = arena_.allocate_array<char>(count);
  if (own == nullptr) return false;
  for (jint i = 0; i < count; i++) {
    FromVm<char> signature(vm_);
    jint modifiers = 0;
    if (vm_.jvmti->GetFieldModifiers(cls, fields[i], &modifiers) != JVMTI_ERROR_NONE ||
        vm_.jvmti->GetFieldName(cls, fields[i], nullptr, &signature, nullptr) != JVMTI_ERROR_NONE)
      return false;
    const char type = static_cast<char*>(signature)[0];
    own[i] = static_cast<char>((modifiers & kAccStatic) != 0 && type != '[' ? type + kLowerCase
                               : (modifiers & kAccStatic) != 0              ? 'l'
                                                                            : type);
  }
  to->own = own;
  to->own_count = static_cast<uint32_t>(count);
  return true;
}

bool DumpClasses::add_interfaces(JNIEnv* jni, jclass cls, DumpClass* to) {
  FromVm<jclass> interfaces(vm_);
  jint count = 0;
  if (vm_.jvmti->GetImplementedInterfaces(cls, &count, &interfaces) != JVMTI_ERROR_NONE) count = 0;
  auto* numbers = arena_.allocate_array<uint64_t>(count);
  for (jint i = 0; i < count; i++) {
    if (numbers != nullptr) numbers[i] = classes_.number(jni, interfaces[i]);
    jni->DeleteLocalRef(interfaces[i]);
  }
  to->interfaces = numbers;
  to->interface_count = static_cast<uint32_t>(count);
  return numbers != nullptr;
}

DumpClass* DumpClasses::find(uint64_t number) const {
  DumpClass* const* slot = table_.find(number);
  return slot != nullptr ? *slot : nullptr;
}

const DumpClass* DumpClasses::laid_out(uint64_t number) {
  DumpClass* cls = find(number);
  return cls == nullptr || cls->is_laid_out || !cls->has_fields || lay_out(cls) ? cls : nullptr;
}

uint32_t width_of_primitive(char type) {
  switch (type | 0x20) {
    case 'j':
    case 'd':
      return 8;
    case 'i':
    case 'f':
      return 4;
    case 's':
    case 'c':
      return 2;
    default:
      return 1;
  }
}

uint32_t DumpClasses::width_of(char type) const {
  const char lower = static_cast<char>(type | 0x20);
  if (lower == 'l' || lower == ('[' | 0x20)) return sizeof(jobjectID);
  return values_ ? width_of_primitive(type) : 0;
}

// Number of fields of all interfaces that the class or a superclass implements, each counted once.
uint32_t DumpClasses::fields_of_interfaces(const DumpClass& of) {
  uint32_t fields = 0;
  for (const DumpClass* cls = &of; cls != nullptr; cls = find(cls->super)) {
    for (uint32_t i = 0; i < cls->interface_count; i++) {
      DumpClass* next = find(cls->interfaces[i]);
      if (next == nullptr || next->mark == mark_) continue;
      next->mark = mark_;
      fields += next->own_count + fields_of_interfaces(*next);
    }
  }
  return fields;
}

bool DumpClasses::lay_out(DumpClass* cls) {
  const DumpClass* super = laid_out(cls->super);
  const uint32_t inherited = super != nullptr ? super->field_count : 0;
  auto* fields = arena_.allocate_array<DumpField>(static_cast<jint>(inherited + cls->own_count));
  if (fields == nullptr) return false;
  for (uint32_t i = 0; i < cls->own_count; i++) {
    const char type = cls->own[i];
    const bool is_static = type >= 'a' && type <= 'z';
    uint32_t& bytes = is_static ? cls->static_bytes : cls->instance_bytes;
    const uint32_t width = width_of(type);
    fields[inherited + i] = {bytes, static_cast<uint8_t>(width), is_static};
    bytes += width;
  }
  const uint32_t own_bytes = cls->instance_bytes;
  for (uint32_t i = 0; i < inherited; i++) {
    fields[i] = super->fields[i];
    fields[i].at += own_bytes;
    if (fields[i].is_static) fields[i].width = 0;
  }
  if (super != nullptr) cls->instance_bytes += super->instance_bytes;
  cls->fields = fields;
  cls->field_count = inherited + cls->own_count;
  mark_++;
  cls->first_field = fields_of_interfaces(*cls);
  cls->is_laid_out = true;
  return true;
}

}  // namespace hprof::jvmpi
