// When the VM has told of all objects that a collection has freed.
//
// From JDK 16 on it does so some time afterwards, on a thread of its own, and says nowhere that it is
// through. Switching OBJECT_FREE off, for which it hurries, may stop the whole VM for good: whoever waits for
// the thread that tells does so where no safepoint is reached, and that thread reaches one (seen with JDK 17,
// under load). So a mark is freed along with the others: an object tagged here and in an environment made
// after the bridge's, to which the VM comes later. Told by both, in this order, it is the last.
#pragma once

#include "plugins/jvmpi/ids.h"

namespace hprof::jvmpi {

class LastFreed {
 public:
  LastFreed(const Vm& vm, Ids* ids) : vm_(vm), ids_(*ids) {}

  // Makes the other environment, after the bridge's own. Where that fails collect() waits for nothing.
  // [onload]
  void open();
  void close();  // [control]
  // Collects garbage and waits, for some seconds at most, until what it has freed is told. Not at the VM's
  // end, where ZGC does not answer any more. [app]
  void collect(JNIEnv* jni);
  // The object just made on that thread is the mark.
  bool is_marking(JNIEnv* jni) const { return marking_.load(std::memory_order_relaxed) == jni; }
  // The bridge's environment was told of that object. [gc]
  void freed(jlong tag) {
    if (tag == mark_.load(std::memory_order_acquire)) pass(kByBridge);
  }

 private:
  // Which of the two has told of the mark.
  enum : uint32_t { kByBridge = 1, kByOther = 2, kInOrder = 4, kBoth = kByBridge | kByOther };

  static void JNICALL on_freed(jvmtiEnv* jvmti, jlong tag);
  static void JNICALL on_collected(jvmtiEnv* jvmti);
  static LastFreed* of(jvmtiEnv* jvmti);
  void pass(uint32_t by);
  bool mark(JNIEnv* jni);
  bool wait() const;

  const Vm& vm_;
  Ids& ids_;
  jvmtiEnv* other_ = nullptr;
  std::atomic<bool> busy_{false};  // a thread is inside collect()
  std::atomic<JNIEnv*> marking_{nullptr};
  std::atomic<jlong> mark_{0};  // its tag in both; 0: none
  std::atomic<uint32_t> passed_{0};
  std::atomic<uint32_t> collections_{0};
};

}  // namespace hprof::jvmpi
