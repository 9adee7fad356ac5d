#include "rows.h"

#include <initializer_list>

#include <hprof/cpp/contexts.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::jfr {

namespace {

bool add_setting(Encoder& encoder, Type type, const char* name, const char* value) {
  Event event(encoder.chunk, kActiveSetting, encoder.chunk.began_ns(), true);
  event.varint(type);
  event.words(name);
  event.words(value);
  return event.keep();
}

// What readers ask about the events of a type. period_ns: 0: none; kind: of samples, "cpu" or "wall".
bool add_settings(Encoder& encoder, Type type, uint64_t period_ns, const char* kind) {
  bool& has_settings = encoder.has_settings[type - kFirstType];
  if (has_settings) return true;
  TextLine<2 * kNumberMost> period, nanoseconds;
  nanoseconds.add(period_ns);
  period_ns % 1'000'000 == 0 ? period.add(period_ns / 1'000'000).add(" ms")
                             : period.add(period_ns / 1000).add(" us");
  return has_settings = add_setting(encoder, type, "enabled", "true") &&
                        (period_ns == 0 || add_setting(encoder, type, "period", period.c_str())) &&
                        (kind == nullptr ||
                         (add_setting(encoder, type, "event", kind) &&
                          add_setting(encoder, type, std::strcmp(kind, "wall") == 0 ? kind : "interval",
                                      nanoseconds.c_str())));
}

bool is_elapsed(const hprof_rec_table& table) {
  return std::strcmp(hprof_column_at(table.schema, HPROF_CPU_SAMPLE_EVENT_TIME)->name, "wall") == 0;
}
// True: a sample of a thread that waited, which is one event whatever it stands for.
bool is_wait(const Row& row) {
  return is_elapsed(row.table) && row.as<hprof_cpu_sample_event>().state != HPROF_STATE_RUNNABLE;
}

uint64_t period_of(const hprof_cpu_sample_event& sample) { return sample.time_ns / sample.count; }

uint64_t copies_of_sample(const Row& row) {
  const uint64_t count = row.as<hprof_cpu_sample_event>().count;
  return is_wait(row) && count != 0 ? 1 : count;
}

// 0: what ran the sample's method is not known.
hprof_string_id code_of(const Row& row) {
  const hprof_table_schema& schema = *row.table.schema;
  for (uint32_t i = HPROF_CPU_SAMPLE_EVENT_TIME + 1; i < schema.column_count; i++)
    if (std::strcmp(hprof_column_at(&schema, i)->name, "code") == 0)
      return static_cast<hprof_string_id>(hprof_row_at(&row.table, row.index)[i].u);
  return 0;
}

bool add_sample(const Row& row) {
  const auto& sample = row.as<hprof_cpu_sample_event>();
  const bool wall = is_elapsed(row.table), waits = is_wait(row);
  const Type type = waits ? kWallClockSample : kExecutionSample;
  const uint64_t period = period_of(sample);
  if (!add_settings(row.encoder, type, period, wall ? "wall" : "cpu")) return false;
  const uint64_t thread = row.thread(sample.thread), stack = row.stack(sample.trace, code_of(row));
  Event event(row.encoder.chunk, type, sample.at_ns - row.copy * period);
  event.varint(thread);
  event.varint(stack);
  event.varint(Pools::state(wall ? sample.state : Pools::kOnCpu));
  if (waits) event.varint(sample.count < INT32_MAX ? sample.count : INT32_MAX);
  if (row.encoder.has_contexts) event.varint(thread);
  return event.keep();
}

bool add_allocation(const Row& row) {
  const auto& site = row.as<hprof_site_event>();
  if (!add_settings(row.encoder, kAllocationSample, 0, nullptr)) return false;
  const uint64_t thread = row.thread(site.thread), stack = row.stack(site.trace);
  const uint64_t owner = row.owner(site.owner);
  Event event(row.encoder.chunk, kAllocationSample, site.at_ns);
  event.varint(thread);
  event.varint(stack);
  event.varint(owner);
  event.varint(site.allocated_bytes);
  return event.keep();
}

bool add_blocking(const Row& row, Type type) {
  const auto& blocked = row.as<hprof_monitor_event>();
  if (!add_settings(row.encoder, type, 0, nullptr)) return false;
  const uint64_t thread = row.thread(blocked.thread), stack = row.stack(blocked.trace);
  const uint64_t owner = row.owner(blocked.monitor), held_by = row.thread(blocked.owner);
  Event event(row.encoder.chunk, type, blocked.at_ns - blocked.time_ns);
  event.varint(blocked.time_ns);
  event.varint(thread);
  event.varint(stack);
  event.varint(owner);
  if (type == kMonitorEnter) {
    event.varint(held_by);
  } else if (type == kMonitorWait) {
    event.varint(0);  // the notifier
    event.varint(blocked.timeout_ns);
    event.varint(blocked.timed_out);
  } else {
    event.varint(kUnknownTime);  // timeout
    event.varint(kUnknownTime);  // until
  }
  event.varint(blocked.lock);  // for its address
  return event.keep();
}
bool add_contention(const Row& row) {
  return add_blocking(row, row.as<hprof_monitor_event>().label == 0 ? kMonitorEnter : kThreadPark);
}
bool add_wait(const Row& row) { return add_blocking(row, kMonitorWait); }

// The host of host:port, and the port; 0: it is not known.
struct Peer {
  explicit Peer(hprof_text target) : host(target) {
    uint64_t colon = target.size;
    while (colon != 0 && target.data[colon - 1] != ':') colon--;
    if (colon == 0) return;
    host.size = colon - 1;
    for (uint64_t at = colon; at < target.size && target.data[at] >= '0' && target.data[at] <= '9'; at++)
      port = port * 10 + static_cast<uint64_t>(target.data[at] - '0');
  }
  bool is_number() const {
    return host.size != 0 &&
           (host.data[0] == '[' || (host.data[host.size - 1] >= '0' && host.data[host.size - 1] <= '9'));
  }
  hprof_text host;
  uint64_t port = 0;
};

bool add_io(const Row& row) {
  const auto& call = row.as<hprof_io_event>();
  Pools& pools = row.encoder.chunk.pools;
  const hprof_text operation = pools.string(static_cast<hprof_string_id>(call.operation));
  const hprof_text target = pools.string(static_cast<hprof_string_id>(call.target));
  const bool is_socket = begins_with(operation, "socket");
  const bool is_read = operation.size != 0 && operation.data[operation.size - 1] == 'd';
  const Type type = is_socket ? is_read ? kSocketRead : kSocketWrite : is_read ? kFileRead : kFileWrite;
  if (!add_settings(row.encoder, type, 0, nullptr)) return false;
  const uint64_t thread = row.thread(call.thread), stack = row.stack(call.trace);
  Event event(row.encoder.chunk, type, call.at_ns - call.time_ns, true);
  event.varint(call.time_ns);
  event.varint(thread);
  event.varint(stack);
  if (is_socket) {
    const Peer peer(target);
    event.text(peer.host);
    event.text(peer.is_number() ? peer.host : hprof_text{nullptr, 0});
    event.varint(peer.port);
    if (is_read) event.varint(0);  // timeout
  } else {
    event.text(target);
  }
  event.varint(call.bytes);
  if (is_read) event.varint(call.end);
  return event.keep();
}

bool add_slow_call(const Row& row) {
  const auto& call = row.as<hprof_slow_call_event>();
  if (!add_settings(row.encoder, kSlowCall, 0, nullptr)) return false;
  const uint64_t thread = row.thread(call.thread), stack = row.stack(call.trace);
  Event event(row.encoder.chunk, kSlowCall, call.at_ns - call.time_ns);
  event.varint(call.time_ns);
  event.varint(thread);
  event.varint(stack);
  return event.keep();
}

bool add_thread(const Row& row) {
  const auto& thread = row.as<hprof_thread_event>();
  const Type type = thread.starts != 0 ? kThreadStart : kThreadEnd;
  if (!add_settings(row.encoder, type, 0, nullptr)) return false;
  const uint64_t number = row.thread(thread.thread);
  Event event(row.encoder.chunk, type, thread.at_ns);
  event.varint(number);
  if (type == kThreadStart) event.varint(0);  // stack
  event.varint(number);
  if (type == kThreadStart) event.varint(0);  // parent
  return event.keep();
}

bool add_thread_count(const Row& row) {
  const auto& count = row.as<hprof_thread_count_event>();
  if (!add_settings(row.encoder, kThreadStatistics, 0, nullptr)) return false;
  Event event(row.encoder.chunk, kThreadStatistics, count.at_ns);
  for (const uint64_t number : {count.live, count.daemons, count.started, count.most}) event.varint(number);
  return event.keep();
}

bool add_vm_event(const Row& row) {
  row.encoder.vm = row.as<hprof_vm_event>();
  return true;
}

// A pause is a collection of one phase.
uint64_t copies_of_pause(const Row&) { return 2; }
bool add_pause(const Row& row) {
  const auto& pause = row.as<hprof_pause_event>();
  const Type type = row.copy != 0 ? kGarbageCollection : kGcPause;
  if (!add_settings(row.encoder, type, 0, nullptr)) return false;
  Event event(row.encoder.chunk, type, pause.at_ns - pause.time_ns);
  event.varint(pause.time_ns);
  if (type == kGcPause) event.varint(0);  // thread
  event.varint(pause.number);
  event.words(type == kGcPause ? "GC Pause" : nullptr);  // name
  if (type == kGcPause) return event.keep();
  event.words(nullptr);  // cause
  event.varint(pause.time_ns);
  event.varint(pause.time_ns);
  return event.keep();
}

bool add_heap(const Row& row) {
  const auto& heap = row.as<hprof_heap_event>();
  if (!add_settings(row.encoder, kHeapSummary, 0, nullptr)) return false;
  Event event(row.encoder.chunk, kHeapSummary, heap.at_ns);
  event.varint(heap.number);
  event.varint(Pools::kAfterGc);
  event.zeros(2);  // addresses
  event.varint(heap.committed_bytes);
  event.zeros(1);
  event.varint(heap.most_bytes);
  event.varint(heap.used_bytes);
  return event.keep();
}

bool add_processors(const Row& row, uint64_t count) {
  if (row.encoder.has_processors) return true;
  Event event(row.encoder.chunk, kCpuInformation, row.encoder.chunk.began_ns());
  event.words(nullptr);
  event.words(nullptr);
  event.varint(1);
  event.varint(count);
  event.varint(count);
  return row.encoder.has_processors = event.keep();
}

uint32_t bits_of(double share) {
  const float shown = share < 1 ? static_cast<float>(share) : 1.0f;
  uint32_t bits;
  std::memcpy(&bits, &shown, sizeof bits);
  return bits;
}

// Shares of all processors: the process in user mode, in the kernel, the machine. The first has all of the
// process's time, as its parts are not known; the machine's is at least that, as JMC requires.
bool add_load(const Row& row) {
  const auto& load = row.as<hprof_load_event>();
  if (!add_settings(row.encoder, kCpuLoad, 0, nullptr) || !add_processors(row, load.processors)) return false;
  const double share = static_cast<double>(load.cpu_ns) /
                       (static_cast<double>(load.elapsed_ns) * static_cast<double>(load.processors));
  const double all = load.all != 0 ? static_cast<double>(load.busy) / static_cast<double>(load.all) : 0;
  Event event(row.encoder.chunk, kCpuLoad, load.at_ns);
  event.u4(bits_of(share));
  event.zeros(sizeof(uint32_t));
  event.u4(bits_of(all > share ? all : share));
  return event.keep();
}

template <class T>
constexpr uint32_t kColumns = sizeof(T) / sizeof(hprof_cell);

}  // namespace

