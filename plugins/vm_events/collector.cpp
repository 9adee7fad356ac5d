#include "collector.h"

#include <initializer_list>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof::vm_events {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint32_t kRoundsOfVm = 10;  // from one event of the VM to the next

constexpr hprof_column kThreadColumns[] = {
    tables::kAt,
    tables::kThread,
    {"starts", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "1: it starts, 0: it ends"}};
constexpr auto kThreads =
    tables::schema<hprof_thread_event>(HPROF_TABLE_THREAD_EVENTS, "THREAD EVENTS", kThreadColumns);

constexpr hprof_column kThreadCountColumns[] = {
    tables::kAt,
    {"live", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "platform threads of the program"},
    {"daemons", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "of these"},
    {"started", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "since the start"},
    {"most", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "that lived at the same time"}};
constexpr auto kThreadCounts = tables::schema<hprof_thread_count_event>(
    HPROF_TABLE_THREAD_COUNT_EVENTS, "THREAD COUNT EVENTS", kThreadCountColumns);

constexpr hprof_column kNumber = {"pause", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "number of the GC pause"};
constexpr hprof_column kPauseColumns[] = {
    tables::kAt,
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_DURATION, nullptr, "that the program stood"},
    kNumber};
constexpr auto kPauses =
    tables::schema<hprof_pause_event>(HPROF_TABLE_PAUSE_EVENTS, "GC PAUSE EVENTS", kPauseColumns);

constexpr hprof_column kLoadColumns[] = {
    tables::kAt,
    {"elapsed", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_DURATION, nullptr, "since the event before"},
    {"cpu", nullptr, HPROF_COLUMN_NANOSECONDS, 0, nullptr, "CPU time of the process in it"},
    {"processors", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "that the VM may use"},
    {"machine_busy", nullptr, HPROF_COLUMN_COUNT, 0, nullptr,
     "CPU time that the machine used, of machine_all"},
    {"machine_all", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "0: not known"}};
constexpr auto kLoad =
    tables::schema<hprof_load_event>(HPROF_TABLE_LOAD_EVENTS, "CPU LOAD EVENTS", kLoadColumns);

constexpr hprof_column kHeapColumns[] = {
    tables::kAt,
    {"used", nullptr, HPROF_COLUMN_BYTES, 0, nullptr, "of the heap, after a GC pause"},
    {"committed", nullptr, HPROF_COLUMN_BYTES, 0, nullptr, nullptr},
    {"most", nullptr, HPROF_COLUMN_BYTES, 0, nullptr, "to which it may grow"},
    kNumber};
constexpr auto kHeap = tables::schema<hprof_heap_event>(HPROF_TABLE_HEAP_EVENTS, "HEAP EVENTS", kHeapColumns);

}  // namespace

