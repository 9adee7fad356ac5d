// Translates JVMTI's events into JVMPI's.
#include "bridge.h"
#include "lines.h"
#include "sleeps.h"

namespace hprof::jvmpi {

// True: an event of these is to be sent; its thread has been reported.
bool Bridge::sends_any(JNIEnv* jni, std::initializer_list<jint> types) {
  if (!is_live() || !notifier.is_any_on(types)) return false;
  threads.tell_current(jni);
  return true;
}

void Bridge::method(JNIEnv* jni, jmethodID method, bool entry) {
  if (!is_live()) return;
  threads.tell_current(jni);
  objects.tell_class_of(jni, method);
  JVMPI_Event event = {};
  event.u.method.method_id = method;
  if (!entry) return notifier.send_if_on(&event, JVMPI_EVENT_METHOD_EXIT, jni);
  notifier.send_if_on(&event, JVMPI_EVENT_METHOD_ENTRY, jni);
  if (notifier.is_on(JVMPI_EVENT_METHOD_ENTRY2)) method_of_receiver(jni, method, 0);
}

void Bridge::step(JNIEnv* jni, jmethodID method, jlocation location) {
  if (!sends(jni, JVMPI_EVENT_INSTRUCTION_START)) return;
  objects.tell_class_of(jni, method);
  instructions.step(jni, threads.current(jni), method, location);
}

void Bridge::method_of_receiver(JNIEnv* jni, jmethodID method, jint depth) {
  // On JDK 8 local 0 of a static method is its first argument, not a receiver.
  constexpr jint kAccStatic = 0x0008;
  jobject receiver = nullptr;
  jint modifiers = 0;
  if (depth < 0 || vm.jvmti->GetMethodModifiers(method, &modifiers) != JVMTI_ERROR_NONE ||
      (modifiers & kAccStatic) != 0 ||
      vm.jvmti->GetLocalInstance(nullptr, depth, &receiver) != JVMTI_ERROR_NONE)
    receiver = nullptr;
  JVMPI_Event event = {};
  event.u.method_entry2 = {method, objects.id(jni, receiver)};
  notifier.send(&event, JVMPI_EVENT_METHOD_ENTRY2, jni);
  if (receiver != nullptr) jni->DeleteLocalRef(receiver);
}

// CONTENDED_EXIT is sent when the next thread has entered, with the owner at the time when that thread came,
// or when that owner ends; with the entering thread, if the owner is not known.
void Bridge::monitor(JNIEnv* jni, jobject object, bool entered) {
  if (!is_live()) return;
  threads.tell_current(jni);
  ThreadEntry* self = threads.current(jni);
  JVMPI_Event event = {};
  event.u.monitor.object = objects.id(jni, object);
  if (entered) {
    if (self != nullptr && self->left_by.exchange(nullptr, std::memory_order_acq_rel) != nullptr) {
      JNIEnv* owner = self->contends.load(std::memory_order_relaxed);
      const ThreadEntry* left = threads.entry(owner, false);
      const bool lives = left != nullptr && left->object.load(std::memory_order_acquire) != nullptr;
      notifier.send_if_on(&event, JVMPI_EVENT_MONITOR_CONTENDED_EXIT, lives ? owner : jni);
    }
    return notifier.send_if_on(&event, JVMPI_EVENT_MONITOR_CONTENDED_ENTERED, jni);
  }
  if (self != nullptr && notifier.is_on(JVMPI_EVENT_MONITOR_CONTENDED_EXIT)) {
    jvmtiMonitorUsage usage = {};
    if (vm.can.can_get_monitor_info == 0 ||
        vm.jvmti->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE)
      usage = {};
    self->contends.store(threads.env_of(jni, usage.owner), std::memory_order_relaxed);
    self->left_by.store(event.u.monitor.object, std::memory_order_release);
    give_back(vm, jni, usage);
  }
  notifier.send_if_on(&event, JVMPI_EVENT_MONITOR_CONTENDED_ENTER, jni);
}

void Bridge::wait(JNIEnv* jni, jobject object, jlong timeout_ms) {
  if (!sends_any(jni, {JVMPI_EVENT_MONITOR_WAIT, JVMPI_EVENT_MONITOR_WAITED})) return;
  ThreadEntry* self = threads.current(jni);
  jobjectID id = objects.id(jni, object);
  jlong now = 0;
  if (self != nullptr && vm.jvmti->GetTime(&now) == JVMTI_ERROR_NONE) {
    self->wait_began.store(now, std::memory_order_relaxed);
    self->waits_for.store(id, std::memory_order_relaxed);
    self->waits.store(true, std::memory_order_relaxed);
  }
  JVMPI_Event event = {};
  event.u.monitor_wait = {id, timeout_ms};
  notifier.send_if_on(&event, JVMPI_EVENT_MONITOR_WAIT, jni);
}

// The VM also reports ends of waits without a beginning, for another thread that initialises or loads a
// class, and until JDK 17 a beginning without an end, if the thread does not own the monitor.
void Bridge::waited(JNIEnv* jni, jobject object) {
  ThreadEntry* self = is_live() ? threads.entry(jni, false) : nullptr;
  if (self == nullptr || !self->waits.load(std::memory_order_relaxed)) return;
  jobjectID id = self->waits_for.load(std::memory_order_relaxed);
  jlong tag = 0;
  if (object != nullptr && vm.jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE) return;
  if (id_of_number(number_of_tag(tag)) != id) return;
  self->waits.store(false, std::memory_order_relaxed);
  if (!sends(jni, JVMPI_EVENT_MONITOR_WAITED)) return;
  constexpr jlong kNsPerMs = 1'000'000;
  const jlong began = self->wait_began.load(std::memory_order_relaxed);
  jlong now = 0;
  if (vm.jvmti->GetTime(&now) != JVMTI_ERROR_NONE) now = began;
  JVMPI_Event event = {};
  event.u.monitor_wait = {id, (now - began) / kNsPerMs};
  notifier.send(&event, JVMPI_EVENT_MONITOR_WAITED, jni);
}

namespace {

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  if (Bridge* b = bridge()) b->vm_init(jni);
}
void JNICALL on_vm_death(jvmtiEnv*, JNIEnv* jni) {
  if (Bridge* b = bridge()) b->vm_death(jni);
}
void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  Bridge* b = bridge();
  if (b == nullptr) return;
  b->threads.started(jni, thread);
  if (b->is_live()) b->threads.tell_current(jni);
}
void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread) {
  if (Bridge* b = bridge()) b->threads.ended(jni, false);
}
void JNICALL on_class_prepare(jvmtiEnv*, JNIEnv* jni, jthread, jclass cls) {
  Bridge* b = bridge();
  if (b == nullptr) return;
  b->ids.change_classes();
  if (!b->is_live()) return;
  b->threads.tell_current(jni);
  b->objects.tell_class(jni, cls);
}
void JNICALL on_class_file_load_hook(jvmtiEnv*, JNIEnv* jni, jclass redefined, jobject, const char* name,
                                     jobject, jint size, const unsigned char* bytes, jint* new_size,
                                     unsigned char** new_bytes) {
  Bridge* b = bridge();
  if (b != nullptr && redefined == nullptr) b->class_file(jni, name, size, bytes, new_size, new_bytes);
}
void JNICALL on_method_entry(jvmtiEnv*, JNIEnv* jni, jthread, jmethodID method) {
  Bridge* b = bridge();
  if (b != nullptr && !b->classes.is_hidden(method)) b->method(jni, method, true);
}
// From JDK 9 on the reference to the returned object belongs to the method's caller and must not be deleted.
void JNICALL on_method_exit(jvmtiEnv*, JNIEnv* jni, jthread, jmethodID method, jboolean by_exception,
                            jvalue result) {
  Bridge* b = bridge();
  if (b == nullptr) return;
  if (!b->classes.is_hidden(method)) b->method(jni, method, false);
  constexpr uint32_t kLeaks = 9;
  if (by_exception == JNI_FALSE && b->vm.services.settings().java_version >= kLeaks &&
      b->classes.returns_object(method) && result.l != nullptr)
    jni->DeleteLocalRef(result.l);
}
void JNICALL on_single_step(jvmtiEnv*, JNIEnv* jni, jthread, jmethodID method, jlocation location) {
  Bridge* b = bridge();
  if (b != nullptr && !b->classes.is_hidden(method)) b->step(jni, method, location);
}
void JNICALL on_object_alloc(jvmtiEnv*, JNIEnv* jni, jthread, jobject object, jclass cls, jlong size) {
  Bridge* b = bridge();
  if (b == nullptr || !b->is_live() || b->last_freed.is_marking(jni)) return;
  b->threads.tell_current(jni);
  b->objects.allocated(jni, object, cls, size);
}
void JNICALL on_object_free(jvmtiEnv*, jlong tag) {
  Bridge* b = bridge();
  if (b == nullptr) return;
  if ((tag & kClass) != 0) b->ids.change_classes();
  if (b->facts.forget(number_of_tag(tag))) tag |= kTold;
  b->collections.freed(tag);
}
void JNICALL on_garbage_collection_finish(jvmtiEnv*) {
  Bridge* b = bridge();
  if (b == nullptr) return;
  b->ids.change_classes();
  b->collections.collected();
}
void JNICALL on_monitor_contended_enter(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  Bridge* b = bridge();
  if (b != nullptr && !b->threads.is_virtual(jni, thread)) b->monitor(jni, object, false);
}
void JNICALL on_monitor_contended_entered(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  Bridge* b = bridge();
  if (b != nullptr && !b->threads.is_virtual(jni, thread)) b->monitor(jni, object, true);
}
void JNICALL on_monitor_wait(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jlong timeout) {
  Bridge* b = bridge();
  if (b != nullptr && !b->threads.is_virtual(jni, thread)) b->wait(jni, object, timeout);
}
void JNICALL on_monitor_waited(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jboolean) {
  Bridge* b = bridge();
  if (b != nullptr && !b->threads.is_virtual(jni, thread)) b->waited(jni, object);
}
void JNICALL on_compiled_method_load(jvmtiEnv*, jmethodID method, jint size, const void* code, jint map_size,
                                     const jvmtiAddrLocationMap* map, const void*) {
  if (Bridge* b = bridge()) b->compiled(method, size, code, map_size, map);
}
void JNICALL on_compiled_method_unload(jvmtiEnv*, jmethodID method, const void* code) {
  if (Bridge* b = bridge()) b->uncompiled(method, code);
}

}  // namespace

