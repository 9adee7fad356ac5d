// SPDX-License-Identifier: Apache-2.0
// A JNI local frame that lasts as long as the scope (PushLocalFrame, PopLocalFrame).
#pragma once

#include <jni.h>

namespace hprof {

// Used by one thread only, the one that owns `jni`.
class LocalFrame {
 public:
  static constexpr jint kMost = 65536;  // the most that HotSpot guarantees

  LocalFrame(JNIEnv* jni, jint room) : jni_(jni), is_open_(jni->PushLocalFrame(room) == 0) {
    if (!is_open_) jni->ExceptionClear();
  }
  ~LocalFrame() {
    if (is_open_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;

  bool is_open() const { return is_open_; }  // false: no memory

 private:
  JNIEnv* const jni_;
  const bool is_open_;
};

}  // namespace hprof
