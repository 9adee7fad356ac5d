// The functions that agents call.
#include <cstdlib>

#include <hprof/cpp/jni_exception.hpp>

#include "bridge.h"

namespace hprof::jvmpi {

namespace {

// Calls a member of a part of the bridge.
template <auto kPart, auto kMember, typename... Arguments>
void forward(Arguments... arguments) {
  if (Bridge* b = bridge()) (b->*kPart.*kMember)(arguments...);
}

jint enable_event(jint type, void*) {
  Bridge* b = bridge();
  return b != nullptr ? b->enable(type) : jint{JVMPI_FAIL};
}

jint disable_event(jint type, void*) {
  Bridge* b = bridge();
  return b != nullptr ? b->disable(type) : jint{JVMPI_FAIL};
}

jint request_event(jint type, void* argument) {
  Bridge* b = bridge();
  return b != nullptr ? b->request(type, argument) : jint{JVMPI_FAIL};
}

void get_call_trace(JVMPI_CallTrace* trace, jint depth) {
  trace->num_frames = 0;
  if (Bridge* b = bridge()) b->get_call_trace(trace, depth);
}

// No shutdown hooks run, as in VMs of that time: the agent's handler may hold locks that they need.
void profiler_exit(jint code) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr && b->is_live() ? b->vm.jni() : nullptr;
  if (b != nullptr) b->notifier.expect_exit();
  if (jni != nullptr) {
    jni->ExceptionClear();
    jclass cls = jni->FindClass("java/lang/Runtime");
    jmethodID get =
        cls != nullptr ? jni->GetStaticMethodID(cls, "getRuntime", "()Ljava/lang/Runtime;") : nullptr;
    jmethodID halt = get != nullptr ? jni->GetMethodID(cls, "halt", "(I)V") : nullptr;
    jobject runtime = halt != nullptr ? jni->CallStaticObjectMethod(cls, get) : nullptr;
    if (runtime != nullptr) jni->CallVoidMethod(runtime, halt, code);
  }
  exit(code);
}

JVMPI_RawMonitor raw_monitor_create(char* name) {
  Bridge* b = bridge();
  return b != nullptr ? b->monitors.create(name) : nullptr;
}

// JVMTI's function is refused in JVM_OnLoad.
jlong get_current_thread_cpu_time() {
  Bridge* b = bridge();
  const uint64_t ns = b != nullptr ? b->vm.services.clock->thread_cpu(b->vm.services.host, 0) : UINT64_MAX;
  return ns != UINT64_MAX ? static_cast<jlong>(ns) : 0;
}

// Results as JVMTI's: 0, 10 (no such thread), 14 (suspended already). Skips the calling thread.
jint suspend(Bridge* b, JNIEnv* env) {
  JNIEnv* jni = b->vm.jni();
  if (jni == nullptr || b->vm.suspender == nullptr) return JVMTI_ERROR_NOT_AVAILABLE;
  if (env == jni) return JVMTI_ERROR_NONE;
  Local<jthread> thread(jni, b->threads.object(jni, env));
  if (thread == nullptr) return JVMTI_ERROR_INVALID_THREAD;
  const jint result = b->vm.suspender->SuspendThread(thread);
  ThreadEntry* entry = b->threads.entry(env, false);
  jlong ns = 0;
  if (result == JVMTI_ERROR_NONE && entry != nullptr) {
    jthread kept = static_cast<jthread>(b->vm.new_global(jni, thread));
    jthread old = entry->suspended.exchange(kept, std::memory_order_acq_rel);
    if (old != nullptr) b->vm.delete_global(jni, old);
  }
  if (result == JVMTI_ERROR_NONE && entry != nullptr &&
      b->vm.jvmti->GetThreadCpuTime(thread, &ns) == JVMTI_ERROR_NONE) {
    entry->has_run.store(entry->cpu_ns.exchange(ns, std::memory_order_relaxed) != ns,
                         std::memory_order_relaxed);
  }
  return result;
}

jint resume(Bridge* b, JNIEnv* env) {
  JNIEnv* jni = b->vm.jni();
  if (jni == nullptr || b->vm.suspender == nullptr) return JVMTI_ERROR_NOT_AVAILABLE;
  if (env == jni) return JVMTI_ERROR_NONE;
  ThreadEntry* entry = b->threads.entry(env, false);
  jthread kept = entry != nullptr ? entry->suspended.exchange(nullptr, std::memory_order_acq_rel) : nullptr;
  if (kept != nullptr) {
    const jint result = b->vm.suspender->ResumeThread(kept);
    b->vm.delete_global(jni, kept);
    if (result == JVMTI_ERROR_NONE) return result;
  }
  Local<jthread> thread(jni, b->threads.object(jni, env));
  return thread != nullptr ? b->vm.suspender->ResumeThread(thread) : JVMTI_ERROR_INVALID_THREAD;
}

void suspend_thread(JNIEnv* env) {
  if (Bridge* b = bridge()) suspend(b, env);
}
void resume_thread(JNIEnv* env) {
  if (Bridge* b = bridge()) resume(b, env);
}

template <jint (*kDo)(Bridge*, JNIEnv*)>
void each_thread(jint count, JNIEnv** threads, jint* results) {
  Bridge* b = bridge();
  for (jint i = 0; i < count; i++) {
    const jint result = b != nullptr ? kDo(b, threads[i]) : jint{JVMTI_ERROR_NOT_AVAILABLE};
    if (results != nullptr) results[i] = result;
  }
}

jint get_thread_status(JNIEnv* env) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr ? b->vm.jni() : nullptr;
  return jni != nullptr ? b->threads.status(jni, env) : jint{JVMPI_THREAD_RUNNABLE};
}

