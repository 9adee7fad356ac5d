// The threads by JNIEnv*, as the agent knows them, with the Thread objects that JVMTI needs.
//
// Entries stay: a later thread with the same JNIEnv* takes over the entry. A thread makes its own; VMInit
// makes those of earlier threads.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "objects.h"

namespace hprof::jvmpi {

struct ThreadEntry;
struct CalledMethod;

// A class of which a thread has allocated objects, by the key in their headers.
struct AllocatedClass {
  uint64_t key;  // 0: none
  uint64_t number;
  uint32_t round;  // the notifier's round in which the class was reported
  uint32_t epoch;  // of Ids: keys of unloaded classes come back
  jint kind;       // as in ClassInfo
  uint32_t size;   // bytes of an object; array: log2 of the bytes of an element
};
constexpr uint32_t kAllocatedClasses = 256;

// A call that a thread is in, one for each depth.
struct Call {
  Call* above;
  Call* below;
  ThreadEntry* thread;
  CalledMethod* method;
};

struct ThreadEntry {
  std::atomic<void*> local;      // SetThreadLocalStorage
  std::atomic<jthread> object;   // global reference; null: no thread has this JNIEnv* now
  std::atomic<bool> start_sent;  // THREAD_START was sent, so THREAD_END will be
  std::atomic<bool> telling;
  // Global reference to the thread that SuspendThread has suspended. Its end may have been reported since,
  // but it must still be resumed.
  std::atomic<jthread> suspended;
  std::atomic<jlong> cpu_ns;         // CPU time when it was last suspended
  std::atomic<bool> has_run;         // between the last two suspensions
  std::atomic<jlong> wait_began;     // MONITOR_WAIT, by the VM's clock
  std::atomic<jobjectID> waits_for;  // null: Thread.sleep
  std::atomic<bool> waits;           // MONITOR_WAITED is to be sent
  std::atomic<JNIEnv*> contends;     // the owner at MONITOR_CONTENDED_ENTER; null: not known
  std::atomic<jobjectID> left_by;    // the monitor whose MONITOR_CONTENDED_EXIT is still to be sent
  // The raw monitor that the thread waits to enter, or waits on.
  std::atomic<const void*> enters_raw, waits_raw;
  std::atomic<bool> in_reference;  // an event of a JNI reference is being sent
  // A jump or switch that is not reported yet; only this thread touches it. Null: none.
  jmethodID jumps_in;
  jint jumps_at;
  // Probe state; only this thread touches it.
  JNIEnv* env;
  std::atomic<uint32_t> met;  // the notifier's round in which the thread was reported
  Call* next_call;            // null: allocate more after the last
  Call* first_call;
  Call* last_call;
  Notifier::Own own;
  AllocatedClass* allocated;  // kAllocatedClasses, made at the first allocation
  uint32_t walks;             // walks over the heap until the last allocation
};

class Threads {
 public:
  Threads(const Vm& vm, Notifier* notifier, Objects* objects)
      : vm_(vm), notifier_(*notifier), objects_(*objects) {}
  bool open();  // [onload]
  void close() { table_.close(); }

  // An env's entry; make: a new one if need be. Null: none, or no memory. env may be null. [any] but [signal]
  ThreadEntry* entry(JNIEnv* env, bool make);
  // Reports the calling thread, which begins. [app]
  void started(JNIEnv* jni, jthread thread);
  // destroys: in VMDeath. The end of the thread that destroys the VM is reported there, since events follow
  // it.
  void ended(JNIEnv* jni, bool destroys);
  // Makes entries for threads that began before events came. [app]
  void find_all(JNIEnv* jni);
  // Sends THREAD_START for all present threads, if it is on.
  void tell_all(JNIEnv* jni);
  // Sends THREAD_START for the calling thread, unless it was sent; before each event.
  void tell_current(JNIEnv* jni);
  // Sends THREAD_START by request, by the id of the Thread object. False: no such thread.
  bool tell_again(JNIEnv* jni, jobjectID id);
  // A local reference to the Thread object of an env; null: ended, or unknown.
  jthread object(JNIEnv* jni, JNIEnv* env);
  // The JNIEnv* of a Thread object; null: none, or unknown.
  JNIEnv* env_of(JNIEnv* jni, jthread thread);
  // Sends MONITOR_CONTENDED_EXIT for the monitors that a thread, which ends, was the owner of.
  void leave_monitors(JNIEnv* owner);
  // Calls visit(env, entry) for each entry, in use or not.
  template <class Visit>
  void each(const Visit& visit) const {
    table_.each([&](uint64_t key, ThreadEntry& entry) {
      visit(reinterpret_cast<JNIEnv*>(static_cast<uintptr_t>(key)), entry);
    });
  }
  jint status(JNIEnv* jni, JNIEnv* env);  // GetThreadStatus
  // True: a virtual thread, of which the VM reports events with the JNIEnv of its carrier.
  bool is_virtual(JNIEnv* jni, jthread thread);
  // The calling thread's entry, a new one if need be.
  ThreadEntry* current(JNIEnv* jni);

 private:
  bool destroys_vm(const ThreadEntry& entry) const;
  void tell(JNIEnv* jni, JNIEnv* env, jthread thread, ThreadEntry* entry);
  bool send(JNIEnv* jni, JNIEnv* env, jthread thread, jint type);

  const Vm& vm_;
  Notifier& notifier_;
  Objects& objects_;
  HashTable<ThreadEntry, Growth::kLevels> table_;  // by JNIEnv*
};

}  // namespace hprof::jvmpi
