// Microstates of a process' threads (LWPs) from its folder in /proc.
//
// All functions take that folder as a parameter ("/proc/self"), so that tests can use files of their own.
#pragma once

#include "platform/accounting.h"

namespace hprof::platform {

// Switches microstate accounting on for the process, by a PCSET message to its ctl file. Solaris 10 and later
// account anyway and accept the message. Returns 0 or an error.
int set_microstates(const char* process);

// Reads lwp/<thread>/lwpusage. Returns 0 or an error.
int read_microstates(const char* process, NativeThread thread, ThreadAccounting* row);

// User, system and trap time of one thread in ns, or -1.
int64_t read_lwp_cpu(const char* process, NativeThread thread);

// Resident set from psinfo, in bytes; 0 if it cannot be read.
uint64_t read_resident_bytes(const char* process);

}  // namespace hprof::platform
