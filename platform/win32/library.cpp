// Shared libraries and symbols.
#include "platform/library.h"

#include "platform/common/text.h"
#include "platform/error.h"
#include "platform/win32/wait.h"
// psapi.h requires windows.h before it.
#include <psapi.h>

namespace hprof::platform {
namespace {

constexpr DWORD kMostModules = 1024;

void* symbol_in(HMODULE module, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(module, name));
}

HMODULE module_of(const void* address) {
  HMODULE module = nullptr;
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExA(flags, static_cast<LPCSTR>(address), &module) ? module : nullptr;
}

DWORD loaded_modules(HMODULE (&modules)[kMostModules]) {
  DWORD bytes = 0;
  if (!EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &bytes)) return 0;
  return bytes / sizeof *modules < kMostModules ? bytes / sizeof *modules : kMostModules;
}

}  // namespace

const char* const kLibrarySuffix = ".dll";

int library_open(const char* path, Library* library, char* reason, size_t size) {
  copy_text("", reason, size);
  char full[MAX_PATH];
  // By its full path: other names are searched for in other folders, too.
  const DWORD length = GetFullPathNameA(path, sizeof full, full, nullptr);
  library->handle =
      length && length < sizeof full ? LoadLibraryExA(full, nullptr, LOAD_WITH_ALTERED_SEARCH_PATH) : nullptr;
  if (library->handle) return 0;
  const int error = last_error();
  const size_t said = copy_text(path, reason, size);
  if (said + 3 < size) {
    copy_text(": ", reason + said, size - said);
    error_text(error, reason + said + 2, size - said - 2);
  }
  return error;
}

void* library_symbol(Library library, const char* name) {
  return library.handle ? symbol_in(static_cast<HMODULE>(library.handle), name) : nullptr;
}

void* symbol_in_process(const char* name) {
  HMODULE modules[kMostModules];
  const DWORD count = loaded_modules(modules);
  for (DWORD i = 0; i < count; ++i) {
    void* found = symbol_in(modules[i], name);
    if (found) return found;
  }
  return nullptr;
}

void* symbol_in_library_of(const void* address, const char* name) {
  const HMODULE module = module_of(address);
  return module ? symbol_in(module, name) : nullptr;
}

bool any_other(const char* name, const void* own, bool (*is)(const void* symbol)) {
  HMODULE modules[kMostModules];
  const DWORD count = loaded_modules(modules);
  for (DWORD i = 0; i < count; ++i) {
    const void* found = symbol_in(modules[i], name);
    if (found && found != own && is(found)) return true;
  }
  return false;
}

size_t library_path_of(const void* address, char* path, size_t size) {
  const HMODULE module = module_of(address);
  const DWORD length = module ? GetModuleFileNameA(module, path, static_cast<DWORD>(size)) : 0;
  if (length && length < size) return length;
  copy_text("", path, size);
  return 0;
}

}  // namespace hprof::platform
