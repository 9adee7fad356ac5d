// Which threads of a dump wait for which locks, and who has these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/hprof/threads/thread_dump.h"

namespace hprof::tool {

// A platform or a virtual thread of a dump, which must outlive it.
struct ThreadOfDump {
  const DumpedThread* platform = nullptr;
  const VirtualThread* of_virtual = nullptr;

  bool is_known() const { return platform != nullptr || of_virtual != nullptr; }
  const std::string& name() const { return platform != nullptr ? platform->name : of_virtual->name; }
  uint64_t number() const { return platform != nullptr ? platform->number : of_virtual->number; }
};
// "\"main\" #3", "virtual thread #71"
std::string quoted(const ThreadOfDump& thread);
const std::vector<std::string>& stack_of(const ThreadDump& dump, const ThreadOfDump& thread);

// A lock, and who waits for it.
struct ContendedLock {
  DumpedLock lock;
  ThreadOfDump holder;  // not known: the dump does not say
  std::vector<ThreadOfDump> waiting;
};
// By the lock's id.
std::map<std::string, ContendedLock> contended_locks(const ThreadDump& dump);

// "a.B <0x10>", "a.B@hash"
std::string lock_text(const DumpedLock& lock);

// The circles of threads that wait for each other, without those that dump.deadlocks has.
std::vector<std::vector<DeadlockedThread>> circles_of(const ThreadDump& dump);
// True: one of dump.deadlocks or likely_deadlocks is for the lock.
bool is_deadlocked(const ThreadDump& dump, const DumpedLock& lock);

// Adds the virtual threads of the VM's file to the dump, and owners that only the file says. A lock that both
// name gets the dump's name: one that a platform thread waits for, or has, in both.
void add_virtual_threads(ThreadDump file, ThreadDump* dump);

}  // namespace hprof::tool
