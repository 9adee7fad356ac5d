// The address of an object, from the word that a weak JNI reference to it points to.
//
// HotSpot's weak global references point to a word of the VM with the object's address, or 0 once it has been
// collected. Used while the VM is stopped, when addresses are stable and JNI cannot be called. Not with
// collectors that mark addresses or move objects at any time.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class HotSpot;

// nullptr: verified; keeps the fault guard. Else why not, static text. jvmti needs no capability but
// can_tag_objects. [control]
const char* prove_weak_addresses(HotSpot& home, jvmtiEnv* jvmti, JNIEnv* jni);
// 0: the object was collected, or there is nothing to read. [control][heap]
uint64_t address_of_weak(jweak reference);

}  // namespace hprof
