// The heap dumper of a HotSpot VM that this process runs, asked for through the VM's own attach socket.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Takes bytes of a stream (0: the dump; 1: its heap segments where the VM writes them apart). False: no more
// is wanted.
using VmDumpTaker = bool (*)(void* context, uint32_t stream, uint8_t* bytes, size_t size);

// 0, or why it cannot work here; `reason`: more words, may be "". Tries nothing. [any]
int vm_heap_dump_available(char* reason, size_t reason_size);

// The dump goes from the VM's thread through pipes to `take`, on the calling thread; it is on no disk. all:
// objects that are unreachable, too. apart: the VM writes the segments to a file of their own beside the one
// it is given. When `take` wants no more the rest is thrown away, so that the VM, which is stopped meanwhile,
// never waits for a reader. kErrorUnsupported: the VM refuses, nothing was taken. The calling thread must not
// be one that the VM needs for attaching. [any]
int vm_heap_dump(bool all, bool apart, VmDumpTaker take, void* context, char* reason, size_t reason_size);

}  // namespace hprof::platform
