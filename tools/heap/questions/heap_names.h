// Facts about the program from strings in the heap: names of threads, the Java version.
#pragma once

#include <string>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// Reads the names of threads without a name record from their objects.
void name_threads(Snapshot& snapshot);

// "17.0.13+11"; "": not in the dump.
std::string java_version(const Snapshot& snapshot);

}  // namespace hprof::tool
