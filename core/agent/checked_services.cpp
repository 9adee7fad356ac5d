// The thread tags of the service headers as rows, and the functions that check them before each call.
// Functions without a host argument (hprof_threads_service.wait, the frame walk) are passed on unchecked.
#include "core/agent/checked_services.h"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "core/agent/service_tables.h"
#include "core/agent/unit_checks.h"
#include "core/agent/unit_slot.h"
#include "platform/platform.h"

namespace hprof {

namespace {

template <auto kMember>
struct Checked;

// The checking function for one function of a service.
template <class Table, class Result, class... A, Result (*Table::*kMember)(const hprof_host*, A...)>
struct Checked<kMember> {
  using Service = Table;
  inline static Result (*real)(const hprof_host*, A...) = nullptr;
  inline static const char* name = nullptr;
  inline static uint32_t allowed = 0;

  static Result call(const hprof_host* host, A... arguments) {
    check_tags(*slot_of(host), allowed, name);
    return real(host, arguments...);
  }
};

template <auto kMember>
void check(typename Checked<kMember>::Service& table, const char* name, uint32_t allowed) {
  using Own = Checked<kMember>;
  if (table.*kMember == nullptr) return;
  Own::real = table.*kMember;
  Own::name = name;
  Own::allowed = allowed;
  table.*kMember = &Own::call;
}

#define HPROF_ROW(service, function, allowed)                     \
  if constexpr (std::is_same_v<Table, hprof_##service##_service>) \
  check<&hprof_##service##_service::function>(table, #service "." #function, allowed)

constexpr uint32_t kBoth = tag::kOnLoad | tag::kControl;
constexpr uint32_t kJava = tag::kApp | tag::kControl;
constexpr uint32_t kBlocks = kBoth | tag::kApp | tag::kHeap | tag::kWriter;
constexpr uint32_t kSink = kBoth | tag::kWriter;

// Each function of a service, and where it may be called.
template <class Table>
void add_checks(Table& table) {
  HPROF_ROW(log, message, kBoth | tag::kWriter | tag::kApp);
  HPROF_ROW(log, detail, kBoth | tag::kWriter | tag::kApp);
  HPROF_ROW(log, loss_counter, kBoth);
  if constexpr (std::is_same_v<Table, hprof_mem_service>) guard_memory(&table);
  HPROF_ROW(mem, allocate, kBlocks);
  HPROF_ROW(mem, release, kBlocks);
  HPROF_ROW(mem, reserve, kBoth | tag::kWriter);
  HPROF_ROW(mem, unreserve, kBoth | tag::kWriter);
  HPROF_ROW(mem, charge, kBlocks);
  HPROF_ROW(mem, uncharge, kBlocks);
  HPROF_ROW(clock, utc_offset, tag::kAnyButSignal);
  HPROF_ROW(emit, event, tag::kApp | tag::kGc | tag::kControl);
  HPROF_ROW(emit, write, tag::kReport | tag::kHeap);
  HPROF_ROW(emit, define, tag::kReport);
  HPROF_ROW(emit, progress, tag::kReport | tag::kHeap);
  HPROF_ROW(emit, kind, kBoth);
  HPROF_ROW(ids, string, kJava | tag::kOnLoad);
  HPROF_ROW(ids, trace, kJava | tag::kOnLoad);
  HPROF_ROW(ids, synthetic_frame, kJava | tag::kOnLoad);
  HPROF_ROW(ids, frame, kJava);
  HPROF_ROW(ids, class_serial, kJava);
  HPROF_ROW(ids, string_text, tag::kAnyButSignal);
  HPROF_ROW(ids, class_info, tag::kAnyButSignal);
  HPROF_ROW(ids, method_info, tag::kAnyButSignal);
  HPROF_ROW(ids, frame_info, tag::kAnyButSignal);
  HPROF_ROW(ids, trace_info, tag::kAnyButSignal);
  HPROF_ROW(ids, thread_info, tag::kAnyButSignal);
  HPROF_ROW(ids, dumped_class, tag::kControl);
  HPROF_ROW(io, create_file, kSink);
  HPROF_ROW(io, connect, kSink);
  HPROF_ROW(io, write, kSink);
  HPROF_ROW(io, read, kSink);
  HPROF_ROW(io, close, kSink);
  HPROF_ROW(io, remove, kSink);
  HPROF_ROW(io, timestamp, kSink);
  HPROF_ROW(io, write_at, kSink);
  HPROF_ROW(io, rename, kSink);
  HPROF_ROW(io, share, kSink);
  HPROF_ROW(io, absolute_path, kSink);
  HPROF_ROW(io, prove, kSink);
  HPROF_ROW(threads, start, tag::kControl);
  HPROF_ROW(threads, stop, tag::kControl);
  HPROF_ROW(threads, each, tag::kControl);
  HPROF_ROW(threads, serial_of, kJava);
  HPROF_ROW(threads, pause, kJava);
  HPROF_ROW(context, enable, tag::kOnLoad);
  HPROF_ROW(context, set, tag::kApp);
  HPROF_ROW(accounting, column, tag::kAnyButSignal);
  HPROF_ROW(accounting, start, tag::kControl);
  HPROF_ROW(accounting, read, kJava);
  HPROF_ROW(sampling, install, tag::kControl);
  HPROF_ROW(sampling, uninstall, tag::kControl);
  HPROF_ROW(sampling, start, kJava);
  HPROF_ROW(sampling, stop, kJava);
  HPROF_ROW(sampling, guarded, tag::kSignal);
  HPROF_ROW(sampling, read_registers, tag::kSignal);
  HPROF_ROW(sampling, write_registers, tag::kSignal);
  HPROF_ROW(sampling, timer_number, kJava);
  HPROF_ROW(sampling, set_interval, tag::kSignal);
  HPROF_ROW(sampling, is_blocked, tag::kAnyButSignal);
  HPROF_ROW(sampling, add_moments, kJava);
  HPROF_ROW(sampling, signal_after, tag::kSignal);
  HPROF_ROW(sampling, interrupted_call, tag::kSignal);
  HPROF_ROW(sampling, each_thread, tag::kAnyButSignal);
  HPROF_ROW(probes, ask, tag::kOnLoad);
  HPROF_ROW(probes, start, kJava);
  HPROF_ROW(probes, stop, kJava);
  HPROF_ROW(probes, frame, tag::kControl);
  HPROF_ROW(probes, each_left, tag::kControl);
  HPROF_ROW(probes, totals, tag::kControl);
  HPROF_ROW(probes, redefinitions, tag::kControl);
  HPROF_ROW(class_file, handle, tag::kOnLoad);
  HPROF_ROW(library, open, kBoth);
  HPROF_ROW(library, symbol, kBoth);
  HPROF_ROW(vm_dump, available, tag::kControl);
  HPROF_ROW(vm_dump, run, tag::kControl);
  HPROF_ROW(output, hide_thread_names, tag::kOnLoad);
  HPROF_ROW(output, set_only_table, tag::kOnLoad);
  HPROF_ROW(foreign_dump, is_taken, kBoth);
  HPROF_ROW(vm_flags, read, kBoth);
  HPROF_ROW(vm_counts, collections, tag::kControl);
  HPROF_ROW(vm_counts, unloads, tag::kControl);
  HPROF_ROW(code, be_precise, tag::kOnLoad);
  HPROF_ROW(code, async_get_call_trace, tag::kControl);
  HPROF_ROW(code, method_at, tag::kSignal);
  HPROF_ROW(objects, header, tag::kControl);
  HPROF_ROW(objects, places, tag::kControl);
  HPROF_ROW(objects, watch_natives, tag::kControl);
  HPROF_ROW(objects, quiet_allocate_instance, tag::kControl);
  HPROF_ROW(thread_context, open, tag::kControl);
  HPROF_ROW(thread_context, clear, tag::kControl);
  HPROF_ROW(thread_context, find_variable, tag::kControl);
  HPROF_ROW(walk, open, tag::kControl);
  HPROF_ROW(walk, open_interrupted, tag::kControl);
  HPROF_ROW(weaks, are_gone, tag::kControl);
  HPROF_ROW(weaks, prove_addresses, tag::kControl);
  HPROF_ROW(weaks, address, tag::kControl | tag::kHeap);
  HPROF_ROW(weaks, open_reuse, kBoth);
}

#undef HPROF_ROW

// A copy of the table with checks, made once; other callers wait for it.
template <class Table>
const void* copy_with_checks(const void* table) {
  enum : uint32_t { kNone, kBegun, kMade };
  static Table made;
  static std::atomic<uint32_t> state{kNone};
  uint32_t none = kNone;
  if (state.compare_exchange_strong(none, kBegun)) {
    made = *static_cast<const Table*>(table);
    add_checks(made);
    state.store(kMade, std::memory_order_release);
  }
  while (state.load(std::memory_order_acquire) != kMade) platform::sleep_ns(platform::kNanosPerMilli);
  return &made;
}

const struct {
  const char* id;
  const void* (*copy)(const void* table);
} kCopies[] = {
    {HPROF_SERVICE_LOG, &copy_with_checks<hprof_log_service>},
    {HPROF_SERVICE_MEM, &copy_with_checks<hprof_mem_service>},
    {HPROF_SERVICE_CLOCK, &copy_with_checks<hprof_clock_service>},
    {HPROF_SERVICE_EMIT, &copy_with_checks<hprof_emit_service>},
    {HPROF_SERVICE_IDS, &copy_with_checks<hprof_ids_service>},
    {HPROF_SERVICE_IO, &copy_with_checks<hprof_io_service>},
    {HPROF_SERVICE_THREADS, &copy_with_checks<hprof_threads_service>},
    {HPROF_SERVICE_CONTEXT, &copy_with_checks<hprof_context_service>},
    {HPROF_SERVICE_ACCOUNTING, &copy_with_checks<hprof_accounting_service>},
    {HPROF_SERVICE_SAMPLING, &copy_with_checks<hprof_sampling_service>},
    {HPROF_SERVICE_PROBES, &copy_with_checks<hprof_probes_service>},
    {HPROF_SERVICE_CLASS_FILE, &copy_with_checks<hprof_class_file_service>},
    {HPROF_SERVICE_LIBRARY, &copy_with_checks<hprof_library_service>},
    {HPROF_SERVICE_VM_DUMP, &copy_with_checks<hprof_vm_dump_service>},
    {HPROF_SERVICE_OUTPUT, &copy_with_checks<hprof_output_service>},
    {HPROF_SERVICE_MACHINE, &copy_with_checks<hprof_machine_service>},
    {HPROF_SERVICE_FOREIGN_DUMP, &copy_with_checks<hprof_foreign_dump_service>},
    {HPROF_SERVICE_VM_FLAGS, &copy_with_checks<hprof_vm_flags_service>},
    {HPROF_SERVICE_VM_COUNTS, &copy_with_checks<hprof_vm_counts_service>},
    {HPROF_SERVICE_CODE, &copy_with_checks<hprof_code_service>},
    {HPROF_SERVICE_OBJECTS, &copy_with_checks<hprof_objects_service>},
    {HPROF_SERVICE_WALK, &copy_with_checks<hprof_walk_service>},
    {HPROF_SERVICE_THREAD_CONTEXT, &copy_with_checks<hprof_thread_context_service>},
    {HPROF_SERVICE_WEAKS, &copy_with_checks<hprof_weaks_service>},
};

}  // namespace

const void* checked_service(const char* id, const void* table) {
  if (table == nullptr) return nullptr;
  for (const auto& row : kCopies) {
    if (strcmp(row.id, id) == 0) return row.copy(table);
  }
  return table;  // jvm: allowed anywhere
}

}  // namespace hprof
