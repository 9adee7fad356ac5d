// HotSpot's extension event for unloaded classes, which comes a little after the unloading.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class UnloadEvent {
 public:
  // Adds 1 to *count for each class from now on. The event has its own environment, for its count. nullptr:
  // success; else why not, static text. [control]
  const char* watch(JavaVM* vm, uint32_t* count);
  // No event comes any more. [control]
  void close();

 private:
  jvmtiEnv* env_ = nullptr;
};

}  // namespace hprof
