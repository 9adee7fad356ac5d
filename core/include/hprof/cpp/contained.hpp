// SPDX-License-Identifier: Apache-2.0
// No exception crosses the ABI: a unit catches what it throws. The agent has no C++ runtime that could catch it, so an
// exception that reaches the agent ends the process.
#pragma once

#include <hprof/cpp/service.hpp>
#include <hprof/service/log.h>

namespace hprof {

// Returns body(), or logs a message and returns `failed` when it throws. In plugins compiled without exceptions: just
// body().
template <class Result, class Body>
Result contained(const hprof_host* host, Result failed, const Body& body) {
#ifdef __cpp_exceptions
  try {
    return body();
  } catch (...) {
    const auto* log = find_service<hprof_log_service>(host, HPROF_SERVICE_LOG);
    if (log != nullptr) log->message(host, "a unit threw an exception; its call failed");
    return failed;
  }
#else
  (void)host;
  (void)failed;
  return body();
#endif
}

}  // namespace hprof
