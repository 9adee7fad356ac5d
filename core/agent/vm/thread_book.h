// Records of the Java threads: serial number, names, native id, and one view per collector.
//
// JVMTI's thread-local storage points to the record, also for virtual threads. Records are linked in two
// lists, of platform threads (which collectors visit) and of virtual threads; a visitor pins a record, and an
// ended record is freed when it is not pinned.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <jvmti.h>

#include <hprof/collector.h>

#include "core/agent/session/unit_slot.h"
#include "core/base/context_table.h"
#include "core/base/memory_account.h"
#include "core/model/model.h"
#include "core/vm_tables/thread_ids.h"
#include "platform/platform.h"

namespace hprof {

struct ThreadRecord {
  hprof_thread views[kMostCollectors];
  uint32_t serial;
  uint32_t flags;
  uint64_t os_id;
  jweak thread;
  ThreadRecord* next;  // in its list, or in the free list
  ThreadRecord* previous;
  uint32_t pins;  // under the lists' lock
  bool ended;
  bool exits;  // it ends the VM: see ThreadBook::exits
  bool is_virtual() const { return (flags & HPROF_THREAD_VIRTUAL) != 0; }
  bool is_agent() const { return (flags & HPROF_THREAD_AGENT) != 0; }
};

// The beginning of the names of the agent's threads, which are in the system's thread group.
constexpr char kAgentThread[] = "HPROF ";
inline bool is_agents(const char* name) {
  return name != nullptr && strncmp(name, kAgentThread, sizeof(kAgentThread) - 1) == 0;
}

enum class ThreadChange : uint8_t { kStarts, kRenamed, kEnds };

class ThreadBook {
 public:
  // Reports what has become of a thread; called outside of all locks. [app]
  using Announce = void (*)(void* context, uint32_t serial, ThreadChange change);

  void create(jvmtiEnv* jvmti, MemoryAccount* memory, Model* model, Announce announce, void* context);
  // Records no names of threads from now on, as they may be secrets. [onload]
  void hide_names() { hides_names_ = true; }

  // Finds the field with a thread's id for Java, which records made from now on have. [control]
  void find_ids(JNIEnv* jni);
  // Makes a record when the calling thread starts; flags: HPROF_THREAD_VIRTUAL. [app]
  ThreadRecord* started(JNIEnv* jni, jthread thread, uint32_t flags);
  // The calling thread's record, a new one if need be; nullptr: before the live phase, or no memory. [app]
  ThreadRecord* current(JNIEnv* jni, jthread thread);
  // A live thread's record; nullptr: not known. [app][control]
  ThreadRecord* find(jthread thread) const;
  // The serial of a thread that is live or has just ended; 0: not known. [app][control]
  uint32_t serial_of(jthread thread) const;
  // True: the calling thread is the agent's. Does not use its Thread object. [app]
  bool is_agent() const;
  // The calling thread ends, and must not use its record any more. [app]
  void ended(JNIEnv* jni, jthread thread);
  // The calling thread ends the VM, whose end comes after the thread's own. Only each() on that thread still
  // visits it. [app]
  void exits(JNIEnv* jni, jthread thread);
  void visit_exiting() { exit_visitor_.store(platform::current_thread_id(), std::memory_order_relaxed); }
  // Makes records of all live platform threads that have none, with native ids from `ids`. [control]
  void enumerate(JNIEnv* jni, const NativeThreadIds& ids);
  // See service/threads.h each(). `view` picks the collector. [control]
  void each(JNIEnv* jni, uint32_t view, void* argument,
            uint32_t (*visit)(void* argument, hprof_thread* thread, void* jthread_ref));
  // Asks for the name anew, as threads name themselves when they run. True: it is another one. [app][control]
  bool learn_name(JNIEnv* jni, jthread thread, uint32_t serial);
  // The same for the platform threads with greater serials than `after`. Returns the last serial. [control]
  uint32_t learn_names(JNIEnv* jni, uint32_t after, Announce announce, void* context);
  // The same for those that started since the call before the last. [control]
  void learn_new_names(JNIEnv* jni);
  // The number of platform threads with a record.
  uint32_t live() const { return live_.load(std::memory_order_relaxed); }
  // Of the threads with a record; each ends with its thread.
  ContextTable contexts;
  // True: there are records, which need ThreadEnd events. [control]
  bool has_records() const;
  // Frees all records, and takes them out of the threads' local storage. No callback runs any more. jni:
  // nullptr if there are no records. False: the storage of a thread that lives still has one, so that the
  // environment must not be used again. [control]
  bool destroy(JNIEnv* jni);

 private:
  ThreadRecord* make(JNIEnv* jni, jthread thread, uint32_t flags, uint64_t os_id);
  bool is_announced(const ThreadRecord* record) const;
  ThreadRecord* add_record(JNIEnv* jni, jthread thread, uint32_t serial, uint32_t flags, uint64_t os_id,
                           bool exits);
  ThreadRecord* take_free();
  bool clear_storage(JNIEnv* jni, const ThreadRecord* record);
  void unlink(JNIEnv* jni, ThreadRecord* record);
  void give_back(ThreadRecord* record);
  uint32_t describe(JNIEnv* jni, jthread thread, uint32_t* flags, uint64_t os_id);

  jvmtiEnv* jvmti_ = nullptr;
  MemoryAccount* memory_ = nullptr;
  Model* model_ = nullptr;
  Announce announce_ = nullptr;
  void* context_ = nullptr;
  ThreadRecord*& first_of(const ThreadRecord* record) {
    return record->is_virtual() ? first_virtual_ : first_;
  }

  mutable platform::Mutex lock_;  // of the lists; held for a few instructions
  ThreadRecord* first_ = nullptr;
  ThreadRecord* first_virtual_ = nullptr;
  ThreadRecord* free_ = nullptr;
  std::atomic<uint32_t> live_{0};
  std::atomic<decltype(platform::current_thread_id())> exit_visitor_{};
  bool hides_names_ = false;
  FieldReader<jlong> java_ids_;  // Thread.tid; not open: this VM has no such field
  uint32_t learned_[2] = {};     // the last serials at the last two calls of learn_new_names
};

}  // namespace hprof
