// The service of probes: takes their users. The module `bytecode` rewrites the classes
// (core/modules/bytecode/rewriter.h), whose probes call the users' targets.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/base/build.h"
#include "core/modules/bytecode/rewriter.h"

namespace hprof {

struct SessionParts;

class ClassRewriter {
 public:
  // The session's functions for probes on demand. [app]
  struct Help {
    void* session;
    void (*see_files)(void* session);  // enables ClassFileLoadHook
  };
  // Sets the module; nullptr: ask() answers that there are no probes. Units may call ask() from now on.
  // [onload]
  void offer(const SessionParts* parts, const RewriterTable* table, const Help& help) {
    parts_ = parts, table_ = table, help_ = help;
  }
  // Rewrites no class in this session; users do not notice. [onload]
  void sit_out() { sits_out_ = true; }
  // Gives classes probes from VMInit on only, and none to users that add a field to java.lang.Thread: they
  // sit out. [onload]
  void come_late() { comes_late_ = true; }
  // *number: for the other functions; 0: a user without probes in a session that sits out.
  hprof_status ask(const char* unit, const hprof_probe_user* user, uint32_t* number);
  // Makes the engine, after all calls of ask(). As Rewriter::make_engine(). [onload]
  hprof_status begin();
  // True: classes get probes from the start of the VM on.
  bool is_asked() const { return kHasBytecode && count(HPROF_PROBES_ON_DEMAND, false) != 0; }
  // True: java.lang.Thread gets a field.
  bool adds_field() const;
  bool is_active() const { return kHasBytecode && active_.load(std::memory_order_acquire) != nullptr; }
  // True: classes are rewritten now, or may be at any time.
  bool may_rewrite() const { return kHasBytecode && count_ != 0; }
  // True: no class is changed for good; undo() takes out what probes there are.
  bool can_undo() const { return kHasBytecode && count(HPROF_PROBES_ATTACHED, false) == 0; }
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
  // Defines the classes with targets. Returns why the VM must not start, or nullptr.
  const char* on_vm_start(JNIEnv* jni);
  void on_vm_init(JNIEnv* jni);  // makes them ready; active only
  // True: no early hooks, so class files come from VMInit on: call count_passed(), enable the event, call
  // catch_up().
  bool is_late() const { return kHasBytecode && is_late_; }
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) { made_->count_passed(jvmti, jni); }
  void catch_up(jvmtiEnv* jvmti, JNIEnv* jni);
  hprof_status start(JNIEnv* jni, uint32_t number);
  void stop(JNIEnv* jni, uint32_t number);

  bool has_targets(Str class_name) const { return made_ != nullptr && made_->has_targets(class_name); }
  uint32_t frame(uint32_t method, bool entry) const;
  void totals(uint32_t number, hprof_probe_totals* totals) const;
  void each_left(uint32_t number, void* argument,
                 void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
    if (is_active() && is_user(number)) made_->each_left(position(number), argument, visit);
  }

 private:
  enum Demand : uint32_t { kNobody, kBegun, kMet, kRefused };
  uint32_t count(uint32_t flag, bool with) const;  // users with that flag, or without
  bool is_user(uint32_t number) const { return number != 0 && number <= count_; }
  uint32_t position(uint32_t number) const { return positions_[number - 1]; }
  hprof_status make_rewriter();
  hprof_status meet_demand(jvmtiEnv* jvmti, JNIEnv* jni, uint32_t number);

  const SessionParts* parts_ = nullptr;
  const RewriterTable* table_ = nullptr;
  Help help_ = {};
  Rewriter* made_ = nullptr;
  std::atomic<Rewriter*> active_{nullptr};  // made_, from when it may rewrite
  std::atomic<uint32_t> visits_{0};
  bool is_undone_ = false;
  bool is_late_ = false;
  bool sits_out_ = false;
  bool comes_late_ = false;
  ProbeUser users_[kMostProbeUsers] = {};  // in the order of ask()
  uint32_t count_ = 0;
  uint32_t positions_[kMostProbeUsers] = {};  // of each in the order of the units' ids, see RewriterUse
  std::atomic<uint32_t> demands_[kMostProbeUsers] = {};
  std::atomic<uint32_t> demand_{kNobody};  // for an engine, where all users are on demand
};

}  // namespace hprof
