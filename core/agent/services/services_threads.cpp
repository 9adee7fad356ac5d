// The services of threads: threads, context, accounting, and the draft sampling.
#include <cstring>
#include <new>

#include <hprof/cpp/service.hpp>

#include "core/agent/services/service_tables.h"
#include "core/agent/session/control.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/build.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"

// The structs behind the ABI's opaque types.
struct hprof_agent_thread {
  void (*body)(void* argument, void* jni, hprof_agent_thread* thread);
  void* argument;
  hprof::platform::Event wake;
  std::atomic<bool> stopping{false};
  std::atomic<bool> ended{false};
};

struct hprof_cpu_timer {
  hprof::platform::NativeThread thread;
  void* argument;
  hprof::platform::CpuTimer timer, moments;
};

namespace hprof {

namespace {

constexpr int64_t kStopDeadlineNs = 5 * platform::kNanosPerSecond;

const SessionParts& parts_of(const hprof_host* host) { return *slot_of(host)->parts; }

void JNICALL run_body(jvmtiEnv*, JNIEnv* jni, void* argument) {
  auto* thread = static_cast<hprof_agent_thread*>(argument);
  const TagScope scope(tag::kControl);
  thread->body(thread->argument, jni, thread);
  thread->ended.store(true, std::memory_order_release);
}

hprof_agent_thread* start_thread(const hprof_host* host, const char* name,
                                 void (*body)(void*, void*, hprof_agent_thread*), void* argument) {
  const SessionParts& parts = parts_of(host);
  if (body == nullptr) complain(*slot_of(host), Complaint::kTags, "it starts a thread without a body");
  JNIEnv* jni = is_gone(*slot_of(host)) || body == nullptr ? nullptr : parts.jni();
  // From all of the budget: a collector cannot run without its few threads.
  void* memory =
      jni != nullptr ? parts.memory.allocate(sizeof(hprof_agent_thread), MemoryAccount::kAll) : nullptr;
  if (memory == nullptr) return nullptr;
  auto* thread = new (memory) hprof_agent_thread;
  thread->body = body;
  thread->argument = argument;
  if (run_agent_thread(parts, jni, name, &run_body, thread)) return thread;
  parts.memory.release(memory, sizeof(hprof_agent_thread));
  return nullptr;
}

uint32_t wait_in_thread(hprof_agent_thread* thread, uint64_t ns) {
  if (!thread->stopping.load(std::memory_order_acquire)) {
    thread->wake.wait(platform::monotonic_ns() + static_cast<int64_t>(ns));
  }
  return thread->stopping.load(std::memory_order_acquire) ? 0 : 1;
}

hprof_status stop_thread(const hprof_host* host, hprof_agent_thread* thread) {
  thread->stopping.store(true, std::memory_order_release);
  thread->wake.signal();
  int64_t deadline = platform::monotonic_ns() + kStopDeadlineNs;
  while (!thread->ended.load(std::memory_order_acquire)) {
    if (platform::monotonic_ns() > deadline) return HPROF_FAILED;  // it may still use its memory
    platform::sleep_ns(platform::kNanosPerMilli / 2);
  }
  thread->~hprof_agent_thread();
  parts_of(host).memory.release(thread, sizeof(hprof_agent_thread));
  return HPROF_OK;
}

}  // namespace

const hprof_threads_service kThreadsService = {
    sizeof(hprof_threads_service),
    0,
    &start_thread,
    &wait_in_thread,
    [](hprof_agent_thread* thread) { thread->wake.signal(); },
    &stop_thread,
    [](const hprof_host* host, void* jni, void* argument, uint32_t (*visit)(void*, hprof_thread*, void*)) {
      auto* slot = static_cast<const CollectorSlot*>(slot_of(host));
      slot->parts->threads.each(static_cast<JNIEnv*>(jni), slot->index, argument, visit);
    },
    // Records stay mapped, so one that is given back meanwhile still has a serial that was right.
    [](const hprof_host* host, void* thread) {
      return parts_of(host).threads.serial_of(static_cast<jthread>(thread));
    },
    [](const hprof_host*, uint64_t ns) { platform::sleep_ns(static_cast<int64_t>(ns)); },
};

namespace {

ContextTable& contexts_of(const hprof_host* host) { return parts_of(host).threads.contexts; }

hprof_status set_context(const hprof_host* host, const hprof_context* context) {
  const SessionParts& parts = parts_of(host);
  ContextTable& contexts = parts.threads.contexts;
  if (contexts.of_virtual != nullptr) {
    const hprof_status status = contexts.of_virtual->set_running(parts.jni(), context);
    if (status == HPROF_DROPPED) parts.losses.add(Loss::kLostContexts);
    if (status != HPROF_UNSUPPORTED) return status;
  }
  const ThreadRecord* record = contexts.is_open() ? parts.threads.current(nullptr, nullptr) : nullptr;
  if (record == nullptr || record->is_virtual() ||
      parts.model.threads().is_other(ThreadSerial{record->serial}))
    return HPROF_UNSUPPORTED;
  if (context == nullptr) {
    contexts.clear(record->serial);
    return HPROF_OK;
  }
  hprof_context known;
  hprof_copy_sized(&known, sizeof(known), context, context->size);
  if (contexts.set(record->serial, known)) return HPROF_OK;
  parts.losses.add(Loss::kLostContexts);
  return HPROF_DROPPED;
}

hprof_status read_context(const hprof_host* host, hprof_thread_serial thread, hprof_context* context) {
  hprof_context read;
  if (!contexts_of(host).is_open()) return HPROF_UNSUPPORTED;
  if (!contexts_of(host).read(thread, &read)) return HPROF_FAILED;
  hprof_copy_sized(context, context->size, &read, sizeof(read));
  return HPROF_OK;
}

}  // namespace

const hprof_context_service kContextService = {
    sizeof(hprof_context_service),
    0,
    [](const hprof_host* host) -> hprof_status {
      ContextTable& contexts = contexts_of(host);
      contexts.of_virtual = find_service<hprof_thread_context_service>(host, HPROF_SERVICE_THREAD_CONTEXT);
      return contexts.open(parts_of(host).memory) ? HPROF_OK : HPROF_NO_MEMORY;
    },
    &set_context,
    &read_context,
};

namespace {

// Sampling: one user at a time, since there is one signal.

using TickHandler = void (*)(void* argument, void* timer_argument, void* ucontext, uint32_t ticks);
std::atomic<TickHandler> tick_handler{nullptr};
std::atomic<void*> tick_argument{nullptr};
std::atomic<uint32_t> ticks_inside{0};

void on_tick(void* value, void* context, uint32_t overrun) {
  ticks_inside.fetch_add(1, std::memory_order_seq_cst);
  if (TickHandler handler = tick_handler.load(std::memory_order_seq_cst)) {
    const TagScope scope(tag::kSignal);
    handler(tick_argument.load(std::memory_order_relaxed), value, context, overrun + 1);
  }
  ticks_inside.fetch_sub(1, std::memory_order_release);
}

hprof_status install(const hprof_host*, TickHandler handler, void* argument) {
  if (tick_handler.load(std::memory_order_acquire) != nullptr) return HPROF_FAILED;
  if (platform::install_fault_guard() != 0) return HPROF_UNSUPPORTED;
  tick_argument.store(argument, std::memory_order_relaxed);
  tick_handler.store(handler, std::memory_order_seq_cst);
  if (platform::install_sample_handler(&on_tick) == 0) return HPROF_OK;
  tick_handler.store(nullptr, std::memory_order_seq_cst);
  platform::uninstall_fault_guard();
  return HPROF_UNSUPPORTED;
}

platform::NativeThread thread_of(uint64_t os_id) {
  return os_id != 0 ? static_cast<platform::NativeThread>(os_id) : platform::current_thread_id();
}

// The signal handler stays installed and does nothing, for late ticks.
void uninstall(const hprof_host*) {
  tick_handler.store(nullptr, std::memory_order_seq_cst);
  while (ticks_inside.load(std::memory_order_seq_cst) != 0) platform::sleep_ns(100 * 1000);
  platform::uninstall_fault_guard();
}

hprof_cpu_timer* start_timer(const hprof_host* host, uint64_t os_id, uint64_t interval_ns,
                             void* timer_argument, hprof_status* why) {
  const SessionParts& parts = parts_of(host);
  *why = HPROF_NO_MEMORY;
  auto* timer = static_cast<hprof_cpu_timer*>(parts.memory.allocate(sizeof(hprof_cpu_timer)));
  if (timer == nullptr) return nullptr;
  new (timer) hprof_cpu_timer{thread_of(os_id), timer_argument, {}, {}};
  int error = platform::cpu_timer_create(&timer->timer, timer->thread, timer_argument);
  if (error == 0) {
    error = interval_ns == 0 ? platform::cpu_timer_tick(timer->timer)
                             : platform::cpu_timer_start(timer->timer, static_cast<int64_t>(interval_ns));
    if (error == 0) return timer;
    platform::cpu_timer_delete(&timer->timer);
  }
  *why = platform::is_refusal_of_timers(error) ? HPROF_UNSUPPORTED : HPROF_FAILED;
  parts.memory.release(timer, sizeof(hprof_cpu_timer));
  return nullptr;
}

void stop_timer(const hprof_host* host, hprof_cpu_timer* timer) {
  platform::cpu_timer_delete(&timer->timer);
  platform::cpu_timer_delete(&timer->moments);
  parts_of(host).memory.release(timer, sizeof(hprof_cpu_timer));
}

uint64_t number_of(const platform::CpuTimer& timer) { return static_cast<uint64_t>(timer.id) + 1; }

platform::CpuTimer numbered(uint64_t number) {
  platform::CpuTimer timer;
  timer.id = static_cast<intptr_t>(number - 1);
  return timer;
}

}  // namespace

const hprof_sampling_service kSamplingService = {
    sizeof(hprof_sampling_service),
    0,
    &install,
    &uninstall,
    &start_timer,
    &stop_timer,
    [](const hprof_host*, void (*body)(void*), void* argument) {
      return static_cast<uint32_t>(platform::guarded_call(body, argument));
    },
    [](const hprof_host*, const void* context, hprof_registers* registers) {
      platform::MachineRegisters read = {};
      bool known = platform::read_registers(context, &read);
      const hprof_registers all = {sizeof(all), 0, read.pc, read.sp, read.fp, read.link};
      hprof_copy_sized(registers, registers->size, &all, sizeof(all));
      return static_cast<uint32_t>(known);
    },
    [](const hprof_host*, void* context, const hprof_registers* registers) {
      hprof_registers all = {};
      hprof_copy_sized(&all, sizeof(all), registers, registers->size);
      platform::write_registers(context, {all.pc, all.sp, all.fp, all.link});
    },
    [](const hprof_host*, const hprof_cpu_timer* timer) { return number_of(timer->timer); },
    [](const hprof_host*, uint64_t number, uint64_t interval_ns) {
      platform::cpu_timer_start(numbered(number), static_cast<int64_t>(interval_ns));
    },
    [](const hprof_host*, uint64_t os_id) {
      return static_cast<uint32_t>(platform::blocks_cpu_timers(thread_of(os_id)));
    },
    [](const hprof_host*) {
      return platform::knows_interrupted_calls() ? static_cast<uint64_t>(platform::tick_length_ns()) : 0;
    },
    [](const hprof_host*, hprof_cpu_timer* timer) {
      const int error = platform::moment_timer_create(&timer->moments, timer->thread, timer->argument);
      return error == 0 ? number_of(timer->moments) : 0;
    },
    [](const hprof_host*, uint64_t number, uint64_t wait_ns) {
      platform::moment_timer_start(numbered(number), static_cast<int64_t>(wait_ns));
    },
    [](const hprof_host*, const void* context) {
      return static_cast<uint32_t>(platform::interrupted_call(context));
    },
    [](const hprof_host*, void* argument, void (*visit)(void*, uint64_t, const char*)) {
      struct Visit {
        void* argument;
        void (*visit)(void*, uint64_t, const char*);
      } to = {argument, visit};
      platform::for_each_thread(
          [](void* context, platform::NativeThread thread, const char* name) {
            const auto* each = static_cast<const Visit*>(context);
            each->visit(each->argument, static_cast<uint64_t>(thread), name);
            return true;
          },
          &to);
    },
};

namespace {

static_assert(HPROF_NOT_ACCOUNTED == platform::kNotAccounted, "passed on as it is");

uint32_t accounting_column(const hprof_host*, uint32_t index, hprof_accounting_column* column) {
  size_t count = 0;
  const platform::AccountingColumn* columns = platform::accounting_columns(&count);
  if (index >= count) return 0;
  const platform::AccountingColumn& from = columns[index];
  const hprof_accounting_column known = {
      sizeof(known), from.unit == platform::AccountingUnit::kNanoseconds ? 1u : 0u, from.name, from.help};
  hprof_copy_sized(column, column->size, &known, sizeof(known));
  return 1;
}

hprof_status read_accounting(const hprof_host*, uint64_t os_id, uint64_t* values, uint32_t count) {
  platform::ThreadAccounting row;
  if (platform::read_accounting(static_cast<platform::NativeThread>(os_id), &row) != 0) return HPROF_FAILED;
  for (uint32_t i = 0; i < count; i++) {
    values[i] = i < platform::kMaxAccountingColumns ? row.value[i] : HPROF_NOT_ACCOUNTED;
  }
  return HPROF_OK;
}

}  // namespace

const hprof_accounting_service kAccountingService = {
    sizeof(hprof_accounting_service),
    0,
    &accounting_column,
    [](const hprof_host*) { return platform::start_accounting() == 0 ? HPROF_OK : HPROF_FAILED; },
    &read_accounting,
    [](const hprof_host*) { return platform::accounting_missing(); },
};

}  // namespace hprof
