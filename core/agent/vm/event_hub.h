// The agent's JVMTI callbacks: they find the session and the thread, pass the collector's gate and call its
// handler. Events that no running collector wants are disabled.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/plugin.h>

namespace hprof {

class Session;
class Units;
struct CollectionHook;

// Events that no unit can request, as bits behind HPROF_EVENT_*.
constexpr uint64_t kEventVmStart = 1ull << HPROF_EVENT_COUNT;
constexpr uint64_t kEventClassFileLoad = 1ull << (HPROF_EVENT_COUNT + 1);
constexpr uint32_t kEventCount = HPROF_EVENT_COUNT + 2;

class EventHub {
 public:
  // Stores `session` in the environment, sets the callbacks and enables the core's own events (VMInit,
  // VMDeath, data dump requests). [onload]
  bool attach_to(jvmtiEnv* jvmti, Session* session);
  // Undoes attach_to: no new event comes; running callbacks find closed gates. [control]
  void detach_from(jvmtiEnv* jvmti);
  // Calls `hook` at each collection that this environment reports from now on; nullptr: no change. [control]
  static void hook_collections(jvmtiEnv* jvmti, const CollectionHook* hook);
  // Enables exactly the events of `events` (HPROF_EVENT_*), besides the core's own. Returns the events that
  // the VM refused; *failed: those of them that it supports and whose capability it has granted. [control]
  uint64_t enable(jvmtiEnv* jvmti, uint64_t events, uint64_t* failed);

 private:
  uint64_t enabled_ = 0;
};

// Calls the handlers of an event that the control thread reports: JVMTI has none for unloaded classes, and
// the callback of VMDeath only waits for the control thread. [control]
void dispatch_class_unload(Units& units, uint32_t serial);
void dispatch_vm_death(Units& units, JNIEnv* jni);

// "ThreadStart" for the bit of an event, for messages.
const char* event_name(uint32_t bit);

}  // namespace hprof
