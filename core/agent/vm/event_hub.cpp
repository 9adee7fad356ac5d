#include "core/agent/vm/event_hub.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "core/agent/session/control.h"
#include "core/agent/session/session.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/class_book.h"
#include "core/agent/vm/class_files.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/build.h"
#include "core/base/vm_order.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

constexpr int kFirstEvent = 50;               // JVMTI_MIN_EVENT_TYPE_VAL
constexpr int kCallbacks = 89 - kFirstEvent;  // up to VirtualThreadEnd (21+); older VMs ignore later ones

// The bit of an event -> JVMTI event number. Numbers rather than jvmti.h's names where older headers lack
// them.
struct Row {
  uint8_t event;
  char name[24];
};
constexpr Row kEvents[kEventCount] = {
    {JVMTI_EVENT_VM_INIT, "VMInit"},
    {JVMTI_EVENT_VM_DEATH, "VMDeath"},
    {JVMTI_EVENT_THREAD_START, "ThreadStart"},
    {JVMTI_EVENT_THREAD_END, "ThreadEnd"},
    {87, "VirtualThreadStart"},
    {88, "VirtualThreadEnd"},
    {JVMTI_EVENT_CLASS_PREPARE, "ClassPrepare"},
    {JVMTI_EVENT_GARBAGE_COLLECTION_START, "GarbageCollectionStart"},
    {JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, "GarbageCollectionFinish"},
    {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, "MonitorContendedEnter"},
    {JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, "MonitorContendedEntered"},
    {JVMTI_EVENT_MONITOR_WAIT, "MonitorWait"},
    {JVMTI_EVENT_MONITOR_WAITED, "MonitorWaited"},
    {JVMTI_EVENT_VM_OBJECT_ALLOC, "VMObjectAlloc"},
    {86, "SampledObjectAlloc"},
    {JVMTI_EVENT_CLASS_LOAD, "ClassLoad"},
    {0, "ClassUnload"},
    {JVMTI_EVENT_VM_START, "VMStart"},
    {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, "ClassFileLoadHook"},
};

// One for the process, and the environment whose events it follows: each collection counts once, from its
// begin to its end, whatever events other sessions have.
std::atomic<const CollectionHook*> collection_hook{nullptr};
std::atomic<jvmtiEnv*> hooked{nullptr};

bool is_hooked(jvmtiEnv* jvmti) { return hooked.load(std::memory_order_acquire) == jvmti; }

void call_hook(void (*CollectionHook::*function)()) {
  const CollectionHook* hook = collection_hook.load(std::memory_order_acquire);
  if (hook != nullptr) (hook->*function)();
}

// The session of a JVMTI environment; nullptr: the VM has none, and the event is dropped.
Session* session_of(jvmtiEnv* jvmti) {
  void* session = nullptr;
  jvmtiError error = jvmti->GetEnvironmentLocalStorage(&session);
  return error == JVMTI_ERROR_NONE ? from_vm(static_cast<Session*>(session)) : nullptr;
}

// Calls call(slot) for every running collector that requested `event` and has this handler. The
// collector does not stop meanwhile.
template <typename Member, typename Call>
void each_handler(Units& units, uint64_t event, Member hprof_handlers::*member, const Call& call) {
  for (uint32_t i = 0; i < units.collector_count(); i++) {
    CollectorSlot& slot = units.collector(i);
    if (slot.handlers.*member == nullptr || (slot.unit->events & event) == 0) continue;
    PhaseGate::Pass pass(slot.gate);
    if (pass) call(slot);
  }
}

template <typename Member, typename... Args>
void dispatch(Session* session, uint64_t event, Member hprof_handlers::*member, Args... args) {
  if (session == nullptr) return;
  each_handler(session->parts().units, event, member, [&](CollectorSlot& slot) {
    const HandlerCall call(slot, event);
    (slot.handlers.*member)(slot.self, args...);
  });
}

