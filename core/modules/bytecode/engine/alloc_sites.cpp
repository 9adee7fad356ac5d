// The tables of probes of allocations. Rows do not overlap: an object is reported once.
#include "core/modules/bytecode/engine/alloc_sites.h"

#include "core/modules/bytecode/engine/opcodes.h"

namespace hprof {

constexpr CallHook kAllocatingCalls[] = {
    // Object.clone itself is native; javac names Object as its owner in super.clone() at any depth. A call of
    // an overriding clone() ends in such a call.
    {kOpInvokespecial, {"java/lang/Object", "clone", "()Ljava/lang/Object;"}},
    {0, {"[", "clone", "()Ljava/lang/Object;"}},
    // Array.newInstance with several dimensions is native, and VMObjectAlloc reports all its arrays.
    {kOpInvokestatic, {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;"}},
    // Intrinsics: compiled calls bypass the bodies. The versions without a Class call these.
    {kOpInvokestatic,
     {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;"}},
    {kOpInvokestatic,
     {"java/util/Arrays", "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;"}},
    {0, {"sun/misc/Unsafe", "allocateInstance", nullptr}},
    {0, {"jdk/internal/misc/Unsafe", "allocateInstance", nullptr}},
    // Makes the byte[] of string concatenation.
    {0, {"jdk/internal/misc/Unsafe", "allocateUninitializedArray", nullptr}},
};
const uint32_t kAllocatingCallCount = sizeof kAllocatingCalls / sizeof kAllocatingCalls[0];

constexpr MethodPattern kQuietBodies[] = {
    {"java/lang/reflect/Array", "newInstance", nullptr},
    {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;"},
    {"java/util/Arrays", "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;"},
    {"sun/misc/Unsafe", "allocateInstance", nullptr},
    // The constructor that follows reports the object.
    {"java/lang/invoke/DirectMethodHandle", "allocateInstance", nullptr},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray", nullptr},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray0", nullptr},
};
const uint32_t kQuietBodyCount = sizeof kQuietBodies / sizeof kQuietBodies[0];

void add_allocation_probes(ProbeSet* probes) {
  probes->call_hooks = kAllocatingCalls;
  probes->call_hook_count = kAllocatingCallCount;
  probes->quiet_bodies = kQuietBodies;
  probes->quiet_body_count = kQuietBodyCount;
}

}  // namespace hprof
