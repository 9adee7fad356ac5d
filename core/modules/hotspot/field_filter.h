#pragma once

#include <jni.h>

namespace hprof {

// Adds a field to the JDK's list of fields that reflection (Class.getDeclaredFields() ...) hides. nullptr:
// done and verified; else why not. No exception stays. [control]
const char* hide_field(JNIEnv* jni, jclass owner, const char* field);

}  // namespace hprof
