// Large memory of the front end: lazy, held by files, and measured.
#include <cstring>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tools/os/os.h"

namespace hprof::os {

namespace {

// Smaller regions gain nothing from huge pages.
constexpr size_t kHugeFrom = size_t{64} << 20;

uint64_t number_in(const char* path) {
  char text[64] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  return count > 0 ? strtoull(text, nullptr, 10) : 0;  // "max" is 0
}

}  // namespace

int create_temporary(const std::string& folder, std::string* error) {
  std::string where = folder.empty() ? environment("TMPDIR") : folder;
  if (where.empty()) where = "/tmp";
#ifdef O_TMPFILE
  int file = open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
#endif
  std::string path = where + "/hprof-XXXXXX";
  int named = mkstemp(&path[0]);
  if (named >= 0) {
    unlink(path.c_str());
  } else {
    *error = where + ": " + std::strerror(errno);
  }
  return named;
}

void* map_memory(size_t size) {
  void* region =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  if (size >= kHugeFrom) madvise(region, size, MADV_HUGEPAGE);
#endif
  return region;
}

void* map_temporary(size_t size, const std::string& folder, std::string* error) {
  int file = create_temporary(folder, error);
  if (file < 0) return nullptr;
  // Allocates the blocks now: on a full disk the first touch would kill the process.
  int code = posix_fallocate(file, 0, static_cast<off_t>(size));
  void* region = code == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (region == MAP_FAILED) {
    *error = "no room for a temporary file of " + std::to_string(size) +
             " bytes: " + std::strerror(code != 0 ? code : errno);
    region = nullptr;
  }
  close(file);
  return region;
}

const void* map_file(int file, size_t size, std::string* error) {
  void* region = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (region != MAP_FAILED) return region;
  *error = std::strerror(errno);
  return nullptr;
}

void unmap(const void* region, size_t size) {
  if (region != nullptr) munmap(const_cast<void*>(region), size);
}

void drop_pages(void* region, size_t size) {
  uintptr_t mask = platform::page_size() - 1;
  uintptr_t first = (reinterpret_cast<uintptr_t>(region) + mask) & ~mask;
  uintptr_t end = (reinterpret_cast<uintptr_t>(region) + size) & ~mask;
#ifdef MADV_DONTNEED
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
#endif
}

void bound_memory(uint64_t bytes) {
#ifdef RLIMIT_AS
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return;
  // The first number of the file (Linux): pages of address space.
  const uint64_t now = number_in("/proc/self/statm") * platform::page_size();
  const bool bounded = bytes != 0 && now != 0 && bytes < limit.rlim_max - now;
  limit.rlim_cur = bounded ? static_cast<rlim_t>(now + bytes) : limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
#else
  (void)bytes;
#endif
}

uint64_t resident_bytes() { return platform::resident_bytes(); }

uint64_t physical_memory() {
  uint64_t most = 0;
#ifdef _SC_PHYS_PAGES
  long pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0) most = static_cast<uint64_t>(pages) * platform::page_size();
#endif
  // In a container its group's limit; the files exist on Linux only.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit = number_in(path);
    if (limit != 0 && (most == 0 || limit < most)) most = limit;
  }
  return most;
}

uint64_t file_changed(int file) {
  struct stat info {};
  if (fstat(file, &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000000000u +
         static_cast<uint64_t>(info.st_mtim.tv_nsec);
}

bool remove_file(const std::string& path) { return unlink(path.c_str()) == 0; }

}  // namespace hprof::os