// java.lang.Runtime, whose methods do not run Java code. Used by one thread.
struct Collector::Heap {
  // null: there is no VM.
  explicit Heap(JNIEnv* env) : jni(env) {
    if (jni == nullptr) return;
    jclass type = without_exception(jni, jni->FindClass("java/lang/Runtime"));
    const auto method = [&](const char* name) {
      return type != nullptr ? without_exception(jni, jni->GetMethodID(type, name, "()J")) : nullptr;
    };
    committed = method("totalMemory");
    free = method("freeMemory");
    most = method("maxMemory");
    jmethodID get =
        type == nullptr
            ? nullptr
            : without_exception(jni, jni->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;"));
    runtime = get != nullptr ? without_exception(jni, jni->CallStaticObjectMethod(type, get)) : nullptr;
    jmethodID count = runtime != nullptr
                          ? without_exception(jni, jni->GetMethodID(type, "availableProcessors", "()I"))
                          : nullptr;
    if (count != nullptr) processors = static_cast<uint32_t>(jni->CallIntMethod(runtime, count));
    clear_exception(jni);
  }
  bool is_known() const {
    return runtime != nullptr && committed != nullptr && free != nullptr && most != nullptr;
  }
  uint64_t read(jmethodID method) const {
    const jlong value = jni->CallLongMethod(runtime, method);
    clear_exception(jni);
    return value > 0 ? static_cast<uint64_t>(value) : 0;
  }

  JNIEnv* jni;
  jobject runtime = nullptr;
  jmethodID committed = nullptr, free = nullptr, most = nullptr;
  uint32_t processors = 1;
};

Collector::Collector(const hprof_host* host)
    : services_(host), machine_service_(find_service<hprof_machine_service>(host, HPROF_SERVICE_MACHINE)) {
  if (services_.log == nullptr) return;
  lost_ = services_.log->loss_counter(host, "CPU loads and heap sizes: their thread could not start");
}

hprof_status Collector::start() {
  if (!takes_events(services_.host)) return HPROF_OK;
  vm_ = look_at_vm();
  emit_vm();
  starts_++;
  for (std::atomic<uint32_t>* number : {&live_, &daemons_, &started_, &most_})
    number->store(0, std::memory_order_relaxed);
  is_on_.store(true, std::memory_order_relaxed);
  services_.threads->each(services_.host, nullptr, this,
                          [](void* self, hprof_thread* thread, void*) -> uint32_t {
                            static_cast<Collector*>(self)->count_start(thread);
                            return 1;
                          });
  sampled_ns_ = now();
  cpu_ns_ = services_.clock->process_cpu(services_.host);
  machine_ = look_at_machine();
  watcher_ = services_.threads->start(services_.host, "HPROF VM events", &Collector::watch, this);
  if (watcher_ == nullptr) count_loss(lost_);
  return HPROF_OK;
}

void Collector::stop() {
  is_on_.store(false, std::memory_order_relaxed);
  if (watcher_ != nullptr) services_.threads->stop(services_.host, watcher_);
  watcher_ = nullptr;
}

static bool is_counted(const hprof_thread& thread) {
  return (thread.flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) == 0;
}

void Collector::thread_start(void*, hprof_thread* thread) {
  if (!is_on_.load(std::memory_order_relaxed) || !is_counted(*thread)) return;
  count_start(thread);
  emit_event(services_, kThreads, hprof_thread_event{now(), thread->serial, 1});
}

void Collector::thread_end(void*, hprof_thread* thread) {
  if (!is_on_.load(std::memory_order_relaxed) || !is_counted(*thread)) return;
  count_end(thread);
  emit_event(services_, kThreads, hprof_thread_event{now(), thread->serial, 0});
}

// The collector's start meets threads that start at the same time.
void Collector::count_start(hprof_thread* thread) {
  auto* const mark = reinterpret_cast<void*>(starts_);
  if (__atomic_exchange_n(&thread->slot, mark, __ATOMIC_RELAXED) == mark) return;
  if ((thread->flags & HPROF_THREAD_DAEMON) != 0) daemons_.fetch_add(1, std::memory_order_relaxed);
  started_.fetch_add(1, std::memory_order_relaxed);
  const uint32_t live = live_.fetch_add(1, std::memory_order_relaxed) + 1;
  uint32_t most = most_.load(std::memory_order_relaxed);
  while (live > most && !most_.compare_exchange_weak(most, live, std::memory_order_relaxed)) {
  }
}

void Collector::count_end(hprof_thread* thread) {
  if (__atomic_exchange_n(&thread->slot, nullptr, __ATOMIC_RELAXED) != reinterpret_cast<void*>(starts_))
    return;
  if ((thread->flags & HPROF_THREAD_DAEMON) != 0) daemons_.fetch_sub(1, std::memory_order_relaxed);
  live_.fetch_sub(1, std::memory_order_relaxed);
}

void Collector::emit_threads() {
  const auto of = [](const std::atomic<uint32_t>& number) { return number.load(std::memory_order_relaxed); };
  emit_event(services_, kThreadCounts,
             hprof_thread_count_event{now(), of(live_), of(daemons_), of(started_), of(most_)});
}

void Collector::gc_start() { paused_ns_ = now(); }

void Collector::gc_finish() {
  const uint64_t begun_ns = paused_ns_, now_ns = now();
  paused_ns_ = 0;
  if (begun_ns == 0 || !is_on_.load(std::memory_order_relaxed)) return;
  const uint32_t number = pauses_.fetch_add(1, std::memory_order_relaxed) + 1;
  emit_event(services_, kPauses, hprof_pause_event{now_ns, now_ns - begun_ns, number});
}

Collector::Machine Collector::look_at_machine() const {
  Machine machine = {0, 0};
  if (machine_service_ != nullptr) machine_service_->cpu(services_.host, &machine.busy, &machine.all);
  return machine;
}

void Collector::emit_load(uint64_t processors) {
  const uint64_t now_ns = now(), cpu_ns = services_.clock->process_cpu(services_.host);
  const Machine machine = look_at_machine();
  const bool is_known = machine_.all != 0 && machine.all > machine_.all && machine.busy >= machine_.busy;
  if (cpu_ns != UINT64_MAX && cpu_ns >= cpu_ns_ && now_ns > sampled_ns_)
    emit_event(services_, kLoad,
               hprof_load_event{now_ns, now_ns - sampled_ns_, cpu_ns - cpu_ns_, processors,
                                is_known ? machine.busy - machine_.busy : 0,
                                is_known ? machine.all - machine_.all : 0});
  sampled_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  machine_ = machine;
}

void Collector::emit_heap(const Heap& heap) {
  const uint32_t pauses = pauses_.load(std::memory_order_relaxed);
  if (pauses == seen_pauses_ || !heap.is_known()) return;
  seen_pauses_ = pauses;
  const uint64_t committed = heap.read(heap.committed), free = heap.read(heap.free);
  emit_event(services_, kHeap,
             hprof_heap_event{now(), committed > free ? committed - free : 0, committed, heap.read(heap.most),
                              pauses});
}

void Collector::watch(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<Collector*>(argument);
  const Heap heap(static_cast<JNIEnv*>(jni));
  bool goes_on = true;
  uint32_t round = 0;
  // One more round follows when the waits have been ended.
  while (goes_on) {
    goes_on = self->services_.threads->wait(thread, kSecondNs) != 0;
    if (++round % kRoundsOfVm == 0) self->emit_vm();
    self->emit_load(heap.processors);
    self->emit_threads();
    self->emit_heap(heap);
  }
}

}  // namespace hprof::vm_events
