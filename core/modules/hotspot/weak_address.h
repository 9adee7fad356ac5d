// The address of a weak JNI reference's object.
//
// HotSpot's weak global references point to a word of the VM with the object's address, or 0 once it has been
// collected. Used at a safepoint, when addresses are stable and JNI cannot be called. Not with collectors
// that mark addresses or move objects concurrently.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class HotSpot;

// nullptr: verified, and the fault guard stays; else why not, static text. jvmti: with can_tag_objects.
// [control]
const char* prove_weak_addresses(HotSpot& home, jvmtiEnv* jvmti, JNIEnv* jni);
// 0: the object was collected, or there is nothing to read. [control][heap]
uint64_t address_of_weak(jweak reference);

}  // namespace hprof
