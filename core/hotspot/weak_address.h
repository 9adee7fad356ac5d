// The address of an object out of the word that a weak JNI reference of it names.
//
// HotSpot's weak global references lead to a word of the VM's with the object's address, or 0 once it has
// gone. That is as good as asking JNI, while the VM is stopped and addresses mean something: JNI cannot be
// asked then. Collectors that mark addresses or move objects at any time are left out.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class HotSpot;

// nullptr: they hold here; keeps the fault guard. Else why not, static text. jvmti needs no capability but
// can_tag_objects. [control]
const char* prove_weak_addresses(HotSpot& home, jvmtiEnv* jvmti, JNIEnv* jni);
// 0: the object has gone, or there is nothing to read. [control][heap]
uint64_t address_of_weak(jweak reference);

}  // namespace hprof
