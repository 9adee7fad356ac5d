// The module `bytecode` as the core uses it: it rewrites loaded classes and defines the classes with the
// units' targets. The core opens it for units with class hooks.
//
// A class that the engine refuses is loaded unchanged; the VM never sees an error. Class files from another
// agent's retransformation are rewritten again, and their methods keep their numbers.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/host.h>
#include <hprof/service/probes.h>

#include "core/base/memory_account.h"
#include "core/base/message.h"
#include "core/base/text.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr const char* kRewriterModule = "bytecode";
constexpr uint32_t kRewriterVersion = 10;

constexpr uint32_t kMostProbeUsers = 16;

// What a unit has asked for.
struct ProbeUser {
  hprof_probe_user asked;
  const char* unit;

  bool has(uint32_t flag) const { return (asked.flags & flag) != 0; }
};

// The core's functions for a rewriter; `core` is their first argument. [app], from before VMStart on
struct RewriterUse {
  void* core;
  MemoryAccount* memory;
  const hprof_settings* settings;
  const ProbeUser* users;  // in the order in which they are called
  uint32_t user_count;
  uint32_t most_methods;
  // The class of a signature; *has_source: its source file is known. 0: no memory.
  uint32_t (*class_serial)(void* core, Str signature, uint32_t loader, bool* has_source);
  void (*set_source)(void* core, uint32_t class_serial, Str source);
  uint32_t (*method)(void* core, uint32_t class_serial, Str name, Str descriptor);  // 0: no memory
  bool (*is_generated)(void* core, Str signature);  // by the VM, which shares numbers by stable names
  void (*hide_field)(void* core, JNIEnv* jni, jclass owner, const char* field);
  Messages messages;
};

// `user`: its position among RewriterUse::users.
class Rewriter {
 public:
  // Makes the engine and the classes with targets, or answers HPROF_NO_MEMORY. [onload] [app]
  virtual hprof_status make_engine() = 0;
  // From now on classes get the probes of that user. [onload] [app]
  virtual void arm(uint32_t user) = 0;
  // Rewrites a class file. loader: of the LoaderBook. [app], from before VMStart on
  virtual void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes,
                          jint* new_size, unsigned char** new_bytes) = 0;
  // Defines the classes with targets in java.lang of the boot loader, which classes of every loader can
  // reach.
  virtual bool define_classes(JNIEnv* jni) = 0;
  // From VMInit on: finds their fields, registers their native methods, and primes them. Says what fails.
  virtual bool prepare_classes(JNIEnv* jni) = 0;
  virtual bool has_targets(Str class_name) const = 0;  // [any]
  // Counts the classes that were loaded before class files were seen.
  virtual void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Retransforms java.lang.Object, whose constructor all others call, also those of archived classes. Other
  // loaded classes are not changed. False: the VM refuses.
  virtual bool catch_up(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Retransforms the loaded classes that the user's patterns include. False: no memory.
  virtual bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni, uint32_t user) = 0;
  // Takes the probes out of the loaded classes again, when class_file() is called no more. Calls that run end
  // in the units' functions.
  virtual void undo(jvmtiEnv* jvmti, JNIEnv* jni) = 0;
  // Frees it, after undo(), when class_file() is called no more.
  virtual void destroy() = 0;
  virtual hprof_status set_live(JNIEnv* jni, uint32_t user, bool on) = 0;
  virtual uint32_t first_line(uint32_t method) const = 0;  // 0: not known
  virtual void totals(uint32_t user, hprof_probe_totals* totals) const = 0;
  virtual void each_left(uint32_t user, void* argument,
                         void (*visit)(void*, const char*, uint64_t, uint64_t)) const = 0;
};

struct RewriterTable {
  CoreTable head;
  // True: it may have probes. Else `why` gets a line that names the member, or the method, and the rule.
  // [onload]
  bool (*check)(const hprof_probe_user* user, const Memory& memory, TextWriter* why);
  Rewriter* (*make)(const RewriterUse& use);  // nullptr: no memory. Never freed, but by destroy().
};

}  // namespace hprof
