#include "tests/unit/cpu_samples/sampled_vm.h"

#include <cstring>
#include <utility>

extern "C" const hprof_module* hprof_module_cpu_samples(const hprof_offer*, const char**);

namespace hprof {

SampledVm* SampledVm::current = nullptr;
static void (*g_handler)(void*, void*, void*, uint32_t) = nullptr;
static void* g_handler_argument = nullptr;

static void async_get_call_trace(samples::AsyncTrace* trace, int32_t depth, void*) {
  SampledVm* vm = SampledVm::current;
  auto by_pc = vm->stacks_by_pc.find(vm->registers.pc);
  const auto& stack = by_pc == vm->stacks_by_pc.end() ? vm->stack : by_pc->second;
  trace->frame_count = stack.empty() ? vm->walk_code : 0;
  for (auto& frame : stack) {
    if (trace->frame_count == depth) break;
    trace->frames[trace->frame_count++] = frame;
  }
}

struct FakeServices {
  static uint32_t precise_code(const hprof_host*) {
    SampledVm::current->precise_code = true;
    return 1;
  }
  static uint32_t flag(const hprof_host*, const char* name, void* value, uint32_t size) {
    SampledVm* vm = SampledVm::current;
    const std::string wanted = name;
    if (wanted == "MaxJavaStackTraceDepth") memcpy(value, &vm->most_frames, size);
    if (wanted == "StartFlightRecording") memcpy(value, &vm->flight_recording, size);
    return wanted == "MaxJavaStackTraceDepth" || wanted == "StartFlightRecording" ? 1 : 0;
  }
  static void* find_async_get_call_trace(const hprof_host*) {
    bool known = SampledVm::current->has_async_get_call_trace;
    return known ? reinterpret_cast<void*>(&async_get_call_trace) : nullptr;
  }

  static void* compiled_method(const hprof_host*, uint64_t pc) {
    auto after = SampledVm::current->compiled.upper_bound(pc);
    if (after == SampledVm::current->compiled.begin()) return nullptr;
    --after;
    return pc < after->second.end ? after->second.method : nullptr;
  }

  static hprof_status install(const hprof_host*, void (*handler)(void*, void*, void*, uint32_t),
                              void* argument) {
    g_handler = handler;
    g_handler_argument = argument;
    SampledVm::current->installed = true;
    return HPROF_OK;
  }
  static void uninstall(const hprof_host*) { SampledVm::current->installed = false; }
  static hprof_cpu_timer* start(const hprof_host*, uint64_t os_id, uint64_t interval_ns, void* argument,
                                hprof_status* why) {
    *why = SampledVm::current->timer_error;
    if (SampledVm::current->timers_fail) return nullptr;
    if (os_id == 0) {  // the trial
      static hprof_cpu_timer trial;
      trial = {0, interval_ns, argument};
      if (SampledVm::current->knows_its_signals) g_handler(g_handler_argument, argument, nullptr, 1);
      return &trial;
    }
    if (SampledVm::current->on_timer) SampledVm::current->on_timer();
    auto& timer = SampledVm::current->timers[os_id];
    timer.reset(new hprof_cpu_timer{os_id, interval_ns, argument});
    set_interval(nullptr, os_id, interval_ns);
    return timer.get();
  }
  static uint64_t cpu(uint64_t os_id) {
    const auto& clocks = SampledVm::current->mock.thread_cpu_ns;
    const auto clock = clocks.find(os_id);
    return clock == clocks.end() ? 0 : clock->second;
  }
  static uint64_t number(const hprof_host*, const hprof_cpu_timer* timer) { return timer->os_id; }
  static void set_interval(const hprof_host*, uint64_t number, uint64_t interval_ns) {
    auto timer = SampledVm::current->timers.find(number);
    if (timer == SampledVm::current->timers.end()) return;
    timer->second->interval_ns = interval_ns;
    timer->second->ticks_at = cpu(number) + interval_ns;
  }
  static uint64_t tick_length(const hprof_host*) { return SampledVm::current->tick_ns; }
  static uint64_t add_moments(const hprof_host*, hprof_cpu_timer* timer) {
    return SampledVm::current->moments_fail ? 0 : timer->os_id;
  }
  static void signal_after(const hprof_host*, uint64_t number, uint64_t wait_ns) {
    SampledVm::current->timers.at(number)->moment_at = cpu(number) + wait_ns;
  }
  static uint32_t interrupted_call(const hprof_host*, const void*) { return SampledVm::current->call; }
  static uint32_t is_blocked(const hprof_host*, uint64_t os_id) {
    return static_cast<uint32_t>(SampledVm::current->blocked.count(os_id));
  }
  static void each_thread(const hprof_host*, void* argument,
                          void (*visit)(void* argument, uint64_t os_id, const char* name)) {
    for (const auto& thread : SampledVm::current->native_threads)
      visit(argument, thread.first, thread.second.c_str());
  }
  static void stop(const hprof_host*, hprof_cpu_timer* timer) {
    SampledVm::current->timers.erase(timer->os_id);
  }
  static uint32_t guarded(const hprof_host*, void (*body)(void*), void* argument) {
    SampledVm* vm = SampledVm::current;
    if (vm->walk_faults) return 0;
    body(argument);
    if (vm->walk_faults_after < 0) return 1;
    return vm->walk_faults_after-- == 0 ? vm->walk_faults_after = 0, 0 : 1;
  }