// What an event's thread works for, as an event of a nanosecond that begins when that one is over: `jfr
// print` shows it with the events that end on its thread meanwhile.
bool add_request(const Row& row) {
  if (row.context == HPROF_NO_COLUMN) return true;
  const hprof_cell* cells = hprof_row_at(&row.table, row.index);
  const hprof_cell* context = cells + row.context;
  const uint64_t ids[] = {context[0].u, context[1].u, context[2].u};
  const auto labels = static_cast<hprof_string_id>(context[3].u);
  if ((ids[0] | ids[1] | ids[2] | labels) == 0) return true;
  if (!add_settings(row.encoder, kRequest, 0, nullptr)) return false;
  const auto& first = row.as<hprof_cpu_sample_event>();  // at_ns and thread are the first cells of all
  const uint64_t before = row.copy != 0 ? row.copy * period_of(first) : 0;
  const uint64_t thread = row.thread(first.thread);
  char text[48];
  for (uint32_t i = 0; i < sizeof text; i++)
    text[i] = "0123456789abcdef"[ids[i / 16] >> (60 - i % 16 * 4) & 15];
  Event event(row.encoder.chunk, kRequest, first.at_ns - before, true);
  event.varint(1);
  event.varint(thread);
  event.text((ids[0] | ids[1]) != 0 ? hprof_text{text, 32} : hprof_text{nullptr, 0});
  event.text(ids[2] != 0 ? hprof_text{text + 32, 16} : hprof_text{nullptr, 0});
  event.text(row.encoder.chunk.pools.string(labels));
  return event.keep();
}

