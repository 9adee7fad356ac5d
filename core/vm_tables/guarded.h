// Reads the VM's memory by guarded_read, within guarded(). Both need an installed fault guard.
#pragma once

#include "platform/platform.h"

namespace hprof {

using platform::guarded_read;

// A value at an address that was read from the VM's memory.
template <class T>
T guarded_at(uint64_t address) {
  return guarded_read<T>(reinterpret_cast<const void*>(static_cast<uintptr_t>(address)));
}

// Runs body(), which reads by guarded_read, takes no lock and owns nothing; after a fault once more, since
// that may have been of another thread, in a handler that walks its stack. False: a read faulted, and the
// results must not be used. [signal]
template <typename Body>
bool guarded(Body&& body) {
  for (int i = 0; i < 2; i++) {
    if constexpr (platform::kReadsAreGuarded) {
      const uint32_t before = platform::guarded_read_faults();
      body();
      if (platform::guarded_read_faults() == before) return true;
    } else if (platform::guarded_call([](void* self) { (*static_cast<Body*>(self))(); }, &body)) {
      return true;
    }
  }
  return false;
}

// True: the NUL-terminated text is at the address. Within guarded(). [signal]
inline bool guarded_equals(const char* there, const char* text) {
  for (uint64_t i = 0;; i++) {
    if (guarded_read<char>(there, i) != text[i]) return false;
    if (text[i] == '\0') return true;
  }
}

}  // namespace hprof
