// The native thread id of a platform thread, for threads that started before the agent saw them:
// java.lang.Thread has the address of the VM's own thread, and that has the id.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/field_reader.hpp>

#include "core/hotspot/vm_structs.h"

namespace hprof {

class NativeThreadIds {
 public:
  // Looks up offsets and verifies them on the calling thread, whose id the OS knows. nullptr: verified; else
  // why not. [control]
  const char* prepare(const VmStructs& structs, JNIEnv* jni, jobject current);
  // 0: not known, or the thread has no native thread (any more). The caller holds `thread`, and has opened
  // `addresses` by open_addresses(). [control]
  uint32_t of(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const;

 private:
  uint32_t read(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const;
  uint32_t os_thread_at_ = 0;
  uint32_t id_at_ = 0;
  bool proven_ = false;
};

// Makes `addresses` read the address of the VM's thread from its java.lang.Thread. False: this VM has none
// there. [control]
bool open_addresses(JNIEnv* jni, FieldReader<jlong>& addresses);

}  // namespace hprof
