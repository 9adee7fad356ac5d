// The threads in a heap dump, and in the last MONITOR DUMP of a report.
#pragma once

#include <string>

#include "tools/hprof/threads/thread_dump.h"

namespace hprof::tool {

// Reads the file, whatever it is: a thread dump, a heap dump or a report. note: what else there is to say of
// it, or "". False with *error.
bool read_threads_of_file(const std::string& path, ThreadDump* dump, std::string* note, std::string* error);

}  // namespace hprof::tool
