// The JDK's list of fields that core reflection hides.
#pragma once

#include <jni.h>

namespace hprof {

// Class.getDeclaredFields() and the like of `owner` leave `field` out from now on. nullptr: they do, as has
// been tried; else why not. An exception is never left behind. [control]
const char* hide_field(JNIEnv* jni, jclass owner, const char* field);

}  // namespace hprof