void set_callbacks(jvmtiEnv* jvmti) {
  jvmtiEventCallbacks to = {};
  to.VMInit = &on_vm_init;
  to.VMDeath = &on_vm_death;
  to.ThreadStart = &on_thread_start;
  to.ThreadEnd = &on_thread_end;
  to.ClassPrepare = &on_class_prepare;
  to.ClassFileLoadHook = &on_class_file_load_hook;
  to.MethodEntry = &on_method_entry;
  to.MethodExit = &on_method_exit;
  to.SingleStep = &on_single_step;
  // If the program's allocations come from probes, this event reports objects made by the VM itself.
  to.VMObjectAlloc = &on_object_alloc;
  to.SampledObjectAlloc = &on_object_alloc;
  to.ObjectFree = &on_object_free;
  to.GarbageCollectionFinish = &on_garbage_collection_finish;
  to.MonitorContendedEnter = &on_monitor_contended_enter;
  to.MonitorContendedEntered = &on_monitor_contended_entered;
  to.MonitorWait = &on_monitor_wait;
  to.NativeMethodBind = &on_native_method_bind;
  to.MonitorWaited = &on_monitor_waited;
  to.CompiledMethodLoad = &on_compiled_method_load;
  to.CompiledMethodUnload = &on_compiled_method_unload;
  jvmti->SetEventCallbacks(&to, sizeof(to));
}

}  // namespace hprof::jvmpi
