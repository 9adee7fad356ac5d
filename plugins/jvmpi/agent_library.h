// jvmpi=<library>[:<options>]: an agent that the bridge loads, for when -Xrun is not available.
#pragma once

#include <atomic>

#include <hprof/draft/library.h>

#include "vm.h"

namespace hprof::jvmpi {

class AgentLibrary {
 public:
  explicit AgentLibrary(const Vm& vm) : vm_(vm) {}

  // Loads the library at `agent`, "<path>[:<options>]", and calls its JVM_OnLoad; `options`, if any, replace
  // those. False: error says why. An agent that fails after it asked for JNI, which the VM does not have yet,
  // is called again later. [onload]
  bool load(const char* agent, const char* options, const std::atomic<bool>& wanted_jni, char* error,
            uint32_t error_size);
  // Calls JVM_OnLoad once more, if that is due. [app]
  void try_again();

 private:
  using OnLoad = jint(JNICALL*)(JavaVM* vm, char* options, void* reserved);
  static constexpr uint32_t kPathMost = 4096;

  const Vm& vm_;
  OnLoad on_load_ = nullptr;
  bool again_ = false;
  char path_[kPathMost];
  char options_[kPathMost];  // a copy for each call: agents change it
  const char* given_ = "";
};

}  // namespace hprof::jvmpi
