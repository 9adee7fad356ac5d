// The address of an object, from where a heap callback is given the object's tag.
//
// HotSpot's heap walks keep what they tell of an object in one structure on the stack: the object, its size,
// its tag, the tag of its class; and likewise of the object that refers to it. JVMTI hands out where the tag
// is (tag_ptr); the size is one word before it, the object two. An address is as good a name as a tag while
// the VM is stopped, and needs no entry in the VM's table of tags, which takes most of a walk's time and all
// of its memory. Nothing is read at the address.
//
// Nothing promises any of that. So it is used only after a walk over a few known objects has shown it in this
// VM, in each form that a callback comes in; what is read lies in a stack frame of the caller either way.
#pragma once

#include <jvmti.h>

#include <hprof/draft/hotspot.h>

#include "core/hotspot/vm_flags.h"

namespace hprof {

// nullptr: they hold here, and *places says where. Else why not, static text. jvmti needs no capability but
// can_tag_objects. [control]
const char* find_object_places(const VmFlags& flags, jvmtiEnv* jvmti, JNIEnv* jni,
                               hprof_object_places* places);

}  // namespace hprof
