// count=y: what a program counts with hprof.jar (tools/java): the calls and objects between two moments of a
// thread.
//
// The units calls and heap_sites count, while any count is open. A count here is the difference of their
// numbers at its end and at its beginning (open_counts.h).
#pragma once

#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

#include "open_counts.h"

namespace hprof::count {

struct Config {
  uint32_t count;  // the option that selects the unit
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config&) : services_(host) {}
  hprof_status start();
  void stop();
  bool close() const { return !is_held_; }
  hprof_status report(const hprof_report&) { return HPROF_OK; }

  // The native methods of hprof.Agent. [app]
  jlong begin(JNIEnv* jni, jint threads, jobject thread);
  jlongArray end(JNIEnv* jni, jlong handle);
  jstring name(JNIEnv* jni, jlong session, jint kind, jlong number) const;
  jlongArray frames(JNIEnv* jni, jlong session, jlong trace) const;
  jboolean counts_method(JNIEnv* jni, jstring name) const;

 private:
  void run(bool on);
  void open_one(JNIEnv* jni, bool all);
  void close_one(JNIEnv* jni, bool all);
  void tell(JNIEnv* jni, uint32_t open) const;  // the units that a count of the thread begins or ends
  void hide(JNIEnv* jni, uint32_t on) const;
  jlongArray rows_of(JNIEnv* jni, const Snapshot& counted) const;
  void add_name(jint kind, uint32_t id, TextBuffer* to) const;
  void add_text(hprof_string_id id, TextBuffer* to) const;
  void add_method(hprof_method_id id, TextBuffer* to) const;
  void add_frame(hprof_frame_id id, TextBuffer* to) const;

  Services services_;
  const hprof_thread_counts* units_[kCountingUnits] = {};  // null: that one does not run
  OpenCounts counts_;
  Lock lock_;             // of open_
  jlong session_ = 0;     // its number in this process: ids are of one session
  bool is_held_ = false;  // a thread is still in a native method
  uint64_t open_ = 0;     // counts; while there are any, the units count
};

}  // namespace hprof::count
