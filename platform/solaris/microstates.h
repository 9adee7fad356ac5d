// Microstates of the threads (LWPs) of a process, out of its folder in /proc.
//
// Everything here takes that folder as a parameter ("/proc/self"), so that it can be tried on files made up.
#pragma once

#include "platform/accounting.h"

namespace hprof::platform {

// Tells the process to account for microstates, by a PCSET message to its ctl file. Solaris 10 and later do
// so anyway and take the message without complaint. Returns 0 or an error.
int set_microstates(const char* process);

// Reads lwp/<thread>/lwpusage. Returns 0 or an error.
int read_microstates(const char* process, NativeThread thread, ThreadAccounting* row);

// User, system and trap time of one thread in ns, or -1.
int64_t read_lwp_cpu(const char* process, NativeThread thread);

// Resident set out of psinfo, in bytes; 0 if it cannot be read.
uint64_t read_resident_bytes(const char* process);

}  // namespace hprof::platform
