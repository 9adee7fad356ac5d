// SPDX-License-Identifier: Apache-2.0
// Services of a host by type.
#pragma once

#include <hprof/host.h>

namespace hprof {

// The table of a service, nullptr when this core does not have it. The caller names the type that belongs to
// the id.
template <typename T>
const T* find_service(const hprof_host* host, const char* id) {
  return static_cast<const T*>(host->service(host, id));
}

}  // namespace hprof
