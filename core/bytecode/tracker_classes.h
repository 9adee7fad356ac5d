// The tracker class that probes call, as class files that are part of the program; sources in tracker/.
#pragma once

#include "core/base/grow_buffer.h"
#include "core/bytecode/reason.h"
#include "core/bytecode/scratch.h"

namespace hprof {

struct TrackerClass {
  const char* name;  // internal: java/lang/HprofTracker
  Span bytes;        // version 52; names sun.misc.Unsafe
};

// In the order in which they are to be defined. Static data. [any]
constexpr uint32_t kTrackerClassCount = 2;
extern const TrackerClass kTrackerClasses[kTrackerClassCount];

// Writes to `out` the class file with each `from` in its texts replaced by `to` (class names in any
// descriptor, too).
Reason rename_class(Span file, Span from, Span to, Scratch& scratch, GrowBuffer& out);

// A tracker class as the VM at hand needs it: from JDK 9 on Unsafe is jdk.internal.misc.Unsafe.
Reason prepare_tracker(const TrackerClass& tracker, bool internal_unsafe, Scratch& scratch, GrowBuffer& out);

}  // namespace hprof
