// The outcome of a call inside the core: a code of the ABI and the literal text that goes with it.
#pragma once

#include <hprof/abi.h>

namespace hprof {

struct [[nodiscard]] Status {
  hprof_status code = HPROF_OK;
  const char* text = "";  // static; "" when ok

  constexpr bool ok() const { return code == HPROF_OK; }
  static constexpr Status good() { return {}; }
  static constexpr Status no_memory(const char* text) { return {HPROF_NO_MEMORY, text}; }
  static constexpr Status unsupported(const char* text) { return {HPROF_UNSUPPORTED, text}; }
  static constexpr Status failed(const char* text) { return {HPROF_FAILED, text}; }
};

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