const Source kSources[kSourceCount] = {
    {HPROF_TABLE_CPU_SAMPLE_EVENTS, HPROF_TABLE_CPU_SAMPLES, HPROF_CPU_SAMPLE_EVENT_TIME + 1, add_sample,
     copies_of_sample},
    {HPROF_TABLE_ALLOC_SITE_EVENTS, HPROF_TABLE_ALLOC_SITES, kColumns<hprof_site_event>, add_allocation,
     nullptr},
    {HPROF_TABLE_MONITOR_TIME_EVENTS, HPROF_TABLE_MONITOR_TIME, kColumns<hprof_monitor_event>, add_contention,
     nullptr},
    {HPROF_TABLE_MONITOR_WAIT_EVENTS, nullptr, kColumns<hprof_monitor_event>, add_wait, nullptr},
    {HPROF_TABLE_IO_EVENTS, HPROF_TABLE_IO, kColumns<hprof_io_event>, add_io, nullptr},
    {HPROF_TABLE_SLOW_CALL_EVENTS, HPROF_TABLE_LATENCY, kColumns<hprof_slow_call_event>, add_slow_call,
     nullptr},
    {HPROF_TABLE_THREAD_EVENTS, nullptr, kColumns<hprof_thread_event>, add_thread, nullptr},
    {HPROF_TABLE_THREAD_COUNT_EVENTS, nullptr, kColumns<hprof_thread_count_event>, add_thread_count, nullptr},
    {HPROF_TABLE_VM_EVENTS, nullptr, kColumns<hprof_vm_event>, add_vm_event, nullptr},
    {HPROF_TABLE_PAUSE_EVENTS, nullptr, kColumns<hprof_pause_event>, add_pause, copies_of_pause},
    {HPROF_TABLE_HEAP_EVENTS, nullptr, kColumns<hprof_heap_event>, add_heap, nullptr},
    {HPROF_TABLE_LOAD_EVENTS, nullptr, kColumns<hprof_load_event>, add_load, nullptr},
};

}  // namespace hprof::jfr
