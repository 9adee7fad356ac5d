// MONITOR_DUMP: who owns which monitor, who waits for it, and the traces of all threads.
//
// Taken while threads run: each monitor is described as the VM reports it at that moment.
#pragma once

#include "bridge.h"
#include "dump_bytes.h"

namespace hprof::jvmpi {

class MonitorDumpEvent {
 public:
  MonitorDumpEvent(Bridge* bridge, JNIEnv* jni)
      : bridge_(*bridge), vm_(bridge->vm), jni_(jni), arena_(vm_.services), bytes_(vm_.services) {}

  // Fills in the event; its pointers live as long as this object. False: no memory, or the VM refuses. [app]
  bool take(JVMPI_MonitorDump* dump);

 private:
  static constexpr jint kDepth = 64;
  static constexpr jint kMonitors = 1000;  // monitors owned or waited for; others are left out

  bool add_thread(jthread thread, JVMPI_MonitorDump* dump);
  bool is_ours(jthread thread) const;
  void add_monitors_of(jthread thread);
  // The object on which the thread waits to be notified; null: none. Some VMs do not count it as contended.
  jobject waits_for(jthread thread) const;
  void add_monitor(jobject object);
  void add_raw_monitor(const RawMonitors::Monitor& monitor);
  // Those of the threads that are not among `others`.
  void add_threads(jint count, const jthread* threads, jint other_count, const jthread* others);
  // Overwrites the count at `at`.
  void set_count(uint64_t at, uint64_t count) { bytes_.put_number(at, count, 4); }

  Bridge& bridge_;
  const Vm& vm_;
  JNIEnv* jni_;
  Arena arena_;
  DumpBytes bytes_;
  jobjectID seen_[kMonitors];
  jint seen_count_ = 0;
};

}  // namespace hprof::jvmpi
