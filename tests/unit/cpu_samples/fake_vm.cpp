#include "tests/unit/cpu_samples/fake_vm.h"

#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" const hprof_module* hprof_module_cpu_samples(const hprof_offer*, const char**);

namespace hprof {

FakeVm* FakeVm::current = nullptr;
static void (*g_handler)(void*, void*, void*, uint32_t) = nullptr;
static void* g_handler_argument = nullptr;

static void async_get_call_trace(samples::AsyncTrace* trace, int32_t depth, void*) {
  FakeVm* vm = FakeVm::current;
  auto by_pc = vm->stacks_by_pc.find(vm->registers.pc);
  const auto& stack = by_pc == vm->stacks_by_pc.end() ? vm->stack : by_pc->second;
  trace->frame_count = stack.empty() ? vm->walk_code : 0;
  for (auto& frame : stack) {
    if (trace->frame_count == depth) break;
    trace->frames[trace->frame_count++] = frame;
  }
}

struct FakeServices {
  static void* java_vm(const hprof_host*) { return nullptr; }
  static void* jvmti(const hprof_host*) {
    return FakeVm::current->has_jvmti ? &FakeVm::current->jvmti_env_ : nullptr;
  }
  static void* jni(const hprof_host*) { return FakeVm::current->jni(); }
  static uint32_t precise_code(const hprof_host*) {
    FakeVm::current->precise_code = true;
    return 1;
  }
  static uint32_t flag(const hprof_host*, const char* name, void* value, uint32_t size) {
    FakeVm* vm = FakeVm::current;
    const std::string wanted = name;
    if (wanted == "MaxJavaStackTraceDepth") memcpy(value, &vm->most_frames, size);
    if (wanted == "StartFlightRecording") memcpy(value, &vm->flight_recording, size);
    return wanted == "MaxJavaStackTraceDepth" || wanted == "StartFlightRecording" ? 1 : 0;
  }
  static void* find_async_get_call_trace(const hprof_host*) {
    bool known = FakeVm::current->has_async_get_call_trace;
    return known ? reinterpret_cast<void*>(&async_get_call_trace) : nullptr;
  }

  static void* compiled_method(const hprof_host*, uint64_t pc) {
    auto after = FakeVm::current->compiled.upper_bound(pc);
    if (after == FakeVm::current->compiled.begin()) return nullptr;
    --after;
    return pc < after->second.end ? after->second.method : nullptr;
  }

  static hprof_status install(const hprof_host*, void (*handler)(void*, void*, void*, uint32_t),
                              void* argument) {
    g_handler = handler;
    g_handler_argument = argument;
    FakeVm::current->installed = true;
    return HPROF_OK;
  }
  static void uninstall(const hprof_host*) { FakeVm::current->installed = false; }
  static hprof_cpu_timer* start(const hprof_host*, uint64_t os_id, uint64_t interval_ns, void* argument) {
    if (FakeVm::current->timers_fail) return nullptr;
    if (os_id == 0) {  // the trial
      static hprof_cpu_timer trial;
      trial = {0, interval_ns, argument};
      if (FakeVm::current->knows_its_signals) g_handler(g_handler_argument, argument, nullptr, 1);
      return &trial;
    }
    if (FakeVm::current->on_timer) FakeVm::current->on_timer();
    auto& timer = FakeVm::current->timers[os_id];
    timer.reset(new hprof_cpu_timer{os_id, interval_ns, argument});
    return timer.get();
  }
  static uint64_t number(const hprof_host*, const hprof_cpu_timer* timer) { return timer->os_id; }
  static void set_interval(const hprof_host*, uint64_t number, uint64_t interval_ns) {
    auto timer = FakeVm::current->timers.find(number);
    if (timer != FakeVm::current->timers.end()) timer->second->interval_ns = interval_ns;
  }
  static uint32_t is_blocked(const hprof_host*, uint64_t os_id) {
    return static_cast<uint32_t>(FakeVm::current->blocked.count(os_id));
  }
  static void stop(const hprof_host*, hprof_cpu_timer* timer) { FakeVm::current->timers.erase(timer->os_id); }
  static uint32_t guarded(const hprof_host*, void (*body)(void*), void* argument) {
    FakeVm* vm = FakeVm::current;
    if (vm->walk_faults) return 0;
    body(argument);
    if (vm->walk_faults_after < 0) return 1;
    return vm->walk_faults_after-- == 0 ? vm->walk_faults_after = 0, 0 : 1;
  }

