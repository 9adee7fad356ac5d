// What strings in the heap say about the program: names of threads, the Java version.
#pragma once

#include <string>

#include "tools/hprof/heap/snapshot.h"

namespace hprof::tool {

// Names the threads that no record names, from their objects.
void name_threads(Snapshot& snapshot);

// "17.0.13+11"; "" when the dump does not say.
std::string java_version(const Snapshot& snapshot);

}  // namespace hprof::tool
