// The texts of status codes.
#pragma once

#include <hprof/abi.h>

namespace hprof {

// The text of a status code, for messages when nothing better is known. Static. [any]
constexpr const char* status_text(hprof_status status) {
  switch (status) {
    case HPROF_OK:
      return "done";
    case HPROF_UNSUPPORTED:
      return "not supported here";
    case HPROF_NO_MEMORY:
      return "not enough memory";
    case HPROF_DROPPED:
      return "a buffer was full";
    case HPROF_ABORTED:
      return "the output is gone";
    default:
      return "it failed";
  }
}

}  // namespace hprof
