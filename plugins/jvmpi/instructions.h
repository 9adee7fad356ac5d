// INSTRUCTION_START, by JVMTI's single steps: the VM interprets all code meanwhile.
//
// A conditional jump or a switch is reported at the thread's next step, which tells where it went; such an
// instruction calls nothing and throws nothing.
#pragma once

#include "threads.h"

namespace hprof::jvmpi {

class Instructions {
 public:
  Instructions(const Vm& vm, Notifier* notifier, Classes* classes)
      : vm_(vm), notifier_(*notifier), classes_(*classes) {}

  bool open() { return codes_.open(vm_.services, kFirst, kMost); }  // [onload]
  void close() { codes_.close(); }
  // The thread is about to execute the instruction. [app]
  void step(JNIEnv* jni, ThreadEntry* self, jmethodID method, jlocation location);
  // Forgets the code of an unloaded class's methods, whose ids may come back.
  void forget(const ClassInfo& of);

 private:
  static constexpr uint64_t kFirst = 1u << 12, kMost = 1u << 22;
  // The bytes of a method.
  struct Code {
    jint size;
    unsigned char bytes[1];
  };
  using Slot = std::atomic<Code*>;

  const Code* code(jmethodID method);
  // Fills in where a jump or switch went.
  static void decide(const Code& code, jint at, jint to, JVMPI_Event* event);

  const Vm& vm_;
  Notifier& notifier_;
  Classes& classes_;
  HashTable<Slot, Growth::kLevels> codes_;  // by jmethodID
};

}  // namespace hprof::jvmpi
