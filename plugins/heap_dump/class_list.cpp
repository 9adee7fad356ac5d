#include "class_list.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::dump {

namespace {

constexpr uint64_t kLoaderCount = ClassLayouts::kMost + 1;
constexpr jint kClassFileInterface = 0x0200;
constexpr jint kStatic = 0x0008;
constexpr jint kLocalsBeside = 64;
constexpr jint kMostLocals = 65536;  // the most that HotSpot guarantees
constexpr int kRounds = 4;           // rounds of listing until no class is new, since linking may load some
constexpr uint32_t kMostCollections = 8;

}  // namespace

uint32_t ClassList::number_of(const DumpEnv& vm, jobject object) const {
  jlong tag = 0;
  if (object == nullptr || vm.jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE) return 0;
  return table_->has(static_cast<uint64_t>(tag)) ? static_cast<uint32_t>(tag) : 0;
}

bool ClassList::list(const DumpEnv& vm) {
  for (jint i = 0; i < held_count_; i++) vm.drop(held_[i]);
  vm.free(held_);
  held_ = nullptr;
  held_count_ = 0;
  if (vm.jvmti->GetLoadedClasses(&held_count_, &held_) != JVMTI_ERROR_NONE) return false;
  // For -Xcheck:jni, which checks the count of local references.
  const jint wanted = held_count_ + kLocalsBeside;
  if (wanted <= kMostLocals && vm.jni->EnsureLocalCapacity(wanted) != JNI_OK) vm.no_exception();
  return true;
}

bool ClassList::tag_known(const DumpEnv& vm) {
  for (uint32_t number = 1; number <= table_->count(); number++) {
    ClassEntry& entry = table_->at(number);
    if (entry.is_gone != 0) continue;
    jobject local = without_exception(vm.jni, vm.jni->NewLocalRef(static_cast<jweak>(entry.reference)));
    if (local == nullptr) {
      vm.jni->DeleteWeakGlobalRef(static_cast<jweak>(entry.reference));
      entry.reference = nullptr;
      entry.is_gone = 1;
      continue;
    }
    jvmtiError error = vm.jvmti->SetTag(local, number);
    vm.drop(local);
    if (error != JVMTI_ERROR_NONE) return false;
  }
  return true;
}

void ClassList::tag_new(const DumpEnv& vm, jclass loaded) {
  uint32_t number = table_->add();
  if (number == 0) return;
  ClassEntry& entry = table_->at(number);
  entry.reference = without_exception(vm.jni, vm.jni->NewWeakGlobalRef(loaded));
  if (entry.reference == nullptr || vm.jvmti->SetTag(loaded, number) != JVMTI_ERROR_NONE) {
    entry.is_gone = 1;
  }
}

void ClassList::prepare_links(const DumpEnv& vm, jclass class_class) {
  get_declared_fields_ =
      vm.jni->GetMethodID(class_class, "getDeclaredFields0", "(Z)[Ljava/lang/reflect/Field;");
  vm.no_exception();
  const hprof_vm_counts_service* counts = services_->vm_counts;
  collections_ = counts != nullptr ? counts->collections(services_->host) : nullptr;
  collections_before_ = collections_ != nullptr ? __atomic_load_n(collections_, __ATOMIC_RELAXED) : 0;
  links_ = 0;
}

// java.lang.Class is found as the class of a class: FindClass would call the application's class loader,
// which a full heap may stop.
hprof_status ClassList::take(const DumpEnv& vm) {
  services_ = vm.services;
  if (!tag_known(vm)) return HPROF_FAILED;
  jclass class_class = nullptr;
  bool complete = false;
  for (int round = 0; round < kRounds && !complete; round++) {
    if (!list(vm) || held_count_ == 0) return HPROF_FAILED;
    if (class_class == nullptr) {
      class_class = vm.jni->GetObjectClass(held_[0]);
      prepare_links(vm, class_class);
    }
    const uint32_t before = table_->count();
    for (jint i = 0; i < held_count_; i++) {
      if (number_of(vm, held_[i]) == 0) tag_new(vm, held_[i]);
    }
    complete = before == table_->count();
    for (jint i = 0; i < held_count_; i++) {
      const uint32_t number = number_of(vm, held_[i]);
      if (number != 0 && table_->at(number).is_resolved == 0) describe(vm, held_[i], number);
    }
  }
  table_->class_class = number_of(vm, class_class);
  vm.drop(class_class);
  table_->resolve(sizeof(void*));
  return table_->class_class != 0 ? HPROF_OK : HPROF_FAILED;
}

