// The native ids of platform threads that started before the agent: java.lang.Thread has the address of the
// JavaThread, whose OSThread has the id.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/field_reader.hpp>

#include "core/vm_tables/vm_structs.h"

namespace hprof {

class NativeThreadIds {
 public:
  // Looks up offsets and verifies them with the calling thread's id, which the OS tells. nullptr: verified;
  // else why not. [control]
  const char* prepare(const VmStructs& structs, JNIEnv* jni, jobject current);
  // A thread's native id; 0: not known, or it has no native thread now. The caller holds a reference
  // `thread`, and has opened `addresses`. [control]
  uint32_t of(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const;

 private:
  uint32_t read(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const;
  uint32_t os_thread_at_ = 0;
  uint32_t id_at_ = 0;
  bool proven_ = false;
};

// Opens a reader of JavaThread addresses in java.lang.Thread objects. False: this VM has no such field.
// [control]
bool open_addresses(JNIEnv* jni, FieldReader<jlong>& addresses, const char* field = "eetop");

}  // namespace hprof
