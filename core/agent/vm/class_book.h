// The method book: which class a jmethodID belongs to, and whether that class is still loaded.
//
// A jmethodID of an unloaded class must not be passed to JVMTI (JDK 8 to 17 may crash, 26 and later free it).
// So every class is entered when it is prepared, with a weak reference and all of its method ids, which the
// VM creates for that (AsyncGetCallTrace reports only methods that have one). A method id is resolved once,
// while its class is held; the name stays when the class is unloaded. Unloaded classes are swept out after
// garbage collections. JDK 21 tells of no class that a virtual thread loads while it is mounted or unmounted,
// so an unknown method has the loaded classes scanned again.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/service/ids.h>

#include "core/agent/vm/loader_book.h"
#include "core/agent/vm/recent_methods.h"
#include "core/agent/vm/unload_watch.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/base/region.h"
#include "core/model/model.h"
#include "platform/platform.h"

namespace hprof {

class ClassRewriter;

class ClassBook {
 public:
  struct Options {
    bool line_numbers;
    bool can_get_lines;
    bool can_get_source;
  };

  // max_memory: bytes, 0: unbounded; bounds the number of classes. rewriter: knows the agent's own classes.
  bool create(jvmtiEnv* jvmti, MemoryAccount* memory, Model* model, LoaderBook* loaders, UnloadWatch* watch,
              LossCounters* losses, const ClassRewriter* rewriter, const Options& options,
              uint64_t max_memory);
  // Frees the book, which no thread uses any more. jni: nullptr if no class was entered. [control]
  void destroy(JNIEnv* jni);
  // Starts keeping the book; enter_loaded enters the classes that are loaded already. [control]
  void keep(JNIEnv* jni);
  // Stops entering classes; names stay. [control]
  void let_go() { kept_.store(false, std::memory_order_release); }
  bool is_kept() const { return kept_.load(std::memory_order_acquire); }
  void enter_loaded(JNIEnv* jni);  // [control]
  // Gives each loaded class a serial, and watches it for unloading. [control]
  void watch_loaded(JNIEnv* jni);

  void prepared(JNIEnv* jni, jclass prepared);                                           // [app]
  uint32_t collections() const { return collections_.load(std::memory_order_relaxed); }  // [any]
  void count_collection() {                                                              // [gc]
    collections_.fetch_add(1, std::memory_order_relaxed);
    if (is_redefined_.exchange(false, std::memory_order_relaxed)) add_redefinition();
    forget_recent();
  }
  // Are collections counted from now on? Else names of running methods are not cached. [control]
  void follow_collections(bool follows);
  // Call it before a class is redefined. [app]
  void begin_redefinition() {
    is_redefined_.store(true, std::memory_order_relaxed);
    add_redefinition();
    forget_recent();
  }
  // See hprof_probes_service.redefinitions. [any]
  const uint32_t* redefinitions() const { return &redefinitions_; }
  // Removes unloaded classes, if there was a collection since the last call. [control]
  void sweep(JNIEnv* jni);

  // See service/ids.h frame(). 0: no room. [app][control]
  uint32_t frame(JNIEnv* jni, const hprof_raw_frame& raw_frame, bool running);
  uint32_t class_serial(JNIEnv* jni, jclass of);
  // See service/ids.h dumped_class(). [control]
  uint32_t dumped_class(JNIEnv* jni, jclass of, uint64_t object);

 private:
  enum State : uint32_t { kFree, kUsed, kGone };
  struct Entry {
    jweak reference;
    uint32_t next_free;
    State state;
  };

  void forget_recent() { recent_epoch_.fetch_add(1, std::memory_order_relaxed); }
  void add_redefinition() { __atomic_fetch_add(&redefinitions_, 1, __ATOMIC_RELAXED); }
  Entry* entries() const { return reinterpret_cast<Entry*>(entries_region_.base()); }
  bool enter(JNIEnv* jni, jclass loaded, jmethodID replaced = nullptr);
  template <typename Visit>
  void each_loaded(JNIEnv* jni, Visit visit);
  void remove_gone(JNIEnv* jni);
  uint32_t take_entry();
  void give_back_entry(uint32_t token);
  MethodId name_held(JNIEnv* jni, jmethodID method);
  MethodId name_entered(JNIEnv* jni, jmethodID method, bool* entered);
  bool scan(JNIEnv* jni);
  bool enter_missed(JNIEnv* jni);
  void enter_running(JNIEnv* jni);
  MethodId name_running(JNIEnv* jni, jmethodID method);
  MethodId name_recent(JNIEnv* jni, jmethodID method);
  MethodId describe(JNIEnv* jni, jclass owner, jmethodID method);
  ClassSerial intern(jclass of, uint64_t identity);
  uint32_t describe_class(JNIEnv* jni, jclass owner);
  void watch(JNIEnv* jni, jclass of, ClassSerial serial);
  void add_lines(MethodId id, jmethodID method);

  jvmtiEnv* jvmti_ = nullptr;
  MemoryAccount* memory_ = nullptr;
  Model* model_ = nullptr;
  LoaderBook* loaders_ = nullptr;
  UnloadWatch* watch_ = nullptr;
  LossCounters* losses_ = nullptr;
  Options options_ = {};
  uint32_t most_classes_ = 0;
  std::atomic<bool> kept_{false};
  std::atomic<bool> entered_loaded_{false};
  int64_t next_scan_ns_ = 0;  // of enter_missed, under resolve_lock_, as the next
  uint32_t scan_pause_s_ = 1;
  platform::Mutex resolve_lock_;  // keeps sweep() out while a method is resolved through a weak reference
  platform::Mutex entry_lock_;    // the free list; a few instructions
  Region entries_region_;
  uint32_t entry_count_ = 1;  // 0 is "none"
  uint32_t first_free_ = 0;
  std::atomic<uint32_t> collections_{0};
  uint32_t swept_at_ = 0;
  RecentMethods recent_;
  uint32_t redefinitions_ = 0;  // accessed atomically
  std::atomic<bool> is_redefined_{false};
  std::atomic<uint32_t> recent_epoch_{0};
  std::atomic<bool> follows_collections_{false};
  const ClassRewriter* rewriter_ = nullptr;
  std::atomic<MethodId> probe_{MethodId::kNone};  // stands for all methods of the agent's probes
};

}  // namespace hprof