// Reflection on a class's fields links it without initializing it. In a full heap the array that this makes
// may fail, or cost a collection each time: then no more classes are linked.
bool ClassList::link(const DumpEnv& vm, jclass loaded) {
  if (get_declared_fields_ == nullptr) return false;
  vm.drop(vm.jni->CallObjectMethod(loaded, get_declared_fields_, JNI_FALSE));
  links_++;
  const uint32_t collections =
      collections_ != nullptr ? __atomic_load_n(collections_, __ATOMIC_RELAXED) - collections_before_ : 0;
  if (collections >= kMostCollections && collections >= links_) get_declared_fields_ = nullptr;
  return vm.no_exception();
}

bool ClassList::describe_fields(const DumpEnv& vm, jclass loaded, ClassEntry& entry) {
  jint count = 0;
  jfieldID* ids = nullptr;
  jvmtiError error = vm.jvmti->GetClassFields(loaded, &count, &ids);
  if (error == JVMTI_ERROR_CLASS_NOT_PREPARED && link(vm, loaded)) {
    error = vm.jvmti->GetClassFields(loaded, &count, &ids);
  }
  if (error != JVMTI_ERROR_NONE) return false;
  entry.fields = count != 0 ? table_->make_fields(static_cast<uint32_t>(count)) : nullptr;
  bool known = count == 0 || entry.fields != nullptr;
  for (jint i = 0; i < count && known; i++) {
    char* name = nullptr;
    char* signature = nullptr;
    jint modifiers = 0;
    known = vm.jvmti->GetFieldName(loaded, ids[i], &name, &signature, nullptr) == JVMTI_ERROR_NONE &&
            vm.jvmti->GetFieldModifiers(loaded, ids[i], &modifiers) == JVMTI_ERROR_NONE;
    if (known) {
      Field& field = entry.fields[i];
      field.name = services_->ids->string(services_->host, {name, strlen(name)});
      field.type = static_cast<uint8_t>(type_of(signature[0]));
      field.is_static = (modifiers & kStatic) != 0 ? 1 : 0;
    }
    vm.free(name);
    vm.free(signature);
  }
  vm.free(ids);
  entry.field_count = known ? static_cast<uint32_t>(count) : 0;
  return known;
}

bool ClassList::describe_interfaces(const DumpEnv& vm, jclass loaded, ClassEntry& entry) {
  jint count = 0;
  jclass* direct = nullptr;
  if (vm.jvmti->GetImplementedInterfaces(loaded, &count, &direct) != JVMTI_ERROR_NONE) return false;
  entry.interfaces = count != 0 ? table_->make_numbers(static_cast<uint32_t>(count)) : nullptr;
  entry.interface_count = 0;
  for (jint i = 0; i < count; i++) {
    uint32_t number = number_of(vm, direct[i]);
    if (number != 0 && entry.interfaces != nullptr) entry.interfaces[entry.interface_count++] = number;
    vm.drop(direct[i]);
  }
  vm.free(direct);
  return entry.interface_count == static_cast<uint32_t>(count);
}

