// The library service: native libraries that units open.
#include "core/agent/services/service_tables.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/base/build.h"
#include "platform/platform.h"

namespace hprof {

namespace {

const hprof_library* open_library(const hprof_host*, const char* path, char* error, uint32_t error_size) {
  platform::Library library;
  if (platform::library_open(path, &library, error, error_size) != 0) return nullptr;
  return static_cast<const hprof_library*>(library.handle);
}

void* find_symbol(const hprof_host* host, const hprof_library* library, const char* name) {
  if (library == nullptr) return slot_of(host)->parts->vm_symbol(name);
  platform::Library opened;
  opened.handle = const_cast<hprof_library*>(library);
  return platform::library_symbol(opened, name);
}

}  // namespace

const hprof_library_service kLibraryService = {sizeof(hprof_library_service), 0,
                                               kHasModules ? &open_library : nullptr,
                                               kHasModules ? &find_symbol : nullptr};

}  // namespace hprof
