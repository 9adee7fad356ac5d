// Objects whose ids were given out while the agent had collections disabled: they live until it enables them,
// as in VMs that do not collect meanwhile.
#pragma once

#include <hprof/cpp/lock.hpp>

#include "pages.h"
#include "vm.h"

namespace hprof::jvmpi {

class ObjectPins {
 public:
  explicit ObjectPins(const Vm& vm) : vm_(vm) {}

  // Calls nest, over all threads. [any] but [signal]
  void hold() { holds_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // Keeps the object alive, if collections are disabled. [app]
  void add(JNIEnv* jni, jobject object, uint64_t number) {
    if (holds_.load(std::memory_order_relaxed) != 0) keep(jni, object, number);
  }

 private:
  [[gnu::cold]] void keep(JNIEnv* jni, jobject object, uint64_t number);

  const Vm& vm_;
  Lock lock_;  // of the references, for a few instructions
  std::atomic<uint32_t> holds_{0};
  Pages<jobject> pins_;  // by number
};

}  // namespace hprof::jvmpi