// As dispatch, on the control thread, whose units can be abandoned.
template <typename Member, typename... Args>
void dispatch_inside(Units& units, uint64_t event, const char* function, Member hprof_handlers::*member,
                     Args... args) {
  each_handler(units, event, member, [&](CollectorSlot& slot) {
    Inside mark(slot.inside, function, tag::kControl);
    (slot.handlers.*member)(slot.self, args...);
  });
}

// Calls call(body, slot, thread) as each_handler does, unless the thread is one of the agent's.
void each_on_thread(Session* session, uint64_t event, JNIEnv* jni, jthread thread,
                    void (*call)(const void* body, CollectorSlot& slot, hprof_thread* thread),
                    const void* body) {
  if (session == nullptr) return;
  const SessionParts& parts = session->parts();
  PhaseGate::Pass session_pass(parts.gate);
  if (!session_pass) return;
  ThreadRecord* record = parts.threads.current(jni, thread);
  if (record == nullptr || record->is_agent()) return;
  Units& units = parts.units;
  for (uint32_t i = 0; i < units.collector_count(); i++) {
    CollectorSlot& slot = units.collector(i);
    if ((slot.unit->events & event) == 0) continue;
    PhaseGate::Pass pass(slot.gate);
    if (!pass) continue;
    const HandlerCall in(slot, event);
    call(body, slot, &record->views[i]);
  }
}

// As dispatch, for handlers with a thread argument.
template <auto kMember, typename... Args>
void dispatch_on_thread(Session* session, uint64_t event, JNIEnv* jni, jthread thread, Args... args) {
  const auto body = [&](CollectorSlot& slot, hprof_thread* view) {
    if (const auto handler = slot.handlers.*kMember) handler(slot.self, jni, view, args...);
  };
  each_on_thread(
      session, event, jni, thread,
      [](const void* self, CollectorSlot& slot, hprof_thread* view) {
        (*static_cast<decltype(&body)>(self))(slot, view);
      },
      &body);
}

// Defines the classes with targets. Rewritten classes call them from here on, and the VM cannot start without
// them, so a failed look-up is retried.
void JNICALL on_vm_start(jvmtiEnv* jvmti, JNIEnv* jni) {
  Session* session = nullptr;
  for (int tries = 0; session == nullptr && tries < 3; tries++) session = session_of(jvmti);
  if (session != nullptr) session->on_vm_start(jni);
}

// This callback passes no gate: the session exists before the first class is loaded, and is never freed.
void JNICALL on_class_file(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                           jobject domain, jint size, const unsigned char* bytes, jint* new_size,
                           unsigned char** new_bytes) {
  Session* session = session_of(jvmti);
  if (session == nullptr) return;
  if (redefined != nullptr) session->parts().classes.begin_redefinition();
  const LoadedFile file = {jni, redefined, loader, name, domain, static_cast<uint32_t>(size), bytes};
  session->load_class_file(file, new_bytes, new_size);
}

void JNICALL on_vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  Session* session = session_of(jvmti);
  if (session == nullptr) return;
  session->on_vm_init(jni, thread);
  dispatch_on_thread<&hprof_handlers::vm_init>(session, HPROF_EVENT_VM_INIT, jni, thread);
}

// After this event the VM may collect without events.
void JNICALL on_vm_death(jvmtiEnv* jvmti, JNIEnv* jni) {
  call_hook(&CollectionHook::is_unreported);
  if (Session* session = session_of(jvmti)) session->on_vm_death(jni);
}

void JNICALL on_data_dump_request(jvmtiEnv* jvmti) {
  if (Session* session = session_of(jvmti)) session->parts().control.request(HPROF_REPORT_REQUEST);
}

void thread_starts(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, uint64_t event, uint32_t flags) {
  Session* session = session_of(jvmti);
  if (session == nullptr) return;
  PhaseGate::Pass pass(session->parts().gate);
  if (!pass) return;
  session->parts().threads.started(jni, thread, flags);
  dispatch_on_thread<&hprof_handlers::thread_start>(session, event, jni, thread);
}

void thread_ends(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, uint64_t event) {
  Session* session = session_of(jvmti);
  if (session == nullptr) return;
  PhaseGate::Pass pass(session->parts().gate);
  if (!pass) return;
  dispatch_on_thread<&hprof_handlers::thread_end>(session, event, jni, thread);
  session->parts().threads.ended(jni, thread);
}

