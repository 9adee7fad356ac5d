// MONITOR_DUMP: who owns which monitor, who waits for it, and the traces of all threads.
//
// Taken of threads that run: each monitor is what the VM says of it at its turn.
#pragma once

#include "plugins/jvmpi/bridge.h"

namespace hprof::jvmpi {

// Bytes in a row, unaligned; counts are big-endian, pointers as they are.
class DumpBytes {
 public:
  explicit DumpBytes(const Services& services) : services_(services) {}
  ~DumpBytes() { services_.release(bytes_, room_); }
  DumpBytes(const DumpBytes&) = delete;
  DumpBytes& operator=(const DumpBytes&) = delete;

  void u1(uint8_t value) { put(&value, 1); }
  void u4(uint32_t value);
  template <class T>
  void pointer(T* value) {
    put(&value, sizeof(value));
  }
  char* begin() const { return bytes_; }
  char* end() const { return bytes_ + size_; }
  bool failed() const { return failed_; }

 private:
  void put(const void* bytes, uint64_t count);

  const Services& services_;
  char* bytes_ = nullptr;
  uint64_t size_ = 0;
  uint64_t room_ = 0;
  bool failed_ = false;
};

class MonitorDump {
 public:
  MonitorDump(Bridge* bridge, JNIEnv* jni)
      : bridge_(*bridge), vm_(bridge->vm), jni_(jni), arena_(vm_.services), bytes_(vm_.services) {}

  // Fills in the event; what it points to lives as long as this. False: no memory, or the VM refuses. [app]
  bool take(JVMPI_MonitorDump* dump);

 private:
  static constexpr jint kDepth = 64;
  static constexpr jint kMonitors = 1000;  // that are owned or waited for; others are left out

  bool add_thread(jthread thread, JVMPI_MonitorDump* dump);
  void add_monitors_of(jthread thread);
  void add_monitor(jobject object);
  void add_threads(jint count, const jthread* threads);

  Bridge& bridge_;
  const Vm& vm_;
  JNIEnv* jni_;
  Arena arena_;
  DumpBytes bytes_;
  jobjectID seen_[kMonitors];
  jint seen_count_ = 0;
};

}  // namespace hprof::jvmpi
