// The heap dumper of the HotSpot VM in this process, used through the VM's own attach socket.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Takes bytes of a stream (0: the dump; 1: its heap segments, if the VM writes them separately). During the
// first call the VM is at a safepoint, early in the dump. False: take no more.
using VmDumpTaker = bool (*)(void* context, uint32_t stream, uint8_t* bytes, size_t size);

// Called repeatedly until the dump begins; true: stop waiting for it.
using VmDumpGivesUp = bool (*)(void* context);

// 0, or an error if it cannot work here; `reason`: details, may be "". Tries nothing. [any]
int vm_heap_dump_available(char* reason, size_t reason_size);

// Passes the dump from the VM's thread through pipes to `take`, on the calling thread; it is never on a disk.
// all: unreachable objects, too. apart: the VM writes the segments to a separate file beside the given one.
// When `take` wants no more, the rest is discarded, so that the VM, which is stopped meanwhile, never waits
// for a reader. kErrorUnsupported: the VM refuses, or gives_up() was true, and nothing was taken. The VM's
// thread for attaching must be neither the calling thread nor waiting for it; gives_up() reports it if that
// happens later. [any] buffer: what is read at a time; 64 KiB will do, 1 MiB is faster.
int vm_heap_dump(bool all, bool apart, VmDumpTaker take, VmDumpGivesUp gives_up, void* context,
                 uint8_t* buffer, size_t buffer_size, char* reason, size_t reason_size);

}  // namespace hprof::platform