  // --- JVMTI and JNI
  static jvmtiError JNICALL thread_state(jvmtiEnv*, jthread thread, jint* state) {
    auto& t = FakeVm::current->java_threads[thread];
    *state = t.state;
    if (t.spins_os_id != 0) FakeVm::current->mock.thread_cpu_ns[t.spins_os_id] += 1000;
    return JVMTI_ERROR_NONE;
  }
  static jint copy(const std::vector<jvmtiFrameInfo>& from, jint most, jvmtiFrameInfo* to) {
    jint count = 0;
    for (auto& frame : from) {
      if (count == most) break;
      to[count++] = frame;
    }
    return count;
  }
  static jvmtiError JNICALL stack_trace(jvmtiEnv*, jthread thread, jint, jint most, jvmtiFrameInfo* frames,
                                        jint* count) {
    FakeVm::current->single_calls++;
    *count = copy(FakeVm::current->java_threads[thread].stack, most, frames);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL list_stack_traces(jvmtiEnv*, jint count, const jthread* threads, jint most,
                                              jvmtiStackInfo** out) {
    FakeVm::current->list_calls++;
    if (FakeVm::current->ending.count(threads[0]) != 0) return JVMTI_ERROR_NONE;
    size_t head = static_cast<size_t>(count) * sizeof(jvmtiStackInfo);
    size_t body = static_cast<size_t>(count) * static_cast<size_t>(most) * sizeof(jvmtiFrameInfo);
    auto* infos = static_cast<jvmtiStackInfo*>(calloc(1, head + body));
    auto* frames = reinterpret_cast<jvmtiFrameInfo*>(reinterpret_cast<char*>(infos) + head);
    for (jint i = 0; i < count; i++, frames += most) {
      infos[i].thread = threads[i];
      infos[i].state = FakeVm::current->java_threads[threads[i]].state;
      infos[i].frame_buffer = frames;
      infos[i].frame_count = copy(FakeVm::current->java_threads[threads[i]].stack, most, frames);
    }
    *out = infos;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL deallocate(jvmtiEnv*, unsigned char* memory) {
    free(memory);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL thread_cpu_time(jvmtiEnv*, jthread, jlong*) {
    return JVMTI_ERROR_THREAD_NOT_ALIVE;
  }
  static jvmtiError JNICALL create_monitor(jvmtiEnv*, const char*, jrawMonitorID* monitor) {
    *monitor = reinterpret_cast<jrawMonitorID>(monitor);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL monitor_call(jvmtiEnv*, jrawMonitorID) { return JVMTI_ERROR_NONE; }
  static jvmtiError JNICALL monitor_wait(jvmtiEnv*, jrawMonitorID, jlong ms) {
    FakeVm::current->mock.now_ns += static_cast<uint64_t>(ms) * 1000000;
    return JVMTI_ERROR_NONE;
  }
  static uint32_t read_registers(const hprof_host*, const void*, hprof_registers* registers) {
    const hprof_registers& known = FakeVm::current->registers;
    hprof_copy_sized(registers, registers->size, &known, sizeof known);
    return FakeVm::current->knows_registers ? 1 : 0;
  }
  static void write_registers(const hprof_host*, void*, const hprof_registers* registers) {
    FakeVm::current->registers = *registers;
  }
  static jint JNICALL push_frame(JNIEnv*, jint) {
    FakeVm::current->frames_pushed++;
    return 0;
  }
  static jobject JNICALL pop_frame(JNIEnv*, jobject) {
    FakeVm::current->frames_pushed--;
    FakeVm::current->local_refs = 0;
    return nullptr;
  }
  static jweak JNICALL new_weak_ref(JNIEnv*, jobject object) {
    FakeVm::current->weak_refs++;
    return object;
  }
  static void JNICALL delete_weak_ref(JNIEnv*, jweak) { FakeVm::current->weak_refs--; }
  static void JNICALL delete_local_ref(JNIEnv*, jobject) {}
  static jvmtiError JNICALL find_current_thread(jvmtiEnv*, jthread* thread) {
    *thread = static_cast<jthread>(FakeVm::current->current_thread);
    return JVMTI_ERROR_NONE;
  }
  static jobject JNICALL new_local_ref(JNIEnv*, jobject object) {
    FakeVm::current->local_refs++;
    return object;
  }
};

static const hprof_jvm_service kJvm = {sizeof(hprof_jvm_service), 0, FakeServices::java_vm,
                                       FakeServices::jvmti, FakeServices::jni};
static const hprof_vm_flags_service kVmFlags = {sizeof(hprof_vm_flags_service), 0, FakeServices::flag};
static const hprof_code_service kCode = {sizeof(hprof_code_service), 0, FakeServices::precise_code,
                                         FakeServices::find_async_get_call_trace,
                                         FakeServices::compiled_method};
static const hprof_sampling_service kSampling = {sizeof(hprof_sampling_service),
                                                 0,
                                                 FakeServices::install,
                                                 FakeServices::uninstall,
                                                 FakeServices::start,
                                                 FakeServices::stop,
                                                 FakeServices::guarded,
                                                 FakeServices::read_registers,
                                                 FakeServices::write_registers,
                                                 FakeServices::number,
                                                 FakeServices::set_interval,
                                                 FakeServices::is_blocked};

FakeVm::FakeVm() {
  current = this;
  memset(&jni_functions_, 0, sizeof jni_functions_);
  memset(&jvmti_functions_, 0, sizeof jvmti_functions_);
  jni_functions_.PushLocalFrame = FakeServices::push_frame;
  jni_functions_.PopLocalFrame = FakeServices::pop_frame;
  jni_functions_.NewLocalRef = FakeServices::new_local_ref;
  jni_functions_.DeleteLocalRef = FakeServices::delete_local_ref;
  jni_functions_.NewWeakGlobalRef = FakeServices::new_weak_ref;
  jni_functions_.DeleteWeakGlobalRef = FakeServices::delete_weak_ref;
  jvmti_functions_.GetCurrentThread = FakeServices::find_current_thread;
  jvmti_functions_.GetThreadState = FakeServices::thread_state;
  jvmti_functions_.GetStackTrace = FakeServices::stack_trace;
  jvmti_functions_.GetThreadListStackTraces = FakeServices::list_stack_traces;
  jvmti_functions_.Deallocate = FakeServices::deallocate;
  jvmti_functions_.GetThreadCpuTime = FakeServices::thread_cpu_time;
  jvmti_functions_.CreateRawMonitor = FakeServices::create_monitor;
  jvmti_functions_.DestroyRawMonitor = FakeServices::monitor_call;
  jvmti_functions_.RawMonitorEnter = FakeServices::monitor_call;
  jvmti_functions_.RawMonitorExit = FakeServices::monitor_call;
  jvmti_functions_.RawMonitorWait = FakeServices::monitor_wait;
  jni_env_.functions = &jni_functions_;
  jvmti_env_.functions = &jvmti_functions_;
  mock.set_service(HPROF_SERVICE_JVM, &kJvm);
  mock.set_service(HPROF_SERVICE_VM_FLAGS, &kVmFlags);
  mock.set_service(HPROF_SERVICE_CODE, &kCode);
  mock.set_service(HPROF_SERVICE_SAMPLING, &kSampling);
}

FakeVm::~FakeVm() {
  if (self != nullptr) destroy();
  current = nullptr;
}

bool FakeVm::tick(uint64_t os_id, uint32_t ticks) {
  auto timer = timers.find(os_id);
  if (timer == timers.end() || !installed) return false;
  g_handler(g_handler_argument, timer->second->argument, nullptr, ticks);
  return true;
}

void FakeVm::tick_late(void* handle, uint32_t ticks) {
  g_handler(g_handler_argument, handle, nullptr, ticks);
}

void FakeVm::look(uint64_t ns, size_t thread_index) {
  hprof_agent_thread* thread = mock.agent_threads.at(thread_index).get();
  thread->turns_left = 1;
  mock.on_wait = [this, ns](uint64_t) { mock.now_ns += ns; };
  thread->body(thread->argument, jni(), thread);
}

void* FakeVm::method(const std::string& owner, const std::string& name) {
  methods_.emplace_back(new char);
  mock.raw_methods[methods_.back().get()] =
      mock.add_method(mock.add_class(owner, "L" + owner + ";"), name, "()V");
  return methods_.back().get();
}

void FakeVm::create(const std::map<std::string, std::string>& options) {
  const hprof_unit& unit = mock_unit(hprof_module_cpu_samples, "cpu_samples");
  config_.reset(new MockConfig(unit, options));
  ops = static_cast<const hprof_collector_ops*>(unit.ops);
  char error[256] = "";
  if (ops->create(mock.host(), config_->data(), &self, error, sizeof error) != HPROF_OK) self = nullptr;
}

void FakeVm::destroy() {
  ops->stop(self);
  ops->destroy(self);
  self = nullptr;
}

hprof_thread* FakeVm::start_thread(hprof_thread_serial serial, uint64_t os_id, uint32_t flags) {
  hprof_thread* thread = mock.add_app_thread(serial, os_id, nullptr, flags);
  ops->handlers->thread_start(self, jni(), thread);
  return thread;
}

void FakeVm::report(double cutoff) {
  hprof_report report = {sizeof(hprof_report), HPROF_REPORT_REQUEST, cutoff, 0, 0, nullptr};
  mock.written.clear();
  ops->report(self, &report);
}

const hprof_rec_table* FakeVm::table() const {
  if (mock.written.empty() || !is_table(mock.written[0], HPROF_TABLE_CPU_SAMPLES)) return nullptr;
  return &mock.written[0].as<hprof_rec_table>();
}

std::map<std::string, uint64_t> FakeVm::rows() const {
  std::map<std::string, uint64_t> found;
  if (table() == nullptr) return found;
  for (const hprof_cpu_row& row : rows_of<hprof_cpu_row>(*table())) {
    auto lines = mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
    found[lines.empty() ? "<empty>" : lines[0].substr(0, lines[0].find('('))] += row.count;
  }
  return found;
}

uint64_t FakeVm::total() const {
  return table() == nullptr ? UINT64_MAX : table()->totals[HPROF_CPU_COUNT].u;
}

std::string FakeVm::notes() const {
  std::string text;
  for (auto& record : mock.written) {
    if (record.kind() != HPROF_RECORD_NOTE) continue;
    auto& note = record.as<hprof_rec_note>();
    text += std::string(note.text.data, note.text.size) + "\n";
  }
  return text;
}

}  // namespace hprof
