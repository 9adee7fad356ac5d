// The only JVMTI callbacks of the agent: they find the session and the thread, pass the collector's gate and
// call its handler. Events that no running collector wants are switched off.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

class Session;

// Events that no unit can ask for, as bits beside HPROF_EVENT_*.
constexpr uint64_t kEventVmStart = 1ull << 0;
constexpr uint64_t kEventClassFileLoad = 1ull << 19;

class EventHub {
 public:
  // Makes `session` the environment's and sets the callbacks; enables what the core itself needs (VMInit,
  // VMDeath, data dump requests). [onload]
  bool attach_to(jvmtiEnv* jvmti, Session* session);
  // Ends that: no event comes any more but those that are on their way, and they find closed gates. [control]
  void detach_from(jvmtiEnv* jvmti);
  // Enables exactly the events of `events` (HPROF_EVENT_*), besides the core's own. Returns those the VM
  // refused; in *failed those of them that it has, and for which it has granted the capability. [control]
  uint64_t enable(jvmtiEnv* jvmti, uint64_t events, uint64_t* failed);

 private:
  uint64_t enabled_ = 0;
};

// What is no JVMTI callback, or not told inside of it, to the running collectors that asked for it. [control]
void tell_class_unload(Session* session, uint32_t serial);
void tell_vm_death(Session* session, JNIEnv* jni);

// "ThreadStart" of one HPROF_EVENT_* bit, for messages.
const char* event_name(uint32_t bit);

}  // namespace hprof
