/* jni.h's machine-dependent part for Windows, for builds on another system, whose JDK has no such file.
 * Facts: JNI specification, "Primitive Types", and the calling convention of the Windows API, which Java's
 * native code has. */
#ifndef HPROF_WIN32_JNI_MD_H
#define HPROF_WIN32_JNI_MD_H

#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL __stdcall

typedef long jint;
typedef __int64 jlong;
typedef signed char jbyte;

#endif