  static uint32_t read_registers(const hprof_host*, const void*, hprof_registers* registers) {
    const hprof_registers& known = SampledVm::current->registers;
    hprof_copy_sized(registers, registers->size, &known, sizeof known);
    return SampledVm::current->knows_registers ? 1 : 0;
  }
  static void write_registers(const hprof_host*, void*, const hprof_registers* registers) {
    SampledVm::current->registers = *registers;
  }
};

static hprof_walk_service walk_service() {
  hprof_walk_service walk = {};
  walk.size = sizeof walk;
  walk.open_interrupted = [](const hprof_host*, void*, const char** why) -> hprof_sample_walk* {
    *why = "switched off";
    return SampledVm::current->has_walk ? reinterpret_cast<hprof_sample_walk*>(SampledVm::current) : nullptr;
  };
  walk.interrupted = [](const hprof_sample_walk*, const void*, const void*, uint32_t depth,
                        hprof_async_frame* frames, hprof_interrupted_stack* stack) -> uint32_t {
    SampledVm* vm = SampledVm::current;
    *stack = {vm->own_how, vm->own_is_cut, 0, vm->own_in_call, vm->own_kind, 0, 0, vm->own_outside};
    uint32_t count = 0;
    for (; count < depth && count < vm->own_stack.size(); count++)
      frames[count] = {vm->own_stack[count].index, vm->own_stack[count].method};
    stack->by_vm = count < vm->own_by_vm ? count : vm->own_by_vm;
    return count;
  };
  walk.close_interrupted = [](const hprof_host*, hprof_sample_walk*) {
    SampledVm::current->has_walk = false;
  };
  walk.distrust_interrupted = [](hprof_sample_walk*, const char* why) {
    SampledVm::current->distrusted = why;
  };
  walk.name_outside = [](const hprof_host*, hprof_sample_walk*, uint64_t pc, hprof_native_name* name) {
    *name = SampledVm::current->outside_names.at(pc);
  };
  walk.tend_interrupted = [](hprof_sample_walk*, void*) {};
  return walk;
}
static const hprof_walk_service kWalk = walk_service();
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
                                                 FakeServices::is_blocked,
                                                 FakeServices::tick_length,
                                                 FakeServices::add_moments,
                                                 FakeServices::signal_after,
                                                 FakeServices::interrupted_call,
                                                 FakeServices::each_thread};

SampledVm::SampledVm() {
  current = this;
  mock.set_service(HPROF_SERVICE_VM_FLAGS, &kVmFlags);
  mock.set_service(HPROF_SERVICE_CODE, &kCode);
  mock.set_service(HPROF_SERVICE_SAMPLING, &kSampling);
  mock.set_service(HPROF_SERVICE_WALK, &kWalk);
}

SampledVm::~SampledVm() {
  if (self != nullptr) destroy();
  current = nullptr;
}

bool SampledVm::tick(uint64_t os_id, uint32_t ticks) {
  auto timer = timers.find(os_id);
  if (timer == timers.end() || !installed) return false;
  g_handler(g_handler_argument, timer->second->argument, nullptr, ticks);
  return true;
}

void SampledVm::tick_late(void* handle, uint32_t ticks) {
  g_handler(g_handler_argument, handle, nullptr, ticks);
}

void SampledVm::create(const std::map<std::string, std::string>& options) {
  UnitVm::create(hprof_module_cpu_samples, "cpu_samples", options);
}

hprof_thread* SampledVm::start_thread(hprof_thread_serial serial, uint64_t os_id, uint32_t flags) {
  hprof_thread* thread = add_thread(serial, os_id, "", flags).view;
  ops->handlers->thread_start(self, jni(), thread);
  return thread;
}

const hprof_rec_table* SampledVm::table() const {
  if (mock.written.empty() || !is_table(mock.written[0], HPROF_TABLE_CPU_SAMPLES)) return nullptr;
  return &mock.written[0].as<hprof_rec_table>();
}

std::map<std::string, uint64_t> SampledVm::rows() const {
  std::map<std::string, uint64_t> found;
  if (table() == nullptr) return found;
  for (const hprof_cpu_row& row : rows_of<hprof_cpu_row>(*table())) {
    auto lines = mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
    found[lines.empty() ? "<empty>" : lines[0].substr(0, lines[0].find('('))] += row.count;
  }
  return found;
}

uint64_t SampledVm::total() const {
  return table() == nullptr ? UINT64_MAX : table()->totals[HPROF_CPU_COUNT].u;
}

}  // namespace hprof
