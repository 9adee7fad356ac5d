#include "core/base/tag_scope.h"

namespace hprof {

#ifdef HPROF_CHECKS

namespace {

// In static TLS (initial-exec), since signal handlers read it.
__attribute__((tls_model("initial-exec"))) thread_local uint32_t tags_now = 0;

}  // namespace

uint32_t current_tags() { return tags_now; }

uint32_t set_tags(uint32_t tags) {
  const uint32_t before = tags_now;
  tags_now = tags;
  return before;
}

#else

uint32_t current_tags() { return 0; }
uint32_t set_tags(uint32_t) { return 0; }

#endif

}  // namespace hprof
