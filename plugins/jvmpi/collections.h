// GC_START, OBJECT_FREE, GC_FINISH and CLASS_UNLOAD: sent after the collection, outside of the safepoint, by
// a thread of the bridge or by the caller of RunGC.
//
// The agent is not called during a collection: its handler of GC_START takes a lock, as JVMPI tells it to,
// which a stopped thread may hold. Freed objects are kept in chunks until they are reported.
#pragma once

#include "last_freed.h"
#include "threads.h"

namespace hprof::jvmpi {

class Collections {
 public:
  Collections(const Vm& vm, Notifier* notifier, Classes* classes, Threads* threads, LastFreed* last_freed)
      : vm_(vm), notifier_(*notifier), classes_(*classes), threads_(*threads), last_freed_(*last_freed) {}

  void open();            // [onload]
  bool start();           // starts the thread that sends [control]
  void stop();            // [control]
  void collected();       // [gc]
  void freed(jlong tag);  // [gc]
  // Sends the events on the calling thread, which has had its THREAD_START; not while they are held back, or
  // another thread sends them. [app][control]
  void tell(JNIEnv* jni);
  void run_gc(JNIEnv* jni);
  // Sends the rest, at the VM's end; waits up to a second for a thread that is sending. [app]
  void tell_last(JNIEnv* jni);
  // Holds these events back; calls nest, over all threads. Waits for a thread that is sending, though not
  // forever, since its handler may wait for the caller. [any] but [signal]
  void hold();
  void release();

 private:
  static constexpr uint32_t kTags = 4000;
  struct Chunk {
    Chunk* next;
    uint32_t count;
    uint32_t reserved;
    jlong tags[kTags];
  };

  void run(JNIEnv* jni, hprof_agent_thread* thread);
  void flush();
  bool tells_freed() const {
    return notifier_.is_any_on({JVMPI_EVENT_OBJECT_FREE, JVMPI_EVENT_CLASS_UNLOAD});
  }
  Chunk* take_tags();
  void tell_unloaded(JNIEnv* jni, const Chunk* chunks);
  void tell_freed(JNIEnv* jni, const Chunk* chunks);
  void tell_finish(JNIEnv* jni);
  bool has_some() const;

  const Vm& vm_;
  Notifier& notifier_;
  Classes& classes_;
  Threads& threads_;
  LastFreed& last_freed_;
  uint64_t* lost_ = nullptr;
  hprof_agent_thread* thread_ = nullptr;
  std::atomic<uint32_t> holds_{0};
  std::atomic<uint32_t> collected_{0};
  std::atomic<uint64_t> freed_{0};  // objects that the VM has reported
  std::atomic<bool> telling_{false};
  std::atomic<JNIEnv*> teller_{nullptr};
  Lock lock_;  // lock of the chunks, for a few instructions and the next chunk's memory
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
};

}  // namespace hprof::jvmpi
