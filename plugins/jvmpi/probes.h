// Calls and allocations by probes in the program's code, in place of the VM's events: those of calls have it
// interpret all code, those of allocations are not on JDK 8.
//
// Each thread's calls are kept: one that ends takes those with it that ended unseen, so that what the agent
// is told nests.
#pragma once

#include <hprof/cpp/hash_table.hpp>
#include <hprof/draft/bytecode.h>

#include "plugins/jvmpi/threads.h"

namespace hprof::jvmpi {

class Bridge;

class Probes {
 public:
  explicit Probes(Bridge* bridge) : bridge_(*bridge) {}

  // HPROF_PROBE_CALLS, _ALLOCATIONS. False: says why. [onload]
  bool ask(uint32_t probes, char* error, uint32_t error_size);
  bool has(uint32_t probe) const { return (asked_ & probe) != 0; }
  hprof_status start();  // [control]
  void stop();
  void close() { methods_.close(); }  // as Bridge::release_memory

 private:
  struct Method {
    std::atomic<jmethodID> id;
    std::atomic<bool> is_static;  // set before
  };

  uint64_t begin(JNIEnv* jni, uint32_t number);
  void end(JNIEnv* jni, uint64_t call);
  void allocated(JNIEnv* jni, jobject object);
  Method* method_of(uint32_t number);
  bool push(ThreadEntry* self, jmethodID method);

  Bridge& bridge_;
  uint32_t asked_ = 0;
  HashTable<Method, Growth::kLevels> methods_;  // by the number of the probes
};

}  // namespace hprof::jvmpi
