// Waits until the VM has reported all objects that a collection has freed.
//
// From JDK 16 on the VM does that some time later, on a thread of its own. Disabling ObjectFree makes it
// finish, but can deadlock the VM: the thread that waits for the reporting thread is not at a safepoint, and
// the reporting thread stops at one (seen with JDK 17, under load). So a mark is freed along with the other
// objects: an object tagged in the bridge's jvmtiEnv and in one made after it, which the VM handles later.
// When both have reported it, in this order, all have been reported.
#pragma once

#include "ids.h"

namespace hprof::jvmpi {

class LastFreed {
 public:
  LastFreed(const Vm& vm, Ids* ids) : vm_(vm), ids_(*ids) {}

  // Makes the second jvmtiEnv, after the bridge's. If that fails, collect() does not wait. [onload]
  void open();
  void close();  // [control]
  // Collects garbage and waits, for a few seconds at most, until the freed objects are reported. Not at the
  // VM's end, when ZGC no longer answers. [app]
  void collect(JNIEnv* jni);
  // True: the object just allocated on that thread becomes the mark.
  bool is_marking(JNIEnv* jni) const { return marking_.load(std::memory_order_relaxed) == jni; }
  // The bridge's jvmtiEnv reports a freed object. [gc]
  void freed(jlong tag) {
    if (tag == mark_.load(std::memory_order_acquire)) pass(kByBridge);
  }

 private:
  // The environments that have reported the mark.
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
  std::atomic<jlong> mark_{0};  // tag of the mark in both; 0: none
  std::atomic<uint32_t> passed_{0};
  std::atomic<uint32_t> collections_{0};
};

}  // namespace hprof::jvmpi