jboolean thread_has_run(JNIEnv* env) {
  Bridge* b = bridge();
  ThreadEntry* entry = b != nullptr ? b->threads.entry(env, false) : nullptr;
  return entry == nullptr || entry->has_run.load(std::memory_order_relaxed) ? JNI_TRUE : JNI_FALSE;
}

struct Body {
  const Vm* vm;
  void (*run)(void*);
};

void JNICALL run_body(jvmtiEnv*, JNIEnv*, void* argument) {
  auto* body = static_cast<Body*>(argument);
  auto* function = body->run;
  body->vm->services.release(body, 1);
  function(nullptr);
}

jobject make_thread(const Vm& vm, JNIEnv* jni, const char* name) {
  FromVm<jthreadGroup> groups(vm);
  jint count = 0;
  if (vm.jvmti->GetTopThreadGroups(&count, &groups) != JVMTI_ERROR_NONE || count == 0) return nullptr;
  jobject thread = nullptr;
  Local<jclass> cls(jni, jni->FindClass("java/lang/Thread"));
  jmethodID make = cls != nullptr
                       ? jni->GetMethodID(cls, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V")
                       : nullptr;
  Local<jstring> text(jni, make != nullptr ? jni->NewStringUTF(name != nullptr ? name : "") : nullptr);
  jvalue arguments[2];
  arguments[0].l = groups[0];
  arguments[1].l = text;
  if (text != nullptr) thread = jni->NewObjectA(cls, make, arguments);
  for (jint i = 0; i < count; i++) jni->DeleteLocalRef(groups[i]);
  clear_exception(jni);
  return thread;
}

// Starts a daemon thread in the top thread group that runs body(NULL). False: the VM starts none.
bool start_system_thread(const Vm& vm, JNIEnv* jni, const char* name, jint priority, void (*body)(void*)) {
  Local<jobject> thread(jni, make_thread(vm, jni, name));
  auto* argument = thread != nullptr ? vm.services.allocate<Body>(1) : nullptr;
  if (argument == nullptr) return false;
  *argument = {&vm, body};
  if (priority < JVMPI_MINIMUM_PRIORITY) priority = JVMPI_MINIMUM_PRIORITY;
  if (priority > JVMPI_MAXIMUM_PRIORITY) priority = JVMPI_MAXIMUM_PRIORITY;
  if (vm.jvmti->RunAgentThread(thread, &run_body, argument, priority) == JVMTI_ERROR_NONE) return true;
  vm.services.release(argument, 1);
  return false;
}

jint create_system_thread(char* name, jint priority, void (*body)(void*)) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr && b->is_live() ? b->vm.jni() : nullptr;
  return jni != nullptr && start_system_thread(b->vm, jni, name, priority, body) ? JNI_OK : JNI_ERR;
}

void set_thread_local_storage(JNIEnv* env, void* value) {
  Bridge* b = bridge();
  ThreadEntry* entry = b != nullptr ? b->threads.entry(env, true) : nullptr;
  if (entry != nullptr) entry->local.store(value, std::memory_order_relaxed);
}

void* get_thread_local_storage(JNIEnv* env) {
  Bridge* b = bridge();
  const ThreadEntry* entry = b != nullptr ? b->threads.entry(env, false) : nullptr;
  return entry != nullptr ? entry->local.load(std::memory_order_relaxed) : nullptr;
}

void disable_gc() {
  Bridge* b = bridge();
  if (b == nullptr) return;
  b->objects.pins.hold();
  b->collections.hold();
}

void enable_gc() {
  Bridge* b = bridge();
  if (b == nullptr) return;
  b->collections.release();
  b->objects.pins.release();
}

void run_gc() {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr && b->is_live() ? b->vm.jni() : nullptr;
  if (jni != nullptr) b->collections.run_gc(jni);
}

jobjectID get_thread_object(JNIEnv* env) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr ? b->vm.jni() : nullptr;
  if (jni == nullptr) return nullptr;
  Local<jthread> thread(jni, b->threads.object(jni, env));
  return b->objects.id(jni, thread);
}

jobjectID get_method_class(jmethodID method) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr ? b->vm.jni() : nullptr;
  return jni != nullptr ? b->classes.class_of(jni, method) : nullptr;
}

jobject object_of_id(jobjectID id) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr ? b->vm.jni() : nullptr;
  if (jni == nullptr || id == nullptr) return nullptr;
  b->check_id(id);
  return b->objects.find(jni, id);
}

jobjectID id_of_object(jobject object) {
  Bridge* b = bridge();
  JNIEnv* jni = b != nullptr ? b->vm.jni() : nullptr;
  return jni != nullptr ? b->objects.id(jni, object) : nullptr;
}

}  // namespace

void fill_in(JVMPI_Interface* to) {
  *to = {JVMPI_VERSION_1_2,
         nullptr,
         &enable_event,
         &disable_event,
         &request_event,
         &get_call_trace,
         &profiler_exit,
         &raw_monitor_create,
         &forward<&Bridge::monitors, &RawMonitors::enter>,
         &forward<&Bridge::monitors, &RawMonitors::exit>,
         &forward<&Bridge::monitors, &RawMonitors::wait>,
         &forward<&Bridge::monitors, &RawMonitors::notify_all>,
         &forward<&Bridge::monitors, &RawMonitors::destroy>,
         &get_current_thread_cpu_time,
         &suspend_thread,
         &resume_thread,
         &get_thread_status,
         &thread_has_run,
         &create_system_thread,
         &set_thread_local_storage,
         &get_thread_local_storage,
         &disable_gc,
         &enable_gc,
         &run_gc,
         &get_thread_object,
         &get_method_class,
         &object_of_id,
         &id_of_object,
         &each_thread<&suspend>,
         &each_thread<&resume>};
}

}  // namespace hprof::jvmpi
