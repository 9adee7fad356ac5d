// What hprof.probes/1 asks of its users (hprof/service/probes.h), for the core and for `hprof plugin check`.
#pragma once

#include <hprof/service/probes.h>

#include "core/base/text.h"

namespace hprof {

// The type of a target in Java, by HPROF_POINT_*.
constexpr const char* kTargetTypes[HPROF_POINTS] = {
    "(I)J",
    "(J)V",
    "(J)V",
    "(JI)V",
    "(I)V",
    "(Ljava/lang/Object;)V",
    "(Ljava/lang/Object;I)V",
    "(Ljava/lang/Object;)V",
    "(Ljava/lang/Object;I)V",
    "(J)J",
};
constexpr const char* kPrimeType = "()V";
constexpr const char* kLiveType = "Z";

// How the name of a class with targets begins. In java.lang: classes outside of java.base may not be there
// before VMInit, and not all modules would read theirs. Hprof: another copy of the agent knows it by that.
// With probes of two copies in the targets of both, each target would call the other for ever.
constexpr Str kTargetPrefix("java/lang/Hprof");

inline bool is_name_of_targets(Str name) {
  return name.size > kTargetPrefix.size && name.part(0, kTargetPrefix.size) == kTargetPrefix;
}

// True: each point once, all in Java or all native; what begins can end.
inline bool is_right(const hprof_probe_user& user) {
  const bool is_native = user.classes == nullptr;
  uint32_t points = 0;
  for (uint32_t i = 0; i < user.target_count; i++) {
    const hprof_target& target = user.targets[i];
    if (target.point >= HPROF_POINTS || (points >> target.point & 1) != 0) return false;
    if (is_native ? target.function == nullptr : target.method == nullptr) return false;
    points |= 1u << target.point;
  }
  const auto has = [points](uint32_t point) { return (points >> point & 1) != 0; };
  if (points == 0 || has(HPROF_POINT_ARRAYS) != (has(HPROF_POINT_OBJECT) && !is_native)) return false;
  if (!has(HPROF_POINT_BEGIN) &&
      (has(HPROF_POINT_END) || has(HPROF_POINT_UNWIND) || has(HPROF_POINT_HANDLER)))
    return false;
  if (has(HPROF_POINT_CONSTRUCTED) && !has(HPROF_POINT_UNWIND)) return false;
  for (uint32_t i = 0; !is_native && i < user.class_count; i++) {
    const hprof_probe_class& brought = user.classes[i];
    if (brought.name == nullptr || brought.bytes == nullptr || !is_name_of_targets(brought.name))
      return false;
  }
  if (!is_native && (user.class_count == 0 || user.live == nullptr)) return false;
  const bool on_demand = (user.flags & HPROF_PROBES_ON_DEMAND) != 0;
  return on_demand ? user.thread_field == nullptr && (user.flags & HPROF_PROBES_LATE) == 0
                   : (user.flags & HPROF_PROBES_ATTACHED) == 0;
}

}  // namespace hprof
