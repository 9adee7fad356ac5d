/* What java/NativeObjects.java calls. */
#include <jni.h>

static void drop(JNIEnv* jni, jobject made) { (*jni)->DeleteLocalRef(jni, made); }

JNIEXPORT void JNICALL Java_NativeObjects_make(JNIEnv* jni, jclass self, jint count, jclass item, jclass bare,
                                               jclass late) {
  static const jchar kText[] = {'t', 'e', 'x', 't'};
  jmethodID make_item = (*jni)->GetMethodID(jni, item, "<init>", "()V");
  jmethodID make_late = (*jni)->GetMethodID(jni, late, "<init>", "()V");
  (void)self;
  for (jint i = 0; i < count; i++) {
    jobject made = (*jni)->AllocObject(jni, late);
    (*jni)->CallNonvirtualVoidMethod(jni, made, late, make_late);
    drop(jni, made);
    drop(jni, (*jni)->AllocObject(jni, bare));
    drop(jni, (*jni)->NewObject(jni, item, make_item));
    drop(jni, (*jni)->NewString(jni, kText, 4));
    drop(jni, (*jni)->NewStringUTF(jni, "text"));
    drop(jni, (*jni)->NewObjectArray(jni, 3, item, NULL));
    drop(jni, (*jni)->NewBooleanArray(jni, 3));
    drop(jni, (*jni)->NewByteArray(jni, 3));
    drop(jni, (*jni)->NewCharArray(jni, 3));
    drop(jni, (*jni)->NewShortArray(jni, 3));
    drop(jni, (*jni)->NewIntArray(jni, 3));
    drop(jni, (*jni)->NewLongArray(jni, 3));
    drop(jni, (*jni)->NewFloatArray(jni, 3));
    drop(jni, (*jni)->NewDoubleArray(jni, 3));
  }
}
