#include "core/agent/vm_structs.h"

#include <cstring>

#include "platform/platform.h"

namespace hprof {

void VmStructs::load(void* (*symbol)(void*, const char*), void* context) {
  void* table = symbol(context, "gHotSpotVMStructs");
  if (table == nullptr) return;
  struct Part {
    const char* name;
    uint64_t* value;
  } parts[] = {
      {"gHotSpotVMStructEntryArrayStride", &stride_},
      {"gHotSpotVMStructEntryTypeNameOffset", &type_at_},
      {"gHotSpotVMStructEntryFieldNameOffset", &field_at_},
      {"gHotSpotVMStructEntryIsStaticOffset", &static_at_},
      {"gHotSpotVMStructEntryOffsetOffset", &offset_at_},
      {"gHotSpotVMStructEntryAddressOffset", &address_at_},
      {"gHotSpotVMTypeEntryArrayStride", &type_stride_},
      {"gHotSpotVMTypeEntryTypeNameOffset", &type_name_at_},
      {"gHotSpotVMTypeEntrySizeOffset", &type_size_at_},
  };
  for (Part& part : parts) {
    void* address = symbol(context, part.name);
    if (address == nullptr) return;
    *part.value = read_vm<uint64_t>(address, 0);
  }
  entries_ = read_vm<const char*>(table, 0);
  if (void* types = symbol(context, "gHotSpotVMTypes")) types_ = read_vm<const char*>(types, 0);
}

const char* VmStructs::find(const char* type, const char* field) const {
  if (entries_ == nullptr || stride_ == 0) return nullptr;
  for (const char* entry = entries_;; entry += stride_) {
    auto type_name = read_vm<const char*>(entry, type_at_);
    auto field_name = read_vm<const char*>(entry, field_at_);
    if (type_name == nullptr || field_name == nullptr) return nullptr;
    if (strcmp(type_name, type) == 0 && strcmp(field_name, field) == 0) return entry;
  }
}

int64_t VmStructs::offset(const char* type, const char* field) const {
  const char* entry = find(type, field);
  if (entry == nullptr || read_vm<int32_t>(entry, static_at_) != 0) return -1;
  return static_cast<int64_t>(read_vm<uint64_t>(entry, offset_at_));
}

void* VmStructs::address(const char* type, const char* field) const {
  const char* entry = find(type, field);
  if (entry == nullptr || read_vm<int32_t>(entry, static_at_) == 0) return nullptr;
  return read_vm<void*>(entry, address_at_);
}

uint64_t VmStructs::size(const char* type) const {
  if (types_ == nullptr || type_stride_ == 0) return 0;
  for (const char* entry = types_;; entry += type_stride_) {
    auto name = read_vm<const char*>(entry, type_name_at_);
    if (name == nullptr) return 0;
    if (strcmp(name, type) == 0) return read_vm<uint64_t>(entry, type_size_at_);
  }
}

// The table of flags: JVMFlag (Flag before JDK 10), with the place of the value and, in the low four bits of
// _flags, where the value comes from (0: the default).
bool VmStructs::turn_on(const char* flag) const {
  const char* type = size("JVMFlag") != 0 ? "JVMFlag" : "Flag";
  uint64_t stride = size(type);
  void* list_at = address(type, "flags");
  void* count_at = address(type, "numFlags");
  int64_t name_at = offset(type, "_name"), value_at = offset(type, "_addr"),
          origin_at = offset(type, "_flags");
  if (stride == 0 || list_at == nullptr || count_at == nullptr || name_at < 0 || value_at < 0 ||
      origin_at < 0) {
    return false;
  }
  auto list = read_vm<const char*>(list_at, 0);
  auto count = read_vm<uintptr_t>(count_at, 0);
  for (uintptr_t i = 0; i < count; i++, list += stride) {
    auto name = read_vm<const char*>(list, static_cast<uint64_t>(name_at));
    if (name == nullptr || strcmp(name, flag) != 0) continue;
    auto* value = read_vm<unsigned char*>(list, static_cast<uint64_t>(value_at));
    bool is_default = (read_vm<uint32_t>(list, static_cast<uint64_t>(origin_at)) & 0xf) == 0;
    if (value == nullptr || *value > 1) return false;
    if (is_default) *value = 1;
    return *value == 1;
  }
  return false;
}

void NativeThreadIds::prepare(const VmStructs& structs, JNIEnv* jni, jobject current,
                              uint32_t current_os_id) {
  os_thread_at_ = structs.offset("JavaThread", "_osthread");
  if (os_thread_at_ < 0) os_thread_at_ = structs.offset("Thread", "_osthread");
  id_at_ = structs.offset("OSThread", "_thread_id");
  jclass thread_class = jni->FindClass("java/lang/Thread");
  if (thread_class != nullptr) {
    eetop_ = jni->GetFieldID(thread_class, "eetop", "J");
    jni->DeleteLocalRef(thread_class);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  proven_ = eetop_ != nullptr && os_thread_at_ >= 0 && id_at_ >= 0 && read(jni, current) == current_os_id;
}

// The memory behind eetop lives as long as the native thread. The caller's threads are alive when listed but
// may end any time; a guarded read turns the small remaining window into "not known".
uint32_t NativeThreadIds::read(JNIEnv* jni, jobject thread) const {
  struct Reading {
    int64_t java_thread, os_thread_at, id_at;
    uint32_t id;
  } reading = {jni->GetLongField(thread, eetop_), os_thread_at_, id_at_, 0};
  if (reading.java_thread == 0) return 0;
  bool fine = platform::guarded_call(
      [](void* argument) {
        auto* r = static_cast<Reading*>(argument);
        auto* os_thread =
            read_vm<const void*>(reinterpret_cast<const void*>(static_cast<uintptr_t>(r->java_thread)),
                                 static_cast<uint64_t>(r->os_thread_at));
        if (os_thread != nullptr) r->id = read_vm<uint32_t>(os_thread, static_cast<uint64_t>(r->id_at));
      },
      &reading);
  return fine ? reading.id : 0;
}

uint32_t NativeThreadIds::of(JNIEnv* jni, jobject thread) const {
  return proven_ && thread != nullptr ? read(jni, thread) : 0;
}

}  // namespace hprof
