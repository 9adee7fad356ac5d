#include "collector.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof::vm_events {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

constexpr hprof_column kThreadColumns[] = {
    tables::kAt,
    tables::kThread,
    {"starts", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, "1: it starts, 0: it ends"}};
constexpr auto kThreads =
    tables::schema<hprof_thread_event>(HPROF_TABLE_THREAD_EVENTS, "THREAD EVENTS", kThreadColumns);

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
  is_on_.store(true, std::memory_order_relaxed);
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

void Collector::pass_on(const hprof_thread* thread, uint64_t starts) {
  if (!is_on_.load(std::memory_order_relaxed) ||
      (thread->flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) != 0)
    return;
  emit_event(services_, kThreads, hprof_thread_event{now(), thread->serial, starts});
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
  // One more round follows when the waits have been ended.
  while (goes_on) {
    goes_on = self->services_.threads->wait(thread, kSecondNs) != 0;
    self->emit_load(heap.processors);
    self->emit_heap(heap);
  }
}

}  // namespace hprof::vm_events
