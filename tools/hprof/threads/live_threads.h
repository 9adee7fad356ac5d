// Asks a running HotSpot VM for its threads, by its attach mechanism: no agent is loaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/hprof/threads/thread_dump.h"
#include "tools/os/attach.h"

namespace hprof::tool {

// Reads a thread dump, for which the VM stops all threads as for jstack. with_owners: also who holds locks of
// java.util.concurrent, for which the VM walks its heap. After os::become(). False with *error.
bool ask_threads(const os::Jvm& jvm, bool with_owners, double seconds, ThreadDump* dump, std::string* error);

// Reads the virtual threads, which the VM writes to a file in a private folder of its /tmp (JDK 21 and
// newer). After os::become(). False with *error.
bool ask_virtual_threads(const os::Jvm& jvm, double seconds, VirtualThreadReader* reader, std::string* error);

// Passes a file's lines to `take`, without line feeds. False with *error.
bool read_lines(int file, const std::function<void(const std::string&)>& take, std::string* error);

}  // namespace hprof::tool
