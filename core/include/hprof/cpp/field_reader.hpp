// SPDX-License-Identifier: Apache-2.0
// Reads numbers from fields of Java objects. Under single-generation ZGC (JDK 16 to 23) JNI's GetLongField and
// GetIntField may return a wrong value: their fast versions read a moved object at its old address until the calling
// thread next enters the VM.
#pragma once

#include <jni.h>
#include <type_traits>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof {

// One field of type jlong or jint, read by the JDK's Unsafe. Valid as long as the local references that open() makes,
// or from keep() to let_go().
template <class T>
class FieldReader {
  static constexpr bool kIsInt = std::is_same<T, jint>::value;

 public:
  // Opens the field `name` of the class `of`, "java/lang/Thread". False: there is no such field, or no memory. With
  // another descriptor only its offset is of use.
  bool open(JNIEnv* jni, const char* of, const char* name, const char* descriptor = kIsInt ? "I" : "J") {
    jclass type = jni->FindClass(of);
    jfieldID field = type != nullptr ? jni->GetFieldID(type, name, descriptor) : nullptr;
    jvalue reflected = {};
    if (field != nullptr) reflected.l = jni->ToReflectedField(type, field, JNI_FALSE);
    if (reflected.l != nullptr && !find(jni, "Ljdk/internal/misc/Unsafe;", "jdk/internal/misc/Unsafe"))
      find(jni, "Lsun/misc/Unsafe;", "sun/misc/Unsafe");  // JDK 8
    if (get_ != nullptr) offset_ = jni->CallLongMethodA(unsafe_, offset_of_, &reflected);
    if (jni->ExceptionCheck()) {
      jni->ExceptionClear();
      get_ = nullptr;
    }
    return is_open();
  }
  bool is_open() const { return get_ != nullptr; }
  // After open(): holds its reference, for any thread. Without memory it is no longer open.
  void keep(JNIEnv* jni) {
    if (is_open()) unsafe_ = without_exception(jni, jni->NewGlobalRef(unsafe_));
    if (unsafe_ == nullptr) get_ = nullptr;
  }
  void let_go(JNIEnv* jni) {
    if (is_open()) jni->DeleteGlobalRef(unsafe_);
    get_ = nullptr;
  }
  jlong offset() const { return offset_; }  // in an object, as Unsafe counts

  // The field's value in `object`; 0 if not open.
  T read(JNIEnv* jni, jobject object) const { return read_at(jni, object, offset_); }
  // The same of another field.
  [[gnu::noinline]] T read_at(JNIEnv* jni, jobject object, jlong offset) const {
    if (!is_open()) return 0;
    jvalue arguments[2] = {};
    arguments[0].l = object;
    arguments[1].j = offset;
    T value;
    if constexpr (kIsInt)
      value = jni->CallIntMethodA(unsafe_, get_, arguments);
    else
      value = jni->CallLongMethodA(unsafe_, get_, arguments);
    if (!jni->ExceptionCheck()) return value;
    jni->ExceptionClear();
    return 0;
  }

 private:
  bool find(JNIEnv* jni, const char* descriptor, const char* name) {
    clear_exception(jni);
    jclass type = jni->FindClass(name);
    jfieldID only = type != nullptr ? jni->GetStaticFieldID(type, "theUnsafe", descriptor) : nullptr;
    if (only == nullptr) return false;
    unsafe_ = jni->GetStaticObjectField(type, only);
    offset_of_ = jni->GetMethodID(type, "objectFieldOffset", "(Ljava/lang/reflect/Field;)J");
    if (offset_of_ != nullptr)
      get_ = jni->GetMethodID(type, kIsInt ? "getInt" : "getLong",
                              kIsInt ? "(Ljava/lang/Object;J)I" : "(Ljava/lang/Object;J)J");
    return is_open();
  }

  jobject unsafe_ = nullptr;
  jmethodID offset_of_ = nullptr, get_ = nullptr;
  jlong offset_ = 0;
};

}  // namespace hprof
