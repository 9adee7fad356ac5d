#include "core/modules/hotspot/jni_table.h"

#include <atomic>

namespace hprof {

namespace {

using Functions = jniNativeInterface;

// Set before the functions below can be called.
Functions g_original;
NativeObjectMade g_made = nullptr;
void* g_self = nullptr;

template <class Object>
Object report(JNIEnv* jni, Object object, uint32_t bare = 0) {
  if (object != nullptr && !g_original.ExceptionCheck(jni)) g_made(g_self, jni, object, bare);
  return object;
}

jobject JNICALL alloc_object(JNIEnv* jni, jclass of) {
  return report(jni, g_original.AllocObject(jni, of), 1);
}

jstring JNICALL new_string(JNIEnv* jni, const jchar* text, jsize length) {
  return report(jni, g_original.NewString(jni, text, length));
}

jstring JNICALL new_string_utf(JNIEnv* jni, const char* text) {
  return report(jni, g_original.NewStringUTF(jni, text));
}

jobjectArray JNICALL new_object_array(JNIEnv* jni, jsize length, jclass of, jobject element) {
  return report(jni, g_original.NewObjectArray(jni, length, of, element));
}

template <class Array>
using ArrayFunction = Array (JNICALL* Functions::*)(JNIEnv*, jsize);

template <class Array, ArrayFunction<Array> kFunction>
Array JNICALL new_array(JNIEnv* jni, jsize length) {
  return report(jni, (g_original.*kFunction)(jni, length));
}

template <class Array, ArrayFunction<Array> kFunction>
void replace(Functions* functions) {
  functions->*kFunction = &new_array<Array, kFunction>;
}

}  // namespace

bool replace_jni_table(jvmtiEnv* jvmti, NativeObjectMade made, void* self) {
  Functions* functions = nullptr;
  if (jvmti == nullptr || g_self != nullptr || jvmti->GetJNIFunctionTable(&functions) != JVMTI_ERROR_NONE)
    return false;
  g_original = *functions;
  g_made = made;
  g_self = self;
  functions->AllocObject = &alloc_object;
  functions->NewString = &new_string;
  functions->NewStringUTF = &new_string_utf;
  functions->NewObjectArray = &new_object_array;
  replace<jbooleanArray, &Functions::NewBooleanArray>(functions);
  replace<jbyteArray, &Functions::NewByteArray>(functions);
  replace<jcharArray, &Functions::NewCharArray>(functions);
  replace<jshortArray, &Functions::NewShortArray>(functions);
  replace<jintArray, &Functions::NewIntArray>(functions);
  replace<jlongArray, &Functions::NewLongArray>(functions);
  replace<jfloatArray, &Functions::NewFloatArray>(functions);
  replace<jdoubleArray, &Functions::NewDoubleArray>(functions);
  std::atomic_thread_fence(std::memory_order_release);
  const bool done = jvmti->SetJNIFunctionTable(functions) == JVMTI_ERROR_NONE;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(functions));
  return done;
}

jobject alloc_object_untold(JNIEnv* jni, jclass of) {
  return g_self != nullptr ? g_original.AllocObject(jni, of) : jni->AllocObject(of);
}

}  // namespace hprof
