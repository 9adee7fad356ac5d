// The classes with the targets that probes call: those that units bring, and for units with native targets
// copies of java.lang.HprofBridge (core/modules/bytecode/java).
//
// Before VMInit only classes of java.base may be there: hprof.Binder, which registers their native methods,
// comes later. Until then no target is live.
#pragma once

#include "core/base/grow_buffer.h"
#include "core/modules/bytecode/engine/class_rename.h"
#include "core/modules/bytecode/engine/probe_set.h"
#include "core/modules/bytecode/rewriter.h"

namespace hprof {

class TargetClasses {
 public:
  explicit TargetClasses(const RewriterUse& use)
      : use_(use), budget_{use.memory->functions(), kMostBytes}, files_(budget_) {}

  // Makes the class files as this VM needs them, or answers HPROF_NO_MEMORY. [onload] [app]
  hprof_status make();
  // The points and targets of a user, for the engine.
  ProbesOfUser probes_of(uint32_t user) const;
  // True: a class with targets, of this agent or of another copy. [any]
  static bool has(Span name);
  // may_exist: an earlier session, which was detached, may have defined them. Else all have to be new.
  bool define(JNIEnv* jni, bool may_exist) const;
  // False: a user's class is not as it says, and set_live() fails for it; for all, if another agent has it.
  bool prepare(JNIEnv* jni, bool may_exist);
  bool set_live(JNIEnv* jni, uint32_t user, bool on);
  void forget(JNIEnv* jni);  // gives the references back

 private:
  static constexpr uint32_t kMostBytes = 1u << 20, kMostClasses = 64, kMostName = 80;
  struct File {
    const char* name;
    uint32_t begin, size;  // in files_
    const hprof_native* natives;
    uint32_t native_count;
  };
  struct OfUser {
    char bridge[kMostName];  // empty: the unit brings its own
    uint32_t first, end;     // of its classes
    bool is_bound;           // its native methods are registered
    jclass owner;            // a global reference
    jfieldID live;
  };

  bool add(const char* name, Span bytes, const Renaming* renamings, uint32_t renaming_count,
           const hprof_native* natives, uint32_t count);
  bool add_bridge(uint32_t user);
  Span bytes_of(const File& file) const { return {files_.data() + file.begin, file.size}; }
  static jclass define(JNIEnv* jni, const char* name, Span bytes, bool may_exist);
  bool is_free(JNIEnv* jni, uint32_t user) const;
  bool bind(JNIEnv* jni);
  static bool register_natives(JNIEnv* jni, const File& file);
  const char* prepare_user(JNIEnv* jni, uint32_t user);
  void say(const char* what, const char* name, const char* rest = "") const;
  bool set_bridge(JNIEnv* jni, const ProbeUser& user, jclass bridge) const;
  static void JNICALL bind_now(JNIEnv* jni, jclass);

  const RewriterUse& use_;
  MemoryBudget budget_;
  GrowBuffer files_;
  File classes_[kMostClasses] = {};
  uint32_t count_ = 0;
  OfUser users_[kMostProbeUsers] = {};
  hprof_native bridge_natives_[kMostProbeUsers][HPROF_POINTS] = {};
};

}  // namespace hprof
