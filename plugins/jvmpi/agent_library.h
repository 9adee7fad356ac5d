// jvmpi=<library>[:<options>]: loads an agent, for VMs without -Xrun.
#pragma once

#include <atomic>

#include <hprof/draft/library.h>

#include "vm.h"

namespace hprof::jvmpi {

class AgentLibrary {
 public:
  explicit AgentLibrary(const Vm& vm) : vm_(vm) {}

  // Loads the library at `agent`, "<path>[:<options>]", and calls its JVM_OnLoad. False: error says why. An
  // agent that fails because the VM has no JNI yet is called again later. [onload]
  bool load(const char* agent, const std::atomic<bool>& wanted_jni, char* error, uint32_t error_size);
  // Calls JVM_OnLoad again, if the agent failed for want of JNI. [app]
  void try_again();

 private:
  using OnLoad = jint(JNICALL*)(JavaVM* vm, char* options, void* reserved);
  static constexpr uint32_t kPathMost = 4096;

  char* fresh_options();

  const Vm& vm_;
  OnLoad on_load_ = nullptr;
  bool again_ = false;
  char path_[kPathMost];
  char options_[kPathMost];  // copied for each call, since agents change it
  const char* given_ = "";
};

}  // namespace hprof::jvmpi
