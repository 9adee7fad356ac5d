// What HotSpot says about its own memory layout: the tables behind gHotSpotVMStructs, made for external
// debuggers and exported by every HotSpot libjvm. Absent on other VMs: then everything here answers "not
// known".
#pragma once

#include <cstdint>
#include <cstring>
#include <jni.h>

namespace hprof {

// Memory of the VM: any alignment.
template <typename T>
T read_vm(const void* base, uint64_t offset) {
  T value;
  memcpy(&value, static_cast<const char*>(base) + offset, sizeof(value));
  return value;
}

class VmStructs {
 public:
  // `symbol` finds an exported symbol of the VM's library. [onload]
  void load(void* (*symbol)(void* context, const char* name), void* context);
  bool loaded() const { return entries_ != nullptr; }

  // Offset of a non-static field, -1: not known.
  int64_t offset(const char* type, const char* field) const;
  // Address of a static field, nullptr: not known.
  void* address(const char* type, const char* field) const;
  // sizeof a type, 0: not known.
  uint64_t size(const char* type) const;
  // Turns a boolean flag of the VM on, unless the command line or the environment set it. False: it is off.
  // [onload]
  bool turn_on(const char* flag) const;

 private:
  const char* entries_ = nullptr;
  uint64_t stride_ = 0, type_at_ = 0, field_at_ = 0, static_at_ = 0, offset_at_ = 0, address_at_ = 0;
  const char* types_ = nullptr;
  uint64_t type_stride_ = 0, type_name_at_ = 0, type_size_at_ = 0;
  const char* find(const char* type, const char* field) const;
};

// The native thread id of a platform thread, for threads that started before the agent saw them.
class NativeThreadIds {
 public:
  // Looks up offsets and proves them on the calling thread, whose id the OS tells. [control]
  void prepare(const VmStructs& structs, JNIEnv* jni, jobject current, uint32_t current_os_id);
  // 0: not known, or the thread has no native thread (any more). The caller holds `thread`. [control]
  uint32_t of(JNIEnv* jni, jobject thread) const;

 private:
  uint32_t read(JNIEnv* jni, jobject thread) const;
  jfieldID eetop_ = nullptr;
  int64_t os_thread_at_ = -1;
  int64_t id_at_ = -1;
  bool proven_ = false;
};

}  // namespace hprof
