// The line numbers of a method.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

class Lines {
 public:
  Lines(const Vm& vm, jmethodID method) : table_(vm) {
    if (vm.jvmti->GetLineNumberTable(method, &count_, &table_) != JVMTI_ERROR_NONE) count_ = 0;
  }
  // The line of a location; -1: none. The rows may be in any order.
  jint at(jlocation location) const {
    jint line = -1;
    jlocation best = -1;
    for (jint i = 0; i < count_; i++) {
      const jvmtiLineNumberEntry& row = table_[i];
      if (row.start_location > location || row.start_location < best) continue;
      best = row.start_location;
      line = row.line_number;
    }
    return line;
  }

 private:
  jint count_ = 0;
  FromVm<jvmtiLineNumberEntry> table_;
};

// Frees the local references and the memory of a jvmtiMonitorUsage.
inline void give_back(const Vm& vm, JNIEnv* jni, const jvmtiMonitorUsage& usage) {
  if (usage.owner != nullptr) jni->DeleteLocalRef(usage.owner);
  for (jint i = 0; i < usage.waiter_count; i++) jni->DeleteLocalRef(usage.waiters[i]);
  for (jint i = 0; i < usage.notify_waiter_count; i++) jni->DeleteLocalRef(usage.notify_waiters[i]);
  vm.deallocate(usage.waiters);
  vm.deallocate(usage.notify_waiters);
}

}  // namespace hprof::jvmpi
