// Builds and sends CLASS_LOAD, once for each class. Built for size.
#include <hprof/cpp/jni_exception.hpp>

#include "classes.h"

namespace hprof::jvmpi {

namespace {

jint kind_of(const char* signature) {
  if (signature[0] != '[') return JVMPI_NORMAL_OBJECT;
  switch (signature[1]) {
    case 'Z':
      return JVMPI_BOOLEAN;
    case 'C':
      return JVMPI_CHAR;
    case 'F':
      return JVMPI_FLOAT;
    case 'D':
      return JVMPI_DOUBLE;
    case 'B':
      return JVMPI_BYTE;
    case 'S':
      return JVMPI_SHORT;
    case 'I':
      return JVMPI_INT;
    case 'J':
      return JVMPI_LONG;
    default:
      return JVMPI_CLASS;
  }
}

// Ljava/lang/String; becomes java.lang.String; a signature of an array stays.
void spell_name(char* signature) {
  if (signature[0] != 'L') return;
  const size_t length = std::strlen(signature);
  for (size_t i = 0; i + 2 < length; i++) signature[i] = signature[i + 1] == '/' ? '.' : signature[i + 1];
  signature[length - 2] = 0;
}

}  // namespace

bool Classes::gives_object(const char* signature) {
  const char* end = std::strchr(signature, ')');
  return end != nullptr && (end[1] == 'L' || end[1] == '[');
}

// Without the contents of CLASS_LOAD, which few classes need.
ClassInfo* Classes::make(JNIEnv* jni, jclass cls, uint64_t number, Slot* slot) {
  FromVm<char> signature(vm_);
  if (vm_.jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return nullptr;
  auto* made = vm_.services.allocate<ClassInfo>(1);
  if (made == nullptr) return nullptr;
  made->kind = kind_of(signature);
  made->load.class_id = id_of_number(number);
  made->ref = without_exception(jni, vm_.new_weak(jni, cls));
  if (has_targets(signature)) hide(cls, made);
  ClassInfo* none = nullptr;
  if (slot->info.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return made;
  vm_.delete_weak(jni, made->ref);
  vm_.services.release(made, 1);
  return none;
}

// signature: changed meanwhile.
bool Classes::has_targets(char* signature) const {
  const size_t length = std::strlen(signature);
  const Services& s = vm_.services;
  if (s.probes == nullptr || signature[0] != 'L' || length < 3) return false;
  signature[length - 1] = '\0';
  const bool has = s.probes->has_targets(s.host, signature + 1) != 0;
  signature[length - 1] = ';';
  return has;
}

void Classes::hide(jclass cls, ClassInfo* info) {
  info->hidden = true;
  jint count = 0;
  FromVm<jmethodID> methods(vm_);
  if (vm_.jvmti->GetClassMethods(cls, &count, &methods) != JVMTI_ERROR_NONE) return;
  const uint32_t at = hidden_count_.fetch_add(static_cast<uint32_t>(count), std::memory_order_relaxed);
  for (uint32_t i = 0; i < static_cast<uint32_t>(count) && at + i < kHiddenMost; i++)
    hidden_[at + i].store(methods[static_cast<jint>(i)], std::memory_order_release);
}

void Classes::meet_hidden(JNIEnv* jni) {
  Local<jclass> cls(jni, jni->FindClass("java/lang/HprofBridge_jvmpi"));
  if (cls != nullptr) number(jni, cls);
  clear_exception(jni);
}

bool Classes::describe_method(jmethodID method, Arena* arena, JVMPI_Method* to) const {
  FromVm<char> name(vm_), signature(vm_);
  FromVm<jvmtiLineNumberEntry> lines(vm_);
  jint count = 0;
  if (vm_.jvmti->GetMethodName(method, &name, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  *to = {arena->copy(name), arena->copy(signature), -1, -1, method};
  if (vm_.jvmti->GetLineNumberTable(method, &count, &lines) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; i++) {
      const jint line = lines[i].line_number;
      if (to->start_lineno < 0 || line < to->start_lineno) to->start_lineno = line;
      if (line > to->end_lineno) to->end_lineno = line;
    }
  }
  return to->method_name != nullptr && to->method_signature != nullptr;
}

bool Classes::describe_methods(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const {
  FromVm<jmethodID> methods(vm_);
  jint count = 0;
  // Fails before the class is linked.
  if (vm_.jvmti->GetClassMethods(cls, &count, &methods) != JVMTI_ERROR_NONE) count = 0;
  load->methods = arena->allocate_array<JVMPI_Method>(count);
  if (load->methods == nullptr) return false;
  for (jint i = 0; i < count; i++) {
    if (!describe_method(methods[i], arena, &load->methods[i])) return false;
  }
  load->num_methods = count;
  return true;
}

bool Classes::describe_fields(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const {
  FromVm<jfieldID> fields(vm_);
  jint count = 0;
  if (vm_.jvmti->GetClassFields(cls, &count, &fields) != JVMTI_ERROR_NONE) count = 0;
  load->statics = arena->allocate_array<JVMPI_Field>(count);
  load->instances = arena->allocate_array<JVMPI_Field>(count);
  if (load->statics == nullptr || load->instances == nullptr) return false;
  constexpr jint kAccStatic = 0x0008;
  for (jint i = 0; i < count; i++) {
    FromVm<char> name(vm_), signature(vm_);
    jint modifiers = 0;
    if (vm_.jvmti->GetFieldModifiers(cls, fields[i], &modifiers) != JVMTI_ERROR_NONE ||
        vm_.jvmti->GetFieldName(cls, fields[i], &name, &signature, nullptr) != JVMTI_ERROR_NONE)
      return false;
    JVMPI_Field& to = (modifiers & kAccStatic) != 0 ? load->statics[load->num_static_fields++]
                                                    : load->instances[load->num_instance_fields++];
    to = {arena->copy(name), arena->copy(signature)};
    if (to.field_name == nullptr || to.field_signature == nullptr) return false;
  }
  return true;
}

bool Classes::describe(JNIEnv* jni, jclass cls, ClassInfo* info) {
  Arena arena(vm_.services);
  JVMPI_ClassLoad load = {};
  FromVm<char> signature(vm_), source(vm_);
  if (vm_.jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  spell_name(signature);
  load.class_name = arena.copy(signature);
  if (vm_.jvmti->GetSourceFileName(cls, &source) == JVMTI_ERROR_NONE) load.source_name = arena.copy(source);
  FromVm<jclass> interfaces(vm_);
  if (vm_.jvmti->GetImplementedInterfaces(cls, &load.num_interfaces, &interfaces) != JVMTI_ERROR_NONE)
    load.num_interfaces = 0;
  for (jint i = 0; i < load.num_interfaces; i++) jni->DeleteLocalRef(interfaces[i]);
  load.class_id = info->load.class_id;
  if (load.class_name == nullptr || !describe_methods(cls, &arena, &load) ||
      !describe_fields(cls, &arena, &load))
    return false;
  // The second thread keeps the first one's text, which other threads may be reading.
  LockGuard guard(lock_, vm_.services);
  if (info->is_filled.load(std::memory_order_relaxed)) return true;
  info->memory = arena.keep();
  info->load = load;
  info->is_filled.store(true, std::memory_order_release);
  return true;
}

void Classes::send(JNIEnv* jni, const ClassInfo& info, jint type) {
  JVMPI_Event event = {};
  event.u.class_load = info.load;
  notifier_.send(&event, type, jni);
}

// Waits until the thread that reports the class has done so; returns at once on that thread itself.
void Classes::wait_for(const Slot& slot, JNIEnv* jni) const {
  constexpr int kTries = 10000;
  constexpr uint64_t kPauseNs = 100'000;
  for (int i = 0; i < kTries && slot.state.load(std::memory_order_acquire) == kTelling &&
                  slot.teller.load(std::memory_order_relaxed) != jni;
       i++)
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
}

void Classes::tell(JNIEnv* jni, jclass cls) {
  if (!notifier_.is_on(JVMPI_EVENT_CLASS_LOAD)) return;
  const uint64_t of = number(jni, cls);
  Slot* slot = table_.find(of);
  ClassInfo* info = slot != nullptr ? slot->info.load(std::memory_order_acquire) : nullptr;
  if (info == nullptr || info->kind != JVMPI_NORMAL_OBJECT || info->hidden) return;
  uint32_t state = kNew;
  if (!slot->state.compare_exchange_strong(state, kTelling, std::memory_order_acq_rel))
    return wait_for(*slot, jni);
  slot->teller.store(jni, std::memory_order_relaxed);
  if (describe(jni, cls, info)) {
    send(jni, *info, JVMPI_EVENT_CLASS_LOAD);
    set_owner(*info, of);
  }
  slot->teller.store(nullptr, std::memory_order_relaxed);
  slot->state.store(kDone, std::memory_order_release);
}

// The VM may reuse the id of an unloaded class's method: the last class counts.
void Classes::set_owner(const ClassInfo& info, uint64_t number) {
  for (jint i = 0; i < info.load.num_methods; i++) {
    const JVMPI_Method& method = info.load.methods[i];
    Owner* owner = owners_.make(reinterpret_cast<uintptr_t>(method.method_id));
    if (owner == nullptr) continue;
    owner->returns_object.store(gives_object(method.method_signature), std::memory_order_relaxed);
    owner->number.store(number, std::memory_order_release);
  }
}

bool Classes::tell_again(JNIEnv* jni, jobjectID id) {
  const uint64_t of = number_of_id(id);
  Slot* slot = table_.find(of);
  ClassInfo* info = slot != nullptr ? slot->info.load(std::memory_order_acquire) : nullptr;
  if (info == nullptr) return false;
  if (!info->is_filled.load(std::memory_order_acquire)) {
    Local<jclass> cls(jni, find(jni, of));
    if (cls == nullptr) return false;
    if (!describe(jni, cls, info)) {
      vm_.services.log->message(vm_.services.host,
                                "jvmpi: no memory for a CLASS_LOAD that the agent has requested");
      return false;
    }
    set_owner(*info, of);
  }
  send(jni, *info, JVMPI_EVENT_CLASS_LOAD | JVMPI_REQUESTED_EVENT);
  return true;
}

void Classes::forget(JNIEnv* jni, uint64_t number) {
  Slot* slot = table_.find(number);
  ClassInfo* info = slot != nullptr ? slot->info.exchange(nullptr, std::memory_order_acq_rel) : nullptr;
  if (info == nullptr) return;
  for (jint i = 0; i < info->load.num_methods; i++) {
    Owner* owner = owners_.find(reinterpret_cast<uintptr_t>(info->load.methods[i].method_id));
    uint64_t expected = number;
    if (owner != nullptr) owner->number.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
  }
  if (info->ref != nullptr) vm_.delete_weak(jni, info->ref);
  Arena::release(vm_.services, info->memory);
  vm_.services.release(info, 1);
}

}  // namespace hprof::jvmpi
