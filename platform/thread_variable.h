// A thread-local variable of some library of the process, read by a signal handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Where each thread has the variable.
struct ThreadVariable {
  bool is_static = false;  // at one distance from every thread's own pointer; else in a block that threads
                           // make when they need it
  intptr_t offset = 0;     // of it, or of the block
  size_t module = 0;       // of the block: its number
};

// Finds the thread-local variable that a loaded library exports by that name, and keeps the library loaded.
// The caller is no main thread. False: none does, or this system's threads keep it where it is not read.
// [control]
bool find_thread_variable(const char* name, ThreadVariable* variable);

// Its address for the calling thread; nullptr: the thread has none yet. [signal]
const void* thread_variable(const ThreadVariable& variable);

}  // namespace hprof::platform
