// The LibraryLoader of the platform layer.
#include <cstdio>
#include <cstring>

#include "core/base/build.h"
#include "core/plugin/library_loader.h"
#include "platform/platform.h"

namespace hprof {
namespace {

constexpr size_t kOwnPathMost = 4096;

void* open_library(void*, const char* path, char* reason, size_t size) {
  if (!kHasModules) {
    snprintf(reason, size, "this build loads no modules");
    return nullptr;
  }
  char own[kOwnPathMost];
  if (platform::library_path_of(reinterpret_cast<const void*>(&platform_library_loader), own, sizeof(own)) ==
      0)
    own[0] = '\0';
  char real[kOwnPathMost];
  if (!platform::is_trusted_code(path, own, real, sizeof(real))) {
    snprintf(reason, size, "another user can write to it, or to a folder on the way to it");
    return nullptr;
  }
  platform::Library library;
  if (platform::library_open(real, &library, reason, size) != 0) return nullptr;
  return library.handle;
}

void* find_symbol(void*, void* library, const char* name) {
  if (!kHasModules) return nullptr;
  platform::Library opened;
  opened.handle = library;
  return platform::library_symbol(opened, name);
}

bool file_exists(void*, const char* path) { return kHasModules && platform::path_exists(path); }

void list_folder(void*, const char* folder, bool (*visit)(void* argument, const char* name), void* argument) {
  if (kHasModules) platform::list_directory(folder, visit, argument);
}

}  // namespace

LibraryLoader platform_library_loader() {
  LibraryLoader loader;
  loader.open = open_library;
  loader.symbol = find_symbol;
  loader.exists = file_exists;
  loader.list = list_folder;
  loader.context = nullptr;
  loader.suffix = platform::kLibrarySuffix;
  loader.list_separator = strcmp(platform::kLibrarySuffix, ".dll") == 0 ? ';' : ':';
  return loader;
}

}  // namespace hprof
