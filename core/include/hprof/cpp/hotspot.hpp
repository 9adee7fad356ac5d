// SPDX-License-Identifier: Apache-2.0
// The services that know the inside of HotSpot (docs/hotspot.md). The core loads a library for them: only units that
// use them look them up, in create.
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/draft/objects.h>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/walk.h>
#include <hprof/draft/weaks.h>

namespace hprof {

// A member is null when the host does not have the service.
struct HotSpotServices : Services {
  const hprof_objects_service* objects = nullptr;
  const hprof_vm_counts_service* vm_counts = nullptr;
  const hprof_walk_service* walk = nullptr;
  const hprof_weaks_service* weaks = nullptr;

  HotSpotServices() = default;
  explicit HotSpotServices(const hprof_host* h)
      : Services(h),
        objects(find_service<hprof_objects_service>(h, HPROF_SERVICE_OBJECTS)),
        vm_counts(find_service<hprof_vm_counts_service>(h, HPROF_SERVICE_VM_COUNTS)),
        walk(find_service<hprof_walk_service>(h, HPROF_SERVICE_WALK)),
        weaks(find_service<hprof_weaks_service>(h, HPROF_SERVICE_WEAKS)) {}
};

}  // namespace hprof
