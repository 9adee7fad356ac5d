// Shared libraries and symbols over dlopen.
#include "platform/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

#include "platform/common/text.h"

namespace hprof::platform {

namespace {

struct Listed {
  uint32_t wanted, passed;
  char path[PATH_MAX];
};

int copy_name(dl_phdr_info* info, size_t, void* context) {
  auto* at = static_cast<Listed*>(context);
  if (at->passed++ != at->wanted) return 0;
  copy_text(info->dlpi_name ? info->dlpi_name : "", at->path, sizeof at->path);
  return 1;
}

using FileHead = std::conditional_t<sizeof(void*) == 8, Elf64_Ehdr, Elf32_Ehdr>;
using Segment = std::conditional_t<sizeof(void*) == 8, Elf64_Phdr, Elf32_Phdr>;

// True: segments lie behind the end of the file, as of one that was copied in part. The loader would map
// them, and the process would end with SIGBUS.
bool is_cut_short(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat status;
  char begin[4096];  // the list of segments follows the head
  const ssize_t got = fstat(file, &status) == 0 ? read(file, begin, sizeof begin) : -1;
  close(file);
  FileHead head;
  if (got < static_cast<ssize_t>(sizeof head)) return false;
  memcpy(&head, begin, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(Segment)) return false;
  const auto size = static_cast<uint64_t>(status.st_size), known = static_cast<uint64_t>(got);
  uint64_t at = head.e_phoff;
  for (uint32_t i = 0; i < head.e_phnum && at <= known && known - at >= sizeof(Segment); i++) {
    Segment segment;
    memcpy(&segment, begin + at, sizeof segment);
    at += sizeof segment;
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return true;
  }
  return false;
}

}  // namespace

const char* const kLibrarySuffix = ".so";

int library_open(const char* path, Library* library, char* reason, size_t size) {
  library->handle = nullptr;
  if (is_cut_short(path)) {
    copy_text("the file is cut short", reason, size);
    return ENOEXEC;
  }
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library->handle) {
    copy_text("", reason, size);
    return 0;
  }
  const char* said = dlerror();
  copy_text(said ? said : "cannot load the library", reason, size);
  return ENOEXEC;
}

void* library_symbol(Library library, const char* name) {
  return library.handle ? dlsym(library.handle, name) : nullptr;
}

void* symbol_in_process(const char* name) { return dlsym(RTLD_DEFAULT, name); }

void* symbol_in_library_of(const void* address, const char* name) {
  Dl_info info;
  if (!dladdr(const_cast<void*>(address), &info) || !info.dli_fname) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  // The loader does not know the executable by its name.
  if (!library) return symbol_in_process(name);
  void* symbol = dlsym(library, name);
  dlclose(library);  // drops the reference taken above; the library stays
  return symbol;
}

// Visits one library at a time: a walk over all holds the loader's lock.
bool any_other(const char* name, const void* own, bool (*is)(const void* symbol)) {
  for (Listed at = {0, 0, ""};; at.wanted++) {
    at.passed = 0;
    if (dl_iterate_phdr(&copy_name, &at) == 0) return false;
    void* library = at.path[0] ? dlopen(at.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!library) continue;
    const void* found = dlsym(library, name);
    dlclose(library);
    if (found && found != own && is(found)) return true;
  }
}

size_t library_path_of(const void* address, char* path, size_t size) {
  copy_text("", path, size);
  Dl_info info;
  if (!dladdr(const_cast<void*>(address), &info) || !info.dli_fname) return 0;
  char* resolved = realpath(info.dli_fname, nullptr);
  if (!resolved) return 0;
  const size_t length = strlen(resolved);
  const size_t copied = length < size ? copy_text(resolved, path, size) : 0;
  free(resolved);
  return copied;
}

}  // namespace hprof::platform
