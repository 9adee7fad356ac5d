// Memory from the OS and from the C library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// A zeroed region of at least `size` bytes, aligned to a page, that takes address space now and memory only
// as it is touched (Windows: its size counts against the commit limit). nullptr: no address space left. A
// touch when the machine is out of memory may end the process, as with all overcommitted memory. The caller
// gives the same pointer and size to release_lazy. [any]
void* reserve_lazy(size_t size);
void release_lazy(void* region, size_t size);

size_t page_size();         // [any]
uint64_t resident_bytes();  // memory of this process that is in RAM now; 0 if the OS does not say [any]

// The C library's heap: aligned for any fundamental type, nullptr when out of memory, a size of 0 counts
// as 1. deallocate(nullptr) does nothing. [any]
void* allocate_zeroed(size_t size);
void deallocate(void* block);

}  // namespace hprof::platform
