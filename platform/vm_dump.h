// The heap dumper of a HotSpot VM that this process runs, asked for through the VM's own attach socket.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Takes bytes of a stream (0: the dump; 1: its heap segments where the VM writes them apart). The first call
// is made while the VM is held up early in the dump. False: no more is wanted.
using VmDumpTaker = bool (*)(void* context, uint32_t stream, uint8_t* bytes, size_t size);

// Asked now and then until the VM has sent the first of the dump: true, it will not be waited for any more.
using VmDumpGivesUp = bool (*)(void* context);

// 0, or why it cannot work here; `reason`: more words, may be "". Tries nothing. [any]
int vm_heap_dump_available(char* reason, size_t reason_size);

// The dump goes from the VM's thread through pipes to `take`, on the calling thread; it is on no disk. all:
// objects that are unreachable, too. apart: the VM writes the segments to a file of their own beside the one
// it is given. When `take` wants no more the rest is thrown away, so that the VM, which is stopped meanwhile,
// never waits for a reader. kErrorUnsupported: the VM refuses, or gives_up, and nothing was taken. The
// calling thread must not be one that the VM needs for attaching, nor be waited for by it; gives_up says so
// when that comes later. [any]
// buffer: what is read at a time; 64 KiB will do, 1 MiB is faster.
int vm_heap_dump(bool all, bool apart, VmDumpTaker take, VmDumpGivesUp gives_up, void* context,
                 uint8_t* buffer, size_t buffer_size, char* reason, size_t reason_size);

}  // namespace hprof::platform