void JNICALL on_thread_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  thread_starts(jvmti, jni, thread, HPROF_EVENT_THREAD_START, 0);
}

void JNICALL on_thread_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  thread_ends(jvmti, jni, thread, HPROF_EVENT_THREAD_END);
}

void JNICALL on_virtual_thread_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  thread_starts(jvmti, jni, thread, HPROF_EVENT_VIRTUAL_THREAD_START, HPROF_THREAD_VIRTUAL);
}

// Most virtual threads have no record when they end; none is made for them then.
void JNICALL on_virtual_thread_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  Session* session = session_of(jvmti);
  if (session == nullptr || session->parts().threads.find(thread) == nullptr) return;
  thread_ends(jvmti, jni, thread, HPROF_EVENT_VIRTUAL_THREAD_END);
}

// An argument of JVMTI as the type that handlers take.
void* handed(jobject object) { return object; }
int64_t handed(jlong number) { return number; }
uint32_t handed(jboolean is_true) { return is_true != JNI_FALSE ? 1 : 0; }

// The callback of an event that has nothing but handlers.
template <uint64_t kEvent, auto kMember, typename... Args>
void JNICALL on_event(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, Args... args) {
  dispatch_on_thread<kMember>(session_of(jvmti), kEvent, jni, thread, handed(args)...);
}

void JNICALL on_class_prepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass prepared) {
  Session* session = session_of(jvmti);
  if (session == nullptr) return;
  PhaseGate::Pass pass(session->parts().gate);
  if (!pass) return;
  session->parts().classes.prepared(jni, prepared);
  dispatch_on_thread<&hprof_handlers::class_prepare>(session, HPROF_EVENT_CLASS_PREPARE, jni, thread,
                                                     handed(prepared));
}

// The hook comes first, and even without a session, since objects are about to move.
void JNICALL on_gc_start(jvmtiEnv* jvmti) {
  if (is_hooked(jvmti)) call_hook(&CollectionHook::begins);
  dispatch(session_of(jvmti), HPROF_EVENT_GC_START, &hprof_handlers::gc_start);
}

void JNICALL on_gc_finish(jvmtiEnv* jvmti) {
  if (is_hooked(jvmti)) call_hook(&CollectionHook::ends);
  Session* session = session_of(jvmti);
  if (session != nullptr) session->parts().classes.count_collection();
  dispatch(session, HPROF_EVENT_GC_FINISH, &hprof_handlers::gc_finish);
}

template <typename Function>
void set(void** table, int event, Function function) {
  table[event - kFirstEvent] = reinterpret_cast<void*>(function);
}

}  // namespace

