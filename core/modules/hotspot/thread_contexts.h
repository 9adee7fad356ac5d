// Contexts of what threads run (hprof/draft/thread_context.h).
//
// From JDK 19 on the key is the Java thread's id, and the one of what is mounted on a thread is read from its
// JavaThread: the field that monitors take their owner from (JDK 24) or, before that, the id in the object of
// the mounted thread, which a collector may be moving: ids never change, so the read gives the id, or
// something that has no context. Before virtual threads the key is the thread's JNIEnv.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/draft/thread_context.h>

#include "core/base/context_slots.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

class ThreadContexts {
 public:
  static constexpr uint32_t kFirstWithIds = 19;  // JDK

  // See hprof_thread_context_service. `thread`: the JavaThread of the calling thread.
  bool find_mounted(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread);
  bool knows_mounted() const {
    const Key key = key_.load(std::memory_order_acquire);
    return key == Key::kOwner || key == Key::kObject;
  }
  // The Java id of the virtual thread on the calling thread; 0: none, or not known. [signal]
  uint64_t mounted(const void* env) const {
    const uint64_t id = knows_mounted() && has_virtual(env) ? key_of(env) : 0;
    return id <= kGreatestId ? id : 0;
  }
  bool open(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread, uint64_t bytes);
  bool is_open() const { return is_open_; }             // since the last clear
  const char* why_not_running() const { return why_; }  // nullptr: `running` finds contexts
  // Bytes of the slots of a session with that limit of memory, 0: without one.
  static uint64_t bytes_of(uint64_t budget);
  void clear() {
    slots_.forget();
    variable_.store(nullptr, std::memory_order_release);
  }
  // From now on nothing is read under a guard.
  void close() {
    is_open_ = false;
    key_.store(Key::kUnknown, std::memory_order_release);
    proofs_.store(kProofs, std::memory_order_relaxed);
    clear();
  }
  // The first slot; null: there are none, or keys are no ids. [control]
  const void* slots(uint32_t* count) const {
    *count = slots_.count();
    return key_.load(std::memory_order_relaxed) == Key::kEnv ? nullptr : room_;
  }
  hprof_status set(const void* env, uint64_t thread, const hprof_context* context);
  hprof_status set_running(const void* env, const hprof_context* context);
  void end(const void* env) { slots_.clear(key_of(env)); }
  bool running(const void* env, hprof_context* context) const;
  hprof_string_id labels(const void* env) const { return slots_.labels(key_of(env)); }
  bool of(JNIEnv* jni, jobject thread, hprof_context* context) const;
  // True: a library has the variable. [control]
  bool find_variable(HotSpot& hotspot);

 private:
  enum class Key : uint32_t {
    kUnknown,  // with ids, of which a handler knows none
    kEnv,
    kOwner,  // JavaThread::_monitor_owner_id
    kObject  // JavaThread::_vthread
  };
  using Slots = ContextSlots<uint64_t>;

  hprof_status put(uint64_t key, const hprof_context* context);
  const char* find_ids(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread);
  uint64_t id_of(JNIEnv* jni, jobject thread) const;
  // A word of the calling thread's own record in the VM, which needs no guard.
  template <class T>
  static T of_env(const void* env, uint64_t distance) {
    return *reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(env) + static_cast<uintptr_t>(distance));
  }
  uint64_t key_of(const void* env) const {
    switch (key_.load(std::memory_order_acquire)) {
      case Key::kUnknown:
        return 0;
      case Key::kEnv:
        return reinterpret_cast<uintptr_t>(env);
      case Key::kOwner:
        return of_env<uint64_t>(env, from_env_);
      case Key::kObject:
        break;
    }
    return id_in_object(env);
  }
  uint64_t id_in_object(const void* env) const;
  bool has_virtual(const void* env) const;
  bool read_variable(hprof_context* context) const;
  void prove(const void* env, uint64_t thread);

  // A collector may be moving the object that has the id: what is greater is no id.
  static constexpr uint64_t kGreatestId = uint64_t{1} << 40;
  static constexpr uint32_t kProofs = 1024, kFewest = 64;
  static constexpr uint64_t kShare = 32;  // of max-memory=, as an upper limit
  static constexpr uint64_t kMostSlots = 1u << 17, kFewestSlots = 256;

  Slots slots_;
  Slots::Slot* room_ = nullptr;
  bool is_open_ = false;
  const char* why_ = nullptr;
  std::atomic<Key> key_{Key::kUnknown};
  uint64_t from_env_ = 0, id_at_ = 0;                      // offsets, of the JNIEnv and of the object
  uint64_t to_thread_ = 0;                                 // from a JNIEnv to its JavaThread
  jmethodID thread_id_ = nullptr;                          // Thread.threadId()
  uint64_t continuation_from_env_ = 0, own_from_env_ = 0;  // 0: not known
  platform::ThreadVariable found_;
  std::atomic<const platform::ThreadVariable*> variable_{nullptr};  // found_, or null
  std::atomic<uint32_t> proofs_{0}, wrong_{0};
};

}  // namespace hprof
