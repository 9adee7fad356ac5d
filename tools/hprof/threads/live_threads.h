// Asks a running HotSpot VM for its threads, by its attach mechanism: no agent is loaded.
#pragma once

#include <string>

#include "tools/hprof/threads/dump_file.h"
#include "tools/os/attach.h"

namespace hprof::tool {

// Reads a thread dump, for which the VM stops all threads as for jstack. with_owners: also who holds locks of
// java.util.concurrent, for which the VM walks its heap. After os::become(). False with *error.
bool ask_threads(const os::Jvm& jvm, bool with_owners, double seconds, ThreadDump* dump, std::string* error);

// Adds the virtual threads, which the VM writes to a file in a private folder of its /tmp (JDK 21 and newer).
// After os::become(). False with *error.
bool ask_virtual_threads(const os::Jvm& jvm, double seconds, ThreadDump* dump, std::string* error);

}  // namespace hprof::tool
