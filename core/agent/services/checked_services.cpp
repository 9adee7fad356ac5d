// The functions that check the thread tags of functions.def before each call.
#include "core/agent/services/checked_services.h"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "core/agent/services/service_tables.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/unit_slot.h"
#include "platform/platform.h"

namespace hprof {

namespace {

// The words of functions.def.
constexpr uint32_t onload = tag::kOnLoad, control = tag::kControl, report = tag::kReport, app = tag::kApp,
                   gc = tag::kGc, heap = tag::kHeap, writer = tag::kWriter, signal = tag::kSignal,
                   any_but_signal = tag::kAnyButSignal, any = UINT32_MAX;

// Nothing is checked of a function without a host.
template <auto kMember>
struct Checked {
  template <class Table>
  static void put(Table*, const char*, uint32_t) {}
};

// The checking function for one function of a service.
template <class Table, class Result, class... A, Result (*Table::*kMember)(const hprof_host*, A...)>
struct Checked<kMember> {
  inline static Result (*real)(const hprof_host*, A...) = nullptr;
  inline static const char* name = nullptr;
  inline static uint32_t allowed = 0;

  static Result call(const hprof_host* host, A... arguments) {
    check_tags(*slot_of(host), allowed, name);
    return real(host, arguments...);
  }
  static void put(Table* table, const char* of, uint32_t tags) {
    if (table->*kMember == nullptr || tags == any) return;
    real = table->*kMember;
    name = of;
    allowed = tags;
    table->*kMember = &call;
  }
};

template <class Table>
void add_checks(Table& table) {
  if constexpr (std::is_same_v<Table, hprof_mem_service>) guard_memory(&table);
#define HPROF_FUNCTION(service, function, tags)                   \
  if constexpr (std::is_same_v<Table, hprof_##service##_service>) \
    Checked<&hprof_##service##_service::function>::put(&table, #service "." #function, tags);
#include <hprof/service/functions.def>
#undef HPROF_FUNCTION
}

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
