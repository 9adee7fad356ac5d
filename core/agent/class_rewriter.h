// The bytecode service: rewrites loaded classes, defines the tracker class, and calls the users of probes.
//
// The engine rewrites (core/bytecode/engine.h). A class that it refuses is loaded unchanged; the VM never
// sees an error. Class files from another agent's retransformation are rewritten again, and their methods
// keep their numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/draft/bytecode.h>

#include "core/base/build.h"
#include "core/bytecode/engine.h"
#include "core/model/model.h"

namespace hprof {

struct SessionParts;

// A user of probes, whichever service it asked. Functions for probes that it did not ask for are null.
struct ProbeUser : hprof_probe_user {
  void (*made)(void* self, void* jni, void* exception);
  void (*caught)(void* self, void* jni, void* exception, hprof_method_id method);
  void (*new_object)(void* self, void* jni, void* object);  // where `allocated` is null
};
// Bits of ProbeUser::probes beside HPROF_PROBE_*.
constexpr uint32_t kUserCaught = 1u << 5;
constexpr uint32_t kUserMade = 1u << 6;
constexpr uint32_t kUserExceptions = kUserCaught | kUserMade;

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
  // Sets the engine; users may call ask() from now on. [onload]
  void offer(const SessionParts* parts, const EngineTable* engine, const Help& help) {
    parts_ = parts, table_ = engine, help_ = help;
  }
  // Rewrites no class in this session; users do not notice. [onload]
  void sit_out() { sits_out_ = true; }
  hprof_status ask(const ProbeUser& user);
  // Makes the engine, after all calls of ask(). False: no memory. [onload]
  bool begin();
  bool is_asked() const { return kHasBytecode && asked_ != 0; }
  // True: java.lang.Thread gets a field.
  bool adds_field() const { return kHasBytecode && (asked_ & HPROF_PROBE_METHODS) != 0; }
  bool is_active() const { return kHasBytecode && engine_.load(std::memory_order_acquire) != nullptr; }
  // True: classes are rewritten now, or may be at any time.
  bool may_rewrite() const { return is_active() || (kHasBytecode && on_demand_.probes != 0); }

  // Rewrites a class file. loader: of the LoaderBook. [app], from before VMStart on
  void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes, jint* new_size,
                  unsigned char** new_bytes);
  // Defines the tracker class. Returns why the VM must not start, or nullptr.
  const char* on_vm_start(JNIEnv* jni);
  void on_vm_init(JNIEnv* jni);  // makes it ready; active only
  // True: no early hooks, so class files come from VMInit on: call count_passed(), enable the event, call
  // catch_up().
  bool is_late() const { return kHasBytecode && is_late_; }
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni);
  void catch_up(jvmtiEnv* jvmti, JNIEnv* jni);
  hprof_status go(JNIEnv* jni, uint32_t probes);
  void halt(JNIEnv* jni, uint32_t probes) { set_flags(jni, probes, false); }
  void set_header_at(int64_t offset) { header_at_ = offset; }

  uint64_t thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const;
  void set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const;
  uint32_t frame(uint32_t method, bool entry) const;
  void totals(hprof_probe_totals* totals) const;
  void each_left(void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const;

  // Natives of the tracker. [app]
  jlong attach(JNIEnv* jni, jobject thread);
  jlong miss(jlong state, jlong node, jint method);
  void release(jlong state);
  void allocated(JNIEnv* jni, jobject object, jlong header);
  void caught(JNIEnv* jni, jobject exception, jint method);
  void made(JNIEnv* jni, jobject exception);

 private:
  enum Demand : uint32_t { kNobody, kBegun, kMet, kRefused };
  void add_user(const ProbeUser& user);
  Engine* make_engine();
  bool define_tracker(JNIEnv* jni, const Engine* engine);
  bool prepare_tracker(JNIEnv* jni);
  hprof_status meet_demand(jvmtiEnv* jvmti, JNIEnv* jni);
  bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni);
  hprof_status set_flags(JNIEnv* jni, uint32_t probes, bool on);
  ProbeUser& user_of(uint32_t probe);
  const ProbeUser& user_of(uint32_t probe) const;
  bool wants(uint32_t probe, Span class_name) const;
  bool find_fields(JNIEnv* jni, jclass tracker);
  static bool include_class(void* self, Span name, uint16_t access);
  static uint32_t include_method(void* self, const MethodSite& site, uint32_t probes);
  static int32_t method_id(void* self, const MethodSite& site);
  ClassSerial serial_of(const MethodSite& site);
  int32_t number(const MethodSite& site);
  bool is_generated(Span class_name) const;
  uint16_t* first_line(uint32_t method) const {
    return reinterpret_cast<uint16_t*>(first_lines_.base()) + method;
  }

  const SessionParts* parts_ = nullptr;
  const EngineTable* table_ = nullptr;
  Help help_ = {};
  std::atomic<Engine*> engine_{nullptr};
  uint32_t asked_ = 0;
  bool is_late_ = false;
  bool sits_out_ = false;
  uint64_t passed_ = 0;  // classes loaded before class files were seen
  ProbeUser on_demand_ = {};
  std::atomic<uint32_t> demand_{kNobody};
  static constexpr uint32_t kUsers = 5;  // in the order of kSwitches
  ProbeUser users_[kUsers] = {};
  Region first_lines_;        // by method id
  jclass tracker_ = nullptr;  // global references and ids, from VMInit on
  jfieldID thread_field_ = nullptr;
  jmethodID state_at_ = nullptr;
  jfieldID switches_[kUsers] = {};  // static boolean fields
  jfieldID header_at_field_ = nullptr;
  jfieldID carriers_field_ = nullptr;
  int64_t header_at_ = -1;
};

}  // namespace hprof
