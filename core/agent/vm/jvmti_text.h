// Owners of memory that JVMTI allocates.
#pragma once

#include <jvmti.h>

#include "core/base/text.h"

namespace hprof {

// Frees a text of JVMTI at the end of the scope. nullptr is the empty text.
class JvmtiText {
 public:
  JvmtiText(jvmtiEnv* jvmti, char* text) : jvmti_(jvmti), text_(text) {}
  ~JvmtiText() {
    if (text_ != nullptr) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_));
  }
  JvmtiText(const JvmtiText&) = delete;
  JvmtiText& operator=(const JvmtiText&) = delete;
  Str str() const { return text_ != nullptr ? Str(text_) : Str(); }

 private:
  jvmtiEnv* jvmti_;
  char* text_;
};

// JNI's IsVirtualThread (since 21); false on older VMs. [app]
bool is_virtual_thread(JNIEnv* jni, jobject thread);

}  // namespace hprof
