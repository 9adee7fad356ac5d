// Threads with their stacks, what their frames hold, and what they wait for.
#pragma once

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// The text of a frame by its depth in a thread's stack; "": not known.
std::string frame_of(const Snapshot& snapshot, const HeapThread& thread, uint32_t depth);

// A part for each of the `top` threads that retain most, and the virtual threads.
Section threads_section(const Snapshot& snapshot, size_t top);

}  // namespace hprof::tool
