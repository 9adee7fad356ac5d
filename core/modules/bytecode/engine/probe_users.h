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
    "(ILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;JJ)J",
    "(JLjava/lang/Object;J)V",
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

}  // namespace hprof
