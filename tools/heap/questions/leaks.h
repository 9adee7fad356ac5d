// Suspects: objects that keep an unusual part of the heap alive, and the references to them.
#pragma once

#include "tools/heap/output/document.h"
#include "tools/heap/questions/paths.h"
#include "tools/heap/questions/thread_locals.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct LeakOptions {
  double threshold = 0.1;  // a suspect retains at least this part of the heap
  size_t most = 5;         // suspects
  size_t steps = kStepsShown;
};

// *largest: bytes that the largest suspect retains, 0 = there is none.
Section leak_section(const Snapshot& snapshot, const ShortestPaths& paths, const ThreadLocals& locals,
                     const LeakOptions& options, uint64_t* largest);

}  // namespace hprof::tool
