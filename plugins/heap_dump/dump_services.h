// The services of a dump.
#pragma once

#include <hprof/cpp/hotspot.hpp>
#include <hprof/draft/foreign_dump.h>
#include <hprof/draft/vm_dump.h>

namespace hprof::dump {

struct DumpServices : HotSpotServices {
  const hprof_vm_dump_service* vm_dump = nullptr;
  const hprof_foreign_dump_service* foreign_dump = nullptr;

  DumpServices() = default;
  explicit DumpServices(const hprof_host* h)
      : HotSpotServices(h),
        vm_dump(find_service<hprof_vm_dump_service>(h, HPROF_SERVICE_VM_DUMP)),
        foreign_dump(find_service<hprof_foreign_dump_service>(h, HPROF_SERVICE_FOREIGN_DUMP)) {}
};

}  // namespace hprof::dump
