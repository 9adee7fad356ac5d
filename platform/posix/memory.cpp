// Memory from the OS and from the C library.
#include "platform/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hprof::platform {
namespace {

size_t rounded_to_pages(size_t size) {
  const size_t mask = page_size() - 1;
  return size > SIZE_MAX - mask ? 0 : (size + mask) & ~mask;
}

}  // namespace

void* reserve_lazy(size_t size) {
  const size_t whole = rounded_to_pages(size);
  if (!whole) return nullptr;
  void* region =
      mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return nullptr;
#ifdef MADV_NOHUGEPAGE
  // Tables are used sparsely: huge pages would make a whole table resident.
  madvise(region, whole, MADV_NOHUGEPAGE);
#endif
  return region;
}

void release_lazy(void* region, size_t size) {
  if (region) munmap(region, rounded_to_pages(size));
}

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void* allocate_zeroed(size_t size) { return calloc(1, size ? size : 1); }
void deallocate(void* block) { free(block); }

}  // namespace hprof::platform
