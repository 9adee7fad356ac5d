// The virtual threads that samples belong to, for events: serials by their Java ids.
//
// A signal handler finds the id of what is mounted on its thread. The name is asked for later, through the
// carrier, if the same virtual thread is mounted still; short ones have an id alone. Only the last ones are
// remembered: one that is seen again later gets another serial.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/services.hpp>

#include "mounted_threads.h"

namespace hprof::samples {

// Used by the book's consumers, one at a time.
class VirtualThreads {
 public:
  // Nothing, unless the VM has virtual threads. [control]
  void open(const Services& services);
  void close();

  // The serial of a virtual thread. [consumer]
  hprof_thread_serial of(JNIEnv* jni, jthread thread);
  // The same by its Java id, which a handler has found on the carrier. [consumer]
  hprof_thread_serial of(JNIEnv* jni, uint64_t java_id, hprof_thread_serial carrier);

 private:
  struct Known {
    uint64_t java_id;
    hprof_thread_serial serial;
    bool has_name;  // it was asked for, and may be empty
  };
  static constexpr uint32_t kKnown = 256;
  // The shortest time from one question about a carrier to the next: meanwhile the VM mounts no thread.
  static constexpr uint64_t kBetweenNs = 2'500'000;

  Known& known_as(uint64_t java_id) { return known_[java_id % kKnown]; }
  bool is_known(const Known& known, uint64_t java_id) const;
  uint64_t id_of(JNIEnv* jni, jthread thread) const;
  hprof_thread_serial add(uint64_t java_id, hprof_text name, bool has_name);
  hprof_thread_serial add_named(uint64_t java_id, jthread thread);
  jthread mounted_on(JNIEnv* jni, hprof_thread_serial carrier);

  const Services* services_ = nullptr;  // null: there are none
  jvmtiEnv* jvmti_ = nullptr;
  jmethodID thread_id_ = nullptr;  // Thread.threadId()
  MountedThreads mounted_;
  bool has_mounted_ = false;  // mounted_ is open
  uint64_t asked_ns_ = 0;
  Known known_[kKnown] = {};
};

}  // namespace hprof::samples
