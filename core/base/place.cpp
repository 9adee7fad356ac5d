#include "core/base/place.h"

namespace hprof {

#ifdef HPROF_CHECKS

namespace {

// In static TLS (initial-exec), since signal handlers read it.
__attribute__((tls_model("initial-exec"))) thread_local uint32_t place = 0;

}  // namespace

uint32_t current_place() { return place; }

uint32_t set_place(uint32_t tags) {
  const uint32_t before = place;
  place = tags;
  return before;
}

#else

uint32_t current_place() { return 0; }
uint32_t set_place(uint32_t) { return 0; }

#endif

}  // namespace hprof
