// The bytecode service: takes the users of probes and calls them. The module `bytecode` rewrites the classes
// (core/modules/bytecode/rewriter.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/draft/bytecode.h>

#include "core/base/build.h"
#include "core/modules/bytecode/rewriter.h"

namespace hprof {

struct SessionParts;

// The natives of HPROF_PROBE_CALLS, which has one user per process. Called without indirection, which would
// be most of a call's cost. Never null.
struct CallNatives {
  using Begins = jlong(JNICALL*)(JNIEnv*, jclass, jint);
  using Ends = void(JNICALL*)(JNIEnv*, jclass, jlong, jboolean);
  static std::atomic<Begins> begins;
  static std::atomic<Ends> ends;
};

class ClassRewriter {
 public:
  // The session's functions for HPROF_PROBE_ON_DEMAND. [app]
  struct Help {
    void* session;
    bool (*is_alone)(void* session);   // no other agent gets, or would get, the tracker's calls
    void (*see_files)(void* session);  // enables ClassFileLoadHook
  };
  // Sets the module; users may call ask() from now on. [onload]
  void offer(const SessionParts* parts, const RewriterTable* table, const Help& help) {
    parts_ = parts, table_ = table, help_ = help;
  }
  // Rewrites no class in this session; users do not notice. [onload]
  void sit_out() { sits_out_ = true; }
  hprof_status ask(const ProbeUser& user);
  // Makes the engine, after all calls of ask(). False: no memory. [onload]
  bool begin();
  bool is_asked() const { return kHasBytecode && asked_ != 0; }
  // True: java.lang.Thread gets a field.
  bool adds_field() const { return kHasBytecode && (asked_ & HPROF_PROBE_METHODS) != 0; }
  bool is_active() const { return kHasBytecode && active_.load(std::memory_order_acquire) != nullptr; }
  // True: classes are rewritten now, or may be at any time.
  bool may_rewrite() const { return is_active() || (kHasBytecode && on_demand_.probes != 0); }
  // True: no class is changed for good; undo() takes out what probes there are.
  bool can_undo() const {
    return kHasBytecode && ((asked_ | on_demand_.probes) & ~kOfAskAlone & ~HPROF_PROBE_TIMED) == 0;
  }
  // Before a detach, when the units have stopped and class files still come. False: a thread is still in a
  // class file at the deadline. [control]
  bool undo(JNIEnv* jni, int64_t deadline_ns);
  // Frees what undo() has taken out of use. [control], when no class files come
  void destroy();
  // Counts a thread that passes on a class file, for which undo() waits. [app]
  class Visit {
   public:
    explicit Visit(ClassRewriter& rewriter) : visits_(rewriter.visits_) {
      visits_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~Visit() { visits_.fetch_sub(1, std::memory_order_release); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    std::atomic<uint32_t>& visits_;
  };

  // Rewrites a class file. loader: of the LoaderBook. [app], from before VMStart on
  void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes, jint* new_size,
                  unsigned char** new_bytes) {
    Rewriter* active = active_.load(std::memory_order_acquire);
    if (active != nullptr && size > 0) active->class_file(jvmti, loader, size, bytes, new_size, new_bytes);
  }
  // Defines the tracker class. Returns why the VM must not start, or nullptr.
  const char* on_vm_start(JNIEnv* jni);
  void on_vm_init(JNIEnv* jni);  // makes it ready; active only
  // True: no early hooks, so class files come from VMInit on: call count_passed(), enable the event, call
  // catch_up().
  bool is_late() const { return kHasBytecode && is_late_; }
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) { made_->count_passed(jvmti, jni); }
  void catch_up(jvmtiEnv* jvmti, JNIEnv* jni);
  hprof_status go(JNIEnv* jni, uint32_t probes);
  void halt(JNIEnv* jni, uint32_t probes) { set_flags(jni, probes, false); }
  void set_header_at(int64_t offset) { header_at_ = offset; }

  uint64_t thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const {
    return made_ != nullptr ? made_->thread_state(jni, thread, guess) : 0;
  }
  void set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const {
    if (made_ != nullptr) made_->set_thread_state(jni, thread, state);
  }
  uint32_t frame(uint32_t method, bool entry) const;
  void totals(hprof_probe_totals* totals) const;
  void each_left(bool timed, void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
    if (is_active()) made_->each_left(timed, argument, visit);
  }

  // Natives of the tracker. [app]
  jlong attach(JNIEnv* jni, jobject thread);
  jlong miss(jlong state, jlong node, jint method);
  void release(jlong state);
  void allocated(JNIEnv* jni, jobject object, jlong header);
  void caught(JNIEnv* jni, jobject exception, jint method);
  void made(JNIEnv* jni, jobject exception);

 private:
  static constexpr uint32_t kOfAskAlone = HPROF_PROBE_LATE | HPROF_PROBE_ON_DEMAND;
  enum Demand : uint32_t { kNobody, kBegun, kMet, kRefused };
  void add_user(const ProbeUser& user);
  bool make_rewriter();
  hprof_status meet_demand(jvmtiEnv* jvmti, JNIEnv* jni);
  hprof_status set_flags(JNIEnv* jni, uint32_t probes, bool on);

  const SessionParts* parts_ = nullptr;
  const RewriterTable* table_ = nullptr;
  Help help_ = {};
  Rewriter* made_ = nullptr;
  std::atomic<Rewriter*> active_{nullptr};  // made_, from when it may rewrite
  std::atomic<uint32_t> visits_{0};
  bool is_undone_ = false;
  uint32_t asked_ = 0;
  bool is_late_ = false;
  bool sits_out_ = false;
  ProbeUser on_demand_ = {};
  std::atomic<uint32_t> demand_{kNobody};
  ProbeUser users_[kProbeUsers] = {};  // in the order of kProbeSwitches
  int64_t header_at_ = -1;
};

}  // namespace hprof
