// Thread.$hprof, the field that the unit's probes add to java.lang.Thread: the address of the node that the
// thread is in, or 0.
#pragma once

#include <cstdint>
#include <jni.h>

#include <hprof/cpp/services.hpp>

namespace hprof::times {

class ThreadWord {
 public:
  static constexpr const char* kField = "$hprof";
  // Finds the field, at the first start. False: no thread has a word. [control]
  bool open(const Services& services);
  // Runs Java code. guess: a value that this thread has had, or 0; if it seems unchanged, it is returned ten
  // times as fast, but may be out of date. [app][control], but not in native methods of the targets
  uint64_t read(void* jni, void* thread, uint64_t guess) const;
  void write(void* jni, void* thread, uint64_t word) const;

 private:
  jfieldID field_ = nullptr;
  jclass class_ = nullptr;  // with stateAt(); a global reference
  jmethodID state_at_ = nullptr;
};

}  // namespace hprof::times
