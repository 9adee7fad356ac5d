#include "walk_result.h"

namespace hprof::samples {

static const char* const kMethods[] = {
    "no_java_frame",
    "no_class_load_events",
    "gc_active",
    "unknown_native_code",
    "unwalkable_native_code",
    "unknown_java_code",
    "unwalkable_java_code",
    "unknown_state",
    "thread_exit",
    "deoptimization",
    "safepoint",
    "walk_fault",
    "not_a_java_thread",
    "depth_zero",
    "not_seen_running",
    "not_sampled",
    "unknown_walk_result",
};
static_assert(sizeof kMethods / sizeof kMethods[0] == kReasonCount, "a name for every reason");

const char* reason_method(Reason reason) {
  return kMethods[reason < kReasonCount ? reason : static_cast<uint32_t>(kUnknownCode)];
}

}  // namespace hprof::samples
