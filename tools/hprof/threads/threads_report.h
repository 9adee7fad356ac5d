// What `hprof threads` prints of a thread dump, and `hprof profile` before it begins.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/hprof/threads/thread_dump.h"

namespace hprof::tool {

// CPU time of threads in milliseconds, by address and name.
using CpuTimes = std::map<std::pair<std::string, std::string>, double>;
CpuTimes cpu_times(const ThreadDump& dump);
// Milliseconds since then, or since the thread's start.
double cpu_since(const DumpedThread& thread, const CpuTimes& before);

enum class Blocked {
  kAll,    // each lock that a thread waits for
  kPools,  // those for which pools wait, of which no thread does anything else
};
// The deadlocks, and locks that threads wait for, with stacks. Empty: nothing is blocked.
std::string hang_text(const ThreadDump& dump, Blocked which);

// The platform threads: those with Java stacks by stack, the busiest first; those of the VM. before: an
// earlier dump's times, `seconds` ago; 0: there was none.
std::string threads_text(const ThreadDump& dump, const CpuTimes& before, double seconds);
// The virtual threads by state and stack, the largest group first. Empty: there are none.
std::string virtual_threads_text(const ThreadDump& dump);
// "23 threads with a Java stack, 8 wait for locks; 700 virtual threads, 400 wait for locks"
std::string counts_text(const ThreadDump& dump);
// All of it, for JSON (threads_json.cpp).
Section section_of(const std::string& name, const ThreadDump& dump, const CpuTimes& before, double seconds);

}  // namespace hprof::tool