bool EventHub::attach_to(jvmtiEnv* jvmti, Session* session) {
  to_vm(session);
  if (jvmti->SetEnvironmentLocalStorage(session) != JVMTI_ERROR_NONE) return false;
  // jvmtiEventCallbacks: one function pointer per event number, in order.
  void* table[kCallbacks] = {};
  if (kHasBytecode) {
    set(table, JVMTI_EVENT_VM_START, on_vm_start);
    set(table, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, on_class_file);
  }
  set(table, JVMTI_EVENT_VM_INIT, on_vm_init);
  set(table, JVMTI_EVENT_VM_DEATH, on_vm_death);
  set(table, JVMTI_EVENT_DATA_DUMP_REQUEST, on_data_dump_request);
  set(table, JVMTI_EVENT_THREAD_START, on_thread_start);
  set(table, JVMTI_EVENT_THREAD_END, on_thread_end);
  set(table, 87, on_virtual_thread_start);
  set(table, 88, on_virtual_thread_end);
  set(table, JVMTI_EVENT_CLASS_LOAD, on_event<HPROF_EVENT_CLASS_LOAD, &hprof_handlers::class_load, jclass>);
  set(table, JVMTI_EVENT_CLASS_PREPARE, on_class_prepare);
  set(table, JVMTI_EVENT_GARBAGE_COLLECTION_START, on_gc_start);
  set(table, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, on_gc_finish);
  set(table, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
      on_event<HPROF_EVENT_MONITOR_CONTENDED_ENTER, &hprof_handlers::monitor_contended_enter, jobject>);
  set(table, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
      on_event<HPROF_EVENT_MONITOR_CONTENDED_ENTERED, &hprof_handlers::monitor_contended_entered, jobject>);
  set(table, JVMTI_EVENT_MONITOR_WAIT,
      on_event<HPROF_EVENT_MONITOR_WAIT, &hprof_handlers::monitor_wait, jobject, jlong>);
  set(table, JVMTI_EVENT_MONITOR_WAITED,
      on_event<HPROF_EVENT_MONITOR_WAITED, &hprof_handlers::monitor_waited, jobject, jboolean>);
  set(table, JVMTI_EVENT_VM_OBJECT_ALLOC,
      on_event<HPROF_EVENT_VM_OBJECT_ALLOC, &hprof_handlers::vm_object_alloc, jobject, jclass, jlong>);
  set(table, 86,
      on_event<HPROF_EVENT_SAMPLED_OBJECT_ALLOC, &hprof_handlers::sampled_object_alloc, jobject, jclass,
               jlong>);
  if (jvmti->SetEventCallbacks(reinterpret_cast<jvmtiEventCallbacks*>(table), sizeof(table)) !=
      JVMTI_ERROR_NONE) {
    return false;
  }
  for (jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_DATA_DUMP_REQUEST}) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) return false;
  }
  return true;
}

void EventHub::detach_from(jvmtiEnv* jvmti) {
  uint64_t failed = 0;
  enable(jvmti, 0, &failed);
  for (jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_DATA_DUMP_REQUEST}) {
    jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  }
  jvmti->SetEventCallbacks(nullptr, 0);
}

void EventHub::hook_collections(jvmtiEnv* jvmti, const CollectionHook* hook) {
  if (hook == nullptr || is_hooked(jvmti)) return;
  call_hook(&CollectionHook::is_unreported);  // until this environment reports them
  collection_hook.store(hook, std::memory_order_release);
  hooked.store(jvmti, std::memory_order_release);
}

uint64_t EventHub::enable(jvmtiEnv* jvmti, uint64_t events, uint64_t* failed) {
  constexpr uint64_t kAlways = HPROF_EVENT_VM_INIT | HPROF_EVENT_VM_DEATH | HPROF_EVENT_CLASS_UNLOAD;
  uint64_t refused = 0;
  if (is_hooked(jvmti) && (events & HPROF_EVENT_GC_START) == 0) call_hook(&CollectionHook::is_unreported);
  for (uint32_t bit = 0; bit < kEventCount; bit++) {
    uint64_t mask = 1ull << bit;
    if ((mask & kAlways) != 0 || ((enabled_ ^ events) & mask) == 0) continue;
    jvmtiEventMode mode = (events & mask) != 0 ? JVMTI_ENABLE : JVMTI_DISABLE;
    jvmtiError error =
        jvmti->SetEventNotificationMode(mode, static_cast<jvmtiEvent>(kEvents[bit].event), nullptr);
    if (error == JVMTI_ERROR_NONE) {
      enabled_ ^= mask;
    } else if (mode == JVMTI_ENABLE) {
      refused |= mask;
      if (error != JVMTI_ERROR_MUST_POSSESS_CAPABILITY && error != JVMTI_ERROR_INVALID_EVENT_TYPE)
        *failed |= mask;
    }
  }
  return refused;
}

void dispatch_class_unload(Units& units, uint32_t serial) {
  dispatch_inside(units, HPROF_EVENT_CLASS_UNLOAD, "class_unload", &hprof_handlers::class_unload, serial);
}

void dispatch_vm_death(Units& units, JNIEnv* jni) {
  dispatch_inside(units, HPROF_EVENT_VM_DEATH, "vm_death", &hprof_handlers::vm_death,
                  static_cast<void*>(jni));
}

const char* event_name(uint32_t bit) { return bit < kEventCount ? kEvents[bit].name : "?"; }

}  // namespace hprof
