// The tracker classes that probes call, as class files; sources in tracker/.
#pragma once

#include "core/base/grow_buffer.h"
#include "core/bytecode/reason.h"
#include "core/bytecode/scratch.h"

namespace hprof {

struct TrackerClass {
  const char* name;  // internal: java/lang/HprofTracker
  Span bytes;        // version 52; names sun.misc.Unsafe
};

// In the order in which to define them. Static data. [any]
constexpr uint32_t kTrackerClassCount = 3;
constexpr uint32_t kTimerClass = 2;  // the last: hprof.Timer, for HPROF_PROBE_TIMED alone
extern const TrackerClass kTrackerClasses[kTrackerClassCount];

// Writes the class file with each `from` in its texts replaced by `to`, in descriptors, too.
Reason rename_class(Span file, Span from, Span to, Scratch& scratch, GrowBuffer& out);

// A tracker class as this VM needs it: from JDK 9 on Unsafe is jdk.internal.misc.Unsafe.
Reason prepare_tracker(const TrackerClass& tracker, bool internal_unsafe, Scratch& scratch, GrowBuffer& out);

}  // namespace hprof
