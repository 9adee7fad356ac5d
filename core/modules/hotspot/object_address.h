// The address of an object, from where a heap callback is given the object's tag.
//
// HotSpot's heap walks keep the data of an object in one structure on the stack: the object, its size, its
// tag, the tag of its class; and the same for the object that refers to it. JVMTI passes the place of the tag
// (tag_ptr); the size is one word before it, the object two. While the VM is stopped, an address identifies
// an object as well as a tag does, and needs no entry in the VM's table of tags, which takes most of a walk's
// time and all of its memory. Nothing is read at the address.
//
// None of this is specified. So it is used only after a walk over a few known objects has confirmed it in
// this VM, for each kind of callback; the words read are in a stack frame of the caller in any case.
#pragma once

#include <jvmti.h>

#include <hprof/draft/objects.h>

#include "core/hotspot/vm_flags.h"

namespace hprof {

// nullptr: confirmed, and *places is filled in. Else why not, static text. jvmti needs no capability but
// can_tag_objects. [control]
const char* find_object_places(const VmFlags& flags, jvmtiEnv* jvmti, JNIEnv* jni,
                               hprof_object_places* places);

}  // namespace hprof
