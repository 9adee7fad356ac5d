// Asks a running HotSpot VM for its threads, by its attach mechanism: no agent is loaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/format/input.h"
#include "tools/hprof/threads/thread_dump.h"
#include "tools/os/attach.h"

namespace hprof::tool {

// Reads a thread dump, for which the VM stops all threads as for jstack. with_owners: also who holds locks of
// java.util.concurrent, for which the VM walks its heap. After os::become(). False with *error.
bool ask_threads(const os::Jvm& jvm, bool with_owners, double seconds, ThreadDump* dump, std::string* error);

// Reads the virtual threads, which the VM writes to a file in a private folder of its /tmp (JDK 21 and
// newer). After os::become(). False with *error.
bool ask_virtual_threads(const os::Jvm& jvm, double seconds, VirtualThreadReader* reader, std::string* error);

using TakeLine = std::function<void(const std::string&)>;
// Passes the lines to `take`, without their ends. False with *error.
bool read_lines(ByteSource& source, const TakeLine& take, std::string* error);

}  // namespace hprof::tool
