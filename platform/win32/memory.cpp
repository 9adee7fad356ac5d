// Memory from the OS and from the C library.
#include "platform/memory.h"

#include <stdlib.h>

#include "platform/win32/wait.h"
// psapi.h requires windows.h before it.
#include <psapi.h>

namespace hprof::platform {

void* reserve_lazy(size_t size) {
  return size ? VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) : nullptr;
}

void release_lazy(void* region, size_t) {
  if (region) VirtualFree(region, 0, MEM_RELEASE);
}

size_t page_size() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

uint64_t resident_bytes() {
  PROCESS_MEMORY_COUNTERS counters;
  if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
  return counters.WorkingSetSize;
}

void* allocate_zeroed(size_t size) { return calloc(1, size ? size : 1); }
void deallocate(void* block) { free(block); }

}  // namespace hprof::platform
