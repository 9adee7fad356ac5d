// JVMPI over JVMTI: set-up, and which events are enabled.
#include "bridge.h"

#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/plugin.h>

#include "references.h"
#include "sleeps.h"

namespace hprof::jvmpi {

std::atomic<Bridge*> the_bridge{nullptr};

namespace {

// GetEnv, by which an agent asks the JavaVM for JVMPI, which no current VM has.
//
// The JavaVM gets a copy of its function table with the bridge's GetEnv, for agents that the VM loads itself
// (-Xrun) or that call JNIEnv::GetJavaVM. One store, undone only if nobody has replaced it since; the copy is
// never freed.
const JNIInvokeInterface_* vm_functions;  // the VM's own
JNIInvokeInterface_ changed_functions;
constexpr jint kForward = 1;  // none of JNI's results: the VM's GetEnv answers

jint answer(void** env, jint version) {
  constexpr jint kInterface = 0xf << 28, kJni = 0;
  Bridge* to = bridge();
  if (to == nullptr) return kForward;
  if (version < JVMPI_VERSION_1 || version > JVMPI_VERSION_1_2) {
    if ((version & kInterface) == kJni && vm_functions != nullptr && to->vm.jni() == nullptr)
      to->wanted_jni.store(true, std::memory_order_relaxed);
    // To another version of JVMPI the VM would print that it has none.
    return (version & kInterface) == (JVMPI_VERSION_1 & kInterface) ? JNI_EVERSION : kForward;
  }
  to->was_asked.store(true, std::memory_order_relaxed);
  *env = &to->notifier.functions();
  return JNI_OK;
}

jint JNICALL get_env(JavaVM* vm, void** env, jint version) {
  const jint answered = answer(env, version);
  return answered != kForward ? answered : vm_functions->GetEnv(vm, env, version);
}

void take_get_env(JavaVM* vm) {
  vm_functions = vm->functions;
  changed_functions = *vm_functions;
  changed_functions.GetEnv = &get_env;
  __atomic_store_n(&vm->functions, &changed_functions, __ATOMIC_RELEASE);
}

void give_back_get_env(JavaVM* vm) {
  const JNIInvokeInterface_* ours = &changed_functions;
  __atomic_compare_exchange_n(&vm->functions, &ours, vm_functions, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace

hprof_status Bridge::open(const Config& config, char* error, uint32_t error_size) {
  TextBuffer why(error, error_size);
  if (bridge() != nullptr || vm_functions != nullptr) {
    why.add("another session of this process has served JVMPI already");
    return HPROF_UNSUPPORTED;
  }
  // If probes of allocations are in the classes from the start, those of calls are, too.
  const bool early_calls =
      config.methods == kByProbes || (config.methods == kByEither && config.allocations == kByProbes);
  const bool early_objects = config.allocations == kByProbes;
  if (!probes.ask(early_calls, early_objects, error, error_size) ||
      !make_environment(config, error, error_size))
    return HPROF_UNSUPPORTED;
  if (config.methods == kByEither && !early_calls) probes.ask_on_demand();
  unknown_ids_ = vm.services.log->loss_counter(vm.services.host,
                                               "requests of the JVMPI agent: their id was never given out");
  collections.open();
  if (!classes.open() || !threads.open() || !monitors.open() || !instructions.open()) {
    vm.jvmti->DisposeEnvironment();
    return HPROF_NO_MEMORY;
  }
  last_freed.open();
  fill_in(&notifier.functions());
  set_callbacks(vm.jvmti);
  see_class_files();
  for (const jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START,
                                 JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_PREPARE})
    mode(event, true);
  // A thread takes the interval when it starts, then only at its next sample.
  if (vm.can.can_generate_sampled_object_alloc_events != 0) vm.jvmti->SetHeapSamplingInterval(0);
  if (vm.can.can_generate_native_method_bind_events != 0 && vm.can.can_generate_monitor_events != 0)
    watch_sleeps(&vm);
  take_get_env(vm.java_vm);
  vm.invoke = vm_functions;
  the_bridge.store(this, std::memory_order_release);
  return HPROF_OK;
}

bool Bridge::make_environment(const Config& config, char* error, uint32_t error_size) {
  vm.java_vm = static_cast<JavaVM*>(vm.services.jvm->java_vm(vm.services.host));
  void* env = nullptr;
  if (vm.java_vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) {
    TextBuffer(error, error_size).add("this VM makes no second JVMTI environment");
    return false;
  }
  vm.jvmti = static_cast<jvmtiEnv*>(env);
  vm.invoke = vm.java_vm->functions;
  add_capabilities(config);
  if (vm.can.can_tag_objects != 0) return true;
  TextBuffer(error, error_size).add("this VM does not allow objects to be tagged");
  vm.jvmti->DisposeEnvironment();
  return false;
}

// -Xrun agents say what they want when it is too late to request it, so all capabilities that the VM grants
// at its start are requested. They cost nothing while the events are off.
void Bridge::add_capabilities(const Config& config) {
  jvmtiCapabilities wanted = {};
  vm.jvmti->GetPotentialCapabilities(&wanted);
  jvmtiCapabilities& can = vm.can;
#define JVMPI_WANT(name) can.name = wanted.name
  JVMPI_WANT(can_tag_objects);
  JVMPI_WANT(can_generate_object_free_events);
  JVMPI_WANT(can_generate_garbage_collection_events);
  JVMPI_WANT(can_generate_monitor_events);
  JVMPI_WANT(can_get_monitor_info);
  JVMPI_WANT(can_get_owned_monitor_info);
  JVMPI_WANT(can_get_current_contended_monitor);
  JVMPI_WANT(can_get_source_file_name);
  JVMPI_WANT(can_get_line_numbers);
  JVMPI_WANT(can_get_thread_cpu_time);
  JVMPI_WANT(can_generate_compiled_method_load_events);
  JVMPI_WANT(can_generate_all_class_hook_events);
  JVMPI_WANT(can_suspend);
  JVMPI_WANT(can_generate_native_method_bind_events);
  if (config.methods != kByNothing) {
    JVMPI_WANT(can_access_local_variables);
    JVMPI_WANT(can_generate_single_step_events);
    JVMPI_WANT(can_get_bytecodes);
  }
  if (config.methods == kByEvents || config.methods == kByEither) {
    JVMPI_WANT(can_generate_method_entry_events);
    JVMPI_WANT(can_generate_method_exit_events);
  }
  wants_samples_ = config.allocations == kByEvents;
  if (wants_samples_) JVMPI_WANT(can_generate_sampled_object_alloc_events);
  if (config.allocations == kByProbes) JVMPI_WANT(can_generate_vm_object_alloc_events);
#undef JVMPI_WANT
  if (vm.jvmti->AddCapabilities(&can) != JVMTI_ERROR_NONE) vm.jvmti->GetCapabilities(&can);
  // HotSpot grants it to one environment only, which may be the core's.
  auto* core = static_cast<jvmtiEnv*>(vm.services.jvm->jvmti(vm.services.host));
  jvmtiCapabilities of_core = {};
  if (can.can_suspend != 0) {
    vm.suspender = vm.jvmti;
  } else if (core != nullptr && core->GetCapabilities(&of_core) == JVMTI_ERROR_NONE &&
             of_core.can_suspend != 0) {
    vm.suspender = core;
  }
}

// If class files get probes, the agent sees them from the core, before that. Otherwise class file events are
// requested only when an agent wants them, since they switch CDS archives off.
void Bridge::see_class_files() {
  const hprof_settings& settings = vm.services.settings();
  const auto* files = find_service<hprof_class_file_service>(vm.services.host, HPROF_SERVICE_CLASS_FILE);
  const bool early =
      settings.java_version < 9 ? probes.are_early() : (settings.granted & HPROF_NEED_EARLY_CLASS_HOOKS) != 0;
  if (files == nullptr || !early) return;
  auto* handler = +[](void* self, const hprof_class_file* file, uint32_t* new_size) -> uint8_t* {
    return bridge() == self ? static_cast<Bridge*>(self)->class_file(*file, new_size) : nullptr;
  };
  sees_class_files_ = files->handle(vm.services.host, this, handler) == HPROF_OK;
}

void Bridge::close() {
  live_.store(false, std::memory_order_release);
  notifier.pause(true);
  the_bridge.store(nullptr, std::memory_order_release);
  give_back_get_env(vm.java_vm);
  last_freed.close();
  leave_environment(vm.jvmti);
}

void Bridge::release_memory() {
  classes.close();
  threads.close();
  monitors.close();
  instructions.close();
  probes.close();
}

jint Bridge::availability(jint type) const {
  const jvmtiCapabilities& can = vm.can;
  const auto when = [](unsigned granted) { return granted != 0 ? JVMPI_SUCCESS : JVMPI_NOT_AVAILABLE; };
  const unsigned calls = probes.has_calls() ? 1 : 0;
  switch (type) {
    case JVMPI_EVENT_METHOD_ENTRY:
      return when(can.can_generate_method_entry_events | calls);
    case JVMPI_EVENT_METHOD_ENTRY2:
      return when((can.can_generate_method_entry_events | calls) & can.can_access_local_variables);
    case JVMPI_EVENT_METHOD_EXIT:
      return when(can.can_generate_method_exit_events | calls);
    case JVMPI_EVENT_OBJECT_ALLOC:
      return when(probes.has_allocations() || can.can_generate_sampled_object_alloc_events != 0);
    case JVMPI_EVENT_OBJECT_FREE:
    case JVMPI_EVENT_CLASS_UNLOAD:
      return when(can.can_generate_object_free_events);
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
    case JVMPI_EVENT_COMPILED_METHOD_UNLOAD:
      return when(can.can_generate_compiled_method_load_events);
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      return when(sees_class_files_ || can.can_generate_all_class_hook_events != 0);
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_MONITOR_CONTENDED_EXIT:
    case JVMPI_EVENT_MONITOR_WAIT:
    case JVMPI_EVENT_MONITOR_WAITED:
      return when(can.can_generate_monitor_events);
    case JVMPI_EVENT_GC_START:
    case JVMPI_EVENT_GC_FINISH:
      return when(can.can_generate_garbage_collection_events);
    case JVMPI_EVENT_THREAD_START:
    case JVMPI_EVENT_THREAD_END:
    case JVMPI_EVENT_CLASS_LOAD:
    case JVMPI_EVENT_DATA_DUMP_REQUEST:
    case JVMPI_EVENT_DATA_RESET_REQUEST:
    case JVMPI_EVENT_JVM_INIT_DONE:
    case JVMPI_EVENT_JVM_SHUT_DOWN:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT:
    // Accepted but never sent, as in HotSpot: an agent that is refused one event gives up on the others.
    case JVMPI_EVENT_OBJECT_MOVE:
    case JVMPI_EVENT_ARENA_NEW:
    case JVMPI_EVENT_ARENA_DELETE:
    case JVMPI_EVENT_JNI_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_GLOBALREF_FREE:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE:
    // As in HotSpot without its flag, where it can't be sent.
    case JVMPI_EVENT_INSTRUCTION_START:
      return JVMPI_SUCCESS;
    case JVMPI_EVENT_HEAP_DUMP:
    case JVMPI_EVENT_OBJECT_DUMP:
    case JVMPI_EVENT_MONITOR_DUMP:
      return JVMPI_NOT_AVAILABLE;
    default:
      return JVMPI_FAIL;
  }
}

// Agents seldom print that a request was refused, nor why. Prints the first reason that applies.
void Bridge::say_that_allocations_are_refused() {
  if (said_refused_.exchange(true, std::memory_order_relaxed)) return;
  constexpr uint32_t kSampling = 11;
  TextLine<200> line;
  line.add("jvmpi: OBJECT_ALLOC is not available: ")
      .add(!wants_samples_ ? "jvmpi-allocs=n"
           : vm.services.settings().java_version < kSampling
               ? "this needs Java 11, or jvmpi-allocs=probes"
               : "another user has the VM's allocation samples (heap=sites,sites=sampled, or another agent); "
                 "jvmpi-allocs=probes needs none");
  vm.services.log->message(vm.services.host, line.c_str());
}

// The offsets of classes with probes would not be those of the agent's class files.
bool Bridge::can_step() const {
  return vm.can.can_generate_single_step_events != 0 && vm.can.can_get_bytecodes != 0 &&
         !probes.were_put_in();
}

jint Bridge::enable(jint type) {
  const jint result = availability(type);
  if (type == JVMPI_EVENT_INSTRUCTION_START && !can_step() && !said_no_steps_.exchange(true))
    vm.services.log->message(
        vm.services.host,
        vm.can.can_generate_single_step_events == 0
            ? "jvmpi: INSTRUCTION_START is not sent: jvmpi-methods=off, or the VM has no single steps"
            : "jvmpi: INSTRUCTION_START is not sent: the classes have probes; use jvmpi-methods=events");
  if (result == JVMPI_NOT_AVAILABLE && type == JVMPI_EVENT_OBJECT_ALLOC) say_that_allocations_are_refused();
  if (result != JVMPI_SUCCESS) return result;
  notifier.set(type, true);
  set_modes();
  return JVMPI_SUCCESS;
}

jint Bridge::disable(jint type) {
  const jint result = availability(type);
  if (result != JVMPI_SUCCESS) return result;
  notifier.set(type, false);
  set_modes();
  return JVMPI_SUCCESS;
}

void Bridge::mode(jvmtiEvent event, bool on) {
  vm.jvmti->SetEventNotificationMode(on ? JVMTI_ENABLE : JVMTI_DISABLE, event, nullptr);
}

void Bridge::say_that_code_is_interpreted() {
  if (said_interpreted_.exchange(true, std::memory_order_relaxed)) return;
  vm.services.log->message(vm.services.host,
                           "jvmpi: the agent has method or instruction events, all code is interpreted");
}

void Bridge::say_that_allocations_are_missed() {
  if (said_missed_.exchange(true, std::memory_order_relaxed)) return;
  vm.services.log->message(
      vm.services.host,
      "jvmpi: the agent has enabled OBJECT_ALLOC while the program runs: what each thread "
      "allocates until it has filled its allocation buffer (TLAB) is not seen");
}

// The VM does not sample objects in the rest of the TLAB that a thread has when the event is enabled; main's
// has room for most objects of a small program. A collection retires all TLABs.
void Bridge::begin_buffers() {
  if (samples_.load(std::memory_order_relaxed)) vm.jvmti->ForceGarbageCollection();
  runs_.store(true, std::memory_order_release);
}

void Bridge::set_method_modes() {
  const Notifier& n = notifier;
  const bool any =
      n.is_any_on({JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT});
  const bool steps = n.is_on(JVMPI_EVENT_INSTRUCTION_START) && can_step();
  if (vm.can.can_generate_single_step_events != 0) mode(JVMTI_EVENT_SINGLE_STEP, steps);
  // Probes would shift the offsets of instructions, and all code is interpreted anyway.
  if ((!steps && probes.switch_calls(any)) || vm.can.can_generate_method_entry_events == 0) return;
  if (any || steps) say_that_code_is_interpreted();
  mode(JVMTI_EVENT_METHOD_ENTRY, n.is_any_on({JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2}));
  mode(JVMTI_EVENT_METHOD_EXIT, n.is_on(JVMPI_EVENT_METHOD_EXIT));
}

void Bridge::set_modes_if_due() {
  if (modes_due_.exchange(false, std::memory_order_acq_rel)) set_modes();
}

void Bridge::set_modes() {
  const Notifier& n = notifier;
  // The VM refuses this event between Agent_OnLoad and the live phase.
  if (vm.can.can_generate_all_class_hook_events != 0 && !sees_class_files_)
    mode(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, n.is_on(JVMPI_EVENT_CLASS_LOAD_HOOK));
  if (!is_live()) return;
  // Not on a thread that the VM does not know, nor with a pending exception.
  JNIEnv* jni = vm.jni();
  if (jni == nullptr || jni->ExceptionCheck() == JNI_TRUE)
    return modes_due_.store(true, std::memory_order_release);
  if (n.is_any_on({JVMPI_EVENT_JNI_GLOBALREF_ALLOC, JVMPI_EVENT_JNI_GLOBALREF_FREE,
                   JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC, JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE}))
    watch_references(&vm);
  set_method_modes();
  if (vm.can.can_generate_sampled_object_alloc_events != 0) {
    const bool on = n.is_on(JVMPI_EVENT_OBJECT_ALLOC);
    mode(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, on);
    if (on && !samples_.load(std::memory_order_relaxed) && runs_.load(std::memory_order_acquire))
      say_that_allocations_are_missed();
    samples_.store(on, std::memory_order_relaxed);
  }
  if (vm.can.can_generate_vm_object_alloc_events != 0)
    mode(JVMTI_EVENT_VM_OBJECT_ALLOC, n.is_on(JVMPI_EVENT_OBJECT_ALLOC));
  if (vm.can.can_generate_monitor_events != 0) {
    const bool contended =
        n.is_any_on({JVMPI_EVENT_MONITOR_CONTENDED_ENTER, JVMPI_EVENT_MONITOR_CONTENDED_ENTERED,
                     JVMPI_EVENT_MONITOR_CONTENDED_EXIT});
    const bool waits = n.is_any_on({JVMPI_EVENT_MONITOR_WAIT, JVMPI_EVENT_MONITOR_WAITED});
    mode(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, contended);
    mode(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, contended);
    mode(JVMTI_EVENT_MONITOR_WAIT, waits);
    mode(JVMTI_EVENT_MONITOR_WAITED, waits);
  }
  if (vm.can.can_generate_garbage_collection_events != 0)
    mode(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, n.is_any_on({JVMPI_EVENT_GC_START, JVMPI_EVENT_GC_FINISH}));
  // Once on it stays on: see LastFreed.
  if (vm.can.can_generate_object_free_events != 0 &&
      n.is_any_on({JVMPI_EVENT_OBJECT_FREE, JVMPI_EVENT_CLASS_UNLOAD, JVMPI_EVENT_CLASS_LOAD}) &&
      !frees_on_.exchange(true, std::memory_order_acq_rel))
    mode(JVMTI_EVENT_OBJECT_FREE, true);
  if (vm.can.can_generate_compiled_method_load_events != 0) {
    const bool compiled = n.is_on(JVMPI_EVENT_COMPILED_METHOD_LOAD);
    mode(JVMTI_EVENT_COMPILED_METHOD_LOAD, compiled);
    mode(JVMTI_EVENT_COMPILED_METHOD_UNLOAD, n.is_on(JVMPI_EVENT_COMPILED_METHOD_UNLOAD));
  }
}

}  // namespace hprof::jvmpi
