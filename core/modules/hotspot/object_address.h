// The address of an object, found beside the tag that a heap callback gets.
//
// HotSpot's heap walks keep an object, its size, its tag and its class's tag in a structure on the stack, and
// another for the referrer. JVMTI passes the address of the tag (tag_ptr); the size is one word before, the
// object two. At a safepoint an address identifies an object as well as a tag, without an entry in the VM's
// table of tags, which takes most of a walk's time and all of its memory. Nothing is read at the address.
//
// None of this is specified, so it is used only after a walk over a few known objects has confirmed it for
// each kind of callback; the words read are in the caller's stack in any case.
#pragma once

#include <jvmti.h>

#include <hprof/draft/objects.h>

#include "core/vm_tables/vm_flags.h"

namespace hprof {

// nullptr: confirmed, and *offsets is filled in; else why not, static text. jvmti: with can_tag_objects.
// [control]
const char* find_object_offsets(const VmFlags& flags, jvmtiEnv* jvmti, JNIEnv* jni,
                                hprof_object_offsets* offsets);

}  // namespace hprof
