// No exception crosses the ABI: what a unit throws ends in the unit. The agent has no runtime of C++ that could catch
// it: an exception that gets there ends the process.
#pragma once

#include <hprof/cpp/service.hpp>
#include <hprof/service/log.h>

namespace hprof {

// body(), or `failed` when it throws, which is said in the log. Where the plugin is compiled without exceptions it is
// body() alone.
template <class Result, class Body>
Result contained(const hprof_host* host, Result failed, const Body& body) {
#ifdef __cpp_exceptions
  try {
    return body();
  } catch (...) {
    const auto* log = find_service<hprof_log_service>(host, HPROF_SERVICE_LOG);
    if (log != nullptr) log->message(host, "a unit threw an exception, which ends in it");
    return failed;
  }
#else
  (void)host;
  (void)failed;
  return body();
#endif
}

}  // namespace hprof
