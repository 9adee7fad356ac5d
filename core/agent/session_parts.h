// The members of a session that services and its own parts may use without knowing the session. Include the
// header of each one that you use.
#pragma once

#include <jvmti.h>

#include <hprof/host.h>

#include "core/base/message.h"

namespace hprof {

class ClassBook;
class ClassFiles;
class ClassRewriter;
class Control;
class HotSpot;
class MemoryAccount;
class Model;
class RecordKinds;
class ThreadBook;

// Lives as long as the session, like everything it points to, except jvmti, which is valid from load() until
// the session is detached.
struct SessionParts {
  const hprof_settings& settings;
  Messages messages;  // [any] but [signal]
  MemoryAccount& memory;
  Model& model;
  HotSpot& hotspot;
  ThreadBook& threads;
  ClassBook& classes;
  ClassRewriter& rewriter;
  ClassFiles& class_files;
  RecordKinds& kinds;
  Control& control;
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;

  JNIEnv* jni() const;  // of the calling thread; nullptr: the VM does not know it
  void* vm_symbol(const char* name) const;
};

}  // namespace hprof
