// Room for JNI's local references, which go with the scope (JNI PushLocalFrame, PopLocalFrame).
#pragma once

#include <jni.h>

namespace hprof {

// One thread, that of its JNIEnv.
class LocalFrame {
 public:
  static constexpr jint kMost = 65536;  // what HotSpot promises at most

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
