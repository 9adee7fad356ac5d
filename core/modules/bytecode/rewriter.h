// The module `bytecode` as the core uses it: it rewrites loaded classes and defines the tracker class. The
// core opens it for units with class hooks.
//
// A class that the engine refuses is loaded unchanged; the VM never sees an error. Class files from another
// agent's retransformation are rewritten again, and their methods keep their numbers.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/draft/bytecode.h>
#include <hprof/host.h>

#include "core/base/memory_account.h"
#include "core/base/text.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr const char* kRewriterModule = "bytecode";
constexpr uint32_t kRewriterVersion = 8;

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

// The probes that users can request, and the tracker's field that enables each.
struct ProbeSwitch {
  uint32_t probe;
  char field[12];  // no pointer, which would need a relocation
};
constexpr ProbeSwitch kProbeSwitches[] = {
    {HPROF_PROBE_METHODS, "live"}, {HPROF_PROBE_ALLOCATIONS, "sites"}, {kUserCaught, "catching"},
    {kUserMade, "making"},         {HPROF_PROBE_CALLS, "calling"},     {HPROF_PROBE_TIMED, "timing"},
};
constexpr uint32_t kProbeUsers = sizeof kProbeSwitches / sizeof kProbeSwitches[0];
// The position of a probe's user among RewriterUse::users.
constexpr uint32_t user_of(uint32_t probe) {
  uint32_t at = 0;
  while (kProbeSwitches[at].probe != probe) at++;
  return at;
}

// The core's functions for a rewriter; `core` is their first argument. [app], from before VMStart on
struct RewriterUse {
  void* core;
  MemoryAccount* memory;
  const hprof_settings* settings;
  const ProbeUser* users;  // kProbeUsers, in the order of the switches
  uint32_t most_methods;
  // The class of a signature; *has_source: its source file is known. 0: no memory.
  uint32_t (*class_serial)(void* core, Str signature, uint32_t loader, bool* has_source);
  void (*set_source)(void* core, uint32_t class_serial, Str source);
  uint32_t (*method)(void* core, uint32_t class_serial, Str name, Str descriptor);  // 0: no memory
  bool (*is_generated)(void* core, Str signature);  // by the VM, which shares numbers by stable names
  void (*hide_field)(void* core, JNIEnv* jni, jclass owner, const char* field);
};

class Rewriter {
 public:
  // Makes the engine with the probes that were asked for. False: no memory. [onload] [app]
  virtual bool make_engine(uint32_t asked) = 0;
  // Rewrites a class file. loader: of the LoaderBook. [app], from before VMStart on
  virtual void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes,
                          jint* new_size, unsigned char** new_bytes) = 0;
  // Defines the tracker in java.lang of the boot loader, which classes of every loader can reach.
  virtual bool define_tracker(JNIEnv* jni) = 0;
  // Finds its fields, and calls the native methods once while probes are off: the first call of each runs
  // Java code of the JDK, which has probes.
  virtual bool prepare_tracker(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Counts the classes that were loaded before class files were seen.
  virtual void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Retransforms java.lang.Object, whose constructor all others call, also those of archived classes. Other
  // loaded classes are not changed. False: the VM refuses.
  virtual bool catch_up(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Retransforms the loaded classes that the patterns include: of HPROF_PROBE_CALLS, or of HPROF_PROBE_TIMED.
  // False: no memory.
  virtual bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // With HPROF_PROBE_TIMED alone: takes the probes out of the loaded classes again, when class_file() is
  // called no more. Calls that run end in functions that do nothing.
  virtual void undo(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Frees it, after undo(), when class_file() is called no more.
  virtual void destroy() = 0;
  // Switches probes on or off. header_at: for HPROF_PROBE_ALLOCATIONS.
  virtual hprof_status set_flags(JNIEnv* jni, uint32_t probes, bool on, int64_t header_at) = 0;
  // The word of java.lang.Thread. store_state: also before prepare_tracker() is done.
  virtual uint64_t thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const = 0;
  virtual void set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const = 0;
  virtual void store_state(JNIEnv* jni, jobject thread, uint64_t state) const = 0;
  virtual uint32_t first_line(uint32_t method) const = 0;  // 0: not known
  virtual void totals(hprof_probe_totals* totals) const = 0;
  // timed: of HPROF_PROBE_TIMED, else of all other probes.
  virtual void each_left(bool timed, void* argument,
                         void (*visit)(void*, const char*, uint64_t, uint64_t)) const = 0;
};

struct RewriterTable {
  CoreTable head;
  Rewriter* (*make)(const RewriterUse& use);  // nullptr: no memory. Never freed, but by destroy().
};

}  // namespace hprof
