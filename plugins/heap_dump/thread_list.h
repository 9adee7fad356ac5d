// The threads of a dump: tagged with their object ids, and with their stacks as traces of their own.
#pragma once

#include <hprof/cpp/lazy_table.hpp>

#include "dump_env.h"
#include "page_table.h"

namespace hprof::dump {

class ThreadList {
 public:
  static constexpr uint32_t kMost = 64 * 1024;
  static constexpr jint kDepth = 256;  // frames of a stack

  // The ids that the core gives thread objects.
  static constexpr uint64_t kFirstId = 1u << 23;
  static constexpr uint64_t kEndId = 1u << 24;
  static bool is_id(uint64_t tag) { return tag - kFirstId < kEndId - kFirstId; }

  struct Entry {
    uint64_t tag;
    hprof_thread_serial serial;
    hprof_trace_serial trace;
    bool is_rooted;  // this walk has written its ROOT THREAD OBJECT
  };

  // Tags the threads. The caller keeps all classes loaded, for the methods' names. [control]
  bool take(const DumpEnv& vm);
  void close();
  hprof_status define() const;

  void begin_walk() {
    for (uint32_t i = 0; i < count_; i++) entries_[i].is_rooted = false;
  }
  // The thread with that tag; nullptr: none. [heap]
  Entry* find(uint64_t tag);

 private:
  static uint32_t visit(void* self, hprof_thread* thread, void* jthread_ref);
  void add(hprof_thread* thread, jthread object);
  hprof_trace_serial stack(hprof_thread_serial serial, jthread object);

  const DumpEnv* vm_ = nullptr;
  const Services* services_ = nullptr;
  LazyTable<Entry> entries_;
  jvmtiFrameInfo* frames_ = nullptr;
  uint32_t count_ = 0;
  IdSet ids_;  // given so far, less kFirstId: they repeat after 2^23 threads
};

}  // namespace hprof::dump