void ClassList::describe(const DumpEnv& vm, jclass loaded, uint32_t number) {
  ClassEntry& entry = table_->at(number);
  char* signature = nullptr;
  if (vm.jvmti->GetClassSignature(loaded, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  if (entry.serial == 0) {
    entry.serial = services_->ids->dumped_class(services_->host, vm.jni, loaded, number);
  }
  jclass super = vm.jni->GetSuperclass(loaded);
  entry.super = number_of(vm, super);
  vm.drop(super);
  if (signature[0] == '[') {
    entry.kind =
        type_of(signature[1]) == HPROF_TYPE_OBJECT ? ClassKind::kObjectArray : ClassKind::kPrimitiveArray;
    entry.element = static_cast<uint8_t>(type_of(signature[1]));
    entry.has_fields = entry.is_resolved = 1;
  } else {
    entry.kind = ClassKind::kInstance;
    jint modifiers = 0;
    vm.jvmti->GetClassModifiers(loaded, &modifiers);
    entry.is_interface = (modifiers & kClassFileInterface) != 0 ? 1 : 0;
    if (entry.has_fields == 0 && describe_fields(vm, loaded, entry) &&
        describe_interfaces(vm, loaded, entry)) {
      entry.has_fields = 1;
    }
  }
  vm.free(signature);
}

bool ClassList::tag_loaders(const DumpEnv& vm, uint64_t* next, HeapWriter* writer) {
  if (!loaders_.open(*services_, kLoaderCount) || !loaders_.cover(table_->count() + 1)) return false;
  for (jint i = 0; i < held_count_; i++) {
    jobject loader = nullptr;
    uint32_t number = number_of(vm, held_[i]);
    if (number == 0 || vm.jvmti->GetClassLoader(held_[i], &loader) != JVMTI_ERROR_NONE || loader == nullptr) {
      continue;
    }
    jlong tag = 0;
    vm.jvmti->GetTag(loader, &tag);
    if (tag == 0 && vm.jvmti->SetTag(loader, static_cast<jlong>(*next)) == JVMTI_ERROR_NONE) {
      tag = static_cast<jlong>((*next)++);
      jclass of = vm.jni->GetObjectClass(loader);
      if (!writer->expect(static_cast<uint64_t>(tag), number_of(vm, of))) return false;
      vm.drop(of);
    }
    loaders_[number] = static_cast<uint64_t>(tag);
    vm.drop(loader);
  }
  return true;
}

hprof_status ClassList::define(const Services& services) const {
  const auto* emit = services.emit;
  hprof_status status = HPROF_OK;
  for (uint32_t number = 1; number <= table_->count() && status == HPROF_OK; number++) {
    const ClassEntry& entry = table_->at(number);
    if (entry.is_gone != 0) continue;
    status = emit->define(services.host, HPROF_RECORD_CLASS, entry.serial);
    for (uint32_t i = 0; i < entry.field_count && status == HPROF_OK; i++) {
      status = emit->define(services.host, HPROF_RECORD_STRING, entry.fields[i].name);
    }
  }
  return status;
}

void ClassList::release(const DumpEnv& vm) {
  for (jint i = 0; i < held_count_; i++) vm.drop(held_[i]);
  vm.free(held_);
  held_ = nullptr;
  held_count_ = 0;
}

bool ClassList::make_frame(const DumpEnv& vm) const {
  const jint wanted = static_cast<jint>(table_->count()) + kLocalsBeside;
  if (vm.jni->PushLocalFrame(wanted < kMostLocals ? wanted : kMostLocals) != JNI_OK) {
    vm.no_exception();
    return false;
  }
  for (uint32_t number = 1; number <= table_->count(); number++) {
    if (table_->at(number).is_gone != 0) continue;
    auto* reference = static_cast<jweak>(table_->at(number).reference);
    without_exception(vm.jni, vm.jni->NewLocalRef(reference));
  }
  return true;
}

void ClassList::free_loaders() { loaders_.close(); }

void ClassList::forget(JNIEnv* jni) {
  if (jni == nullptr) return;
  for (uint32_t number = 1; number <= table_->count(); number++) {
    ClassEntry& entry = table_->at(number);
    if (entry.reference != nullptr) jni->DeleteWeakGlobalRef(static_cast<jweak>(entry.reference));
    entry.reference = nullptr;
  }
}

}  // namespace hprof::dump
