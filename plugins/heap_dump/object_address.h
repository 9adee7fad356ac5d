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

#include <cstdint>
#include <jvmti.h>

#include "plugins/heap_dump/vm.h"

namespace hprof::dump {

// Of the object that a callback is about. [heap]
inline uint64_t address_of(const jlong* tag) { return static_cast<uint64_t>(tag[-2]); }
inline bool has_size(const jlong* tag, jlong size) { return tag[-1] == size; }

// Of the object that refers to it. [heap]
inline uint64_t address_of_referrer(const jlong* referrer_tag, const jlong* tag) {
  return referrer_tag == tag ? address_of(tag) : static_cast<uint64_t>(referrer_tag[-1]);
}

// Whether they hold here: HotSpot, 64 bits, a collector that moves nothing while its heap is walked. vm.jvmti
// needs no capability but can_tag_objects. [control]
bool can_tell_addresses(const Vm& vm);

}  // namespace hprof::dump
