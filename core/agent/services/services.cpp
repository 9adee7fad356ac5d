// The service tables that units get: log, mem, clock, emit, jvm. The others are in services_ids.cpp,
// services_threads.cpp and services_io.cpp.
#include <cstring>

#include "core/agent/services/checked_services.h"
#include "core/agent/services/service_tables.h"
#include "core/agent/session/log.h"
#include "core/agent/session/memory_plan.h"
#include "core/agent/session/reports.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/record_check.h"
#include "core/vm_tables/hotspot_table.h"

namespace hprof {

namespace {

const SessionParts& parts_of(const hprof_host* host) { return *slot_of(host)->parts; }

const hprof_log_service kLog = {
    sizeof(hprof_log_service),
    0,
    [](const hprof_host* host, const char* text) {
      char room[kLogTextMost];
      if (!is_gone(*slot_of(host))) parts_of(host).log.say(check_text(*slot_of(host), text, room));
    },
    [](const hprof_host* host, const char* text) {
      char room[kLogTextMost];
      if (!is_gone(*slot_of(host))) parts_of(host).log.detail(check_text(*slot_of(host), text, room));
    },
    [](const hprof_host* host, const char* what) {
      char room[kLogTextMost];
      return parts_of(host).losses.counter(Str(check_text(*slot_of(host), what, room)));
    },
};

// The VM walks the heap on threads that JNI does not know.
MemoryAccount::Share share_of(const SessionParts& parts) {
  return parts.turn.is_taken() ? parts.turn.share(parts.jni() == nullptr) : MemoryAccount::kRest;
}

void* allocate(const hprof_host* host, uint64_t bytes) {
  if (is_gone(*slot_of(host))) return nullptr;
  const SessionParts& parts = parts_of(host);
  if (void* block = parts.memory.allocate(bytes)) return block;
  const MemoryAccount::Share share = share_of(parts);
  return share != MemoryAccount::kRest ? parts.memory.allocate(bytes, share) : nullptr;
}

// With a fixed budget, reserve() has charged it.
uint32_t charge(const hprof_host* host, uint64_t bytes) {
  const SessionParts& parts = parts_of(host);
  if (parts.memory.is_fixed() || parts.memory.charge(bytes)) return 1;
  const MemoryAccount::Share share = share_of(parts);
  return share != MemoryAccount::kRest && parts.memory.charge(bytes, share) ? 1 : 0;
}

const hprof_mem_service kMem = {
    sizeof(hprof_mem_service),
    0,
    allocate,
    [](const hprof_host* host, void* memory, uint64_t bytes) {
      parts_of(host).memory.release(memory, bytes);
    },
    [](const hprof_host* host, uint64_t bytes) {
      return is_gone(*slot_of(host)) ? nullptr : parts_of(host).memory.reserve(bytes);
    },
    [](const hprof_host* host, void* memory, uint64_t bytes) {
      parts_of(host).memory.unreserve(memory, bytes);
    },
    charge,
    [](const hprof_host* host, uint64_t bytes) {
      MemoryAccount& memory = parts_of(host).memory;
      if (!memory.is_fixed()) memory.uncharge(bytes);
    },
};

const hprof_clock_service kClock = {
    sizeof(hprof_clock_service),
    0,
    [](const hprof_host*) { return static_cast<uint64_t>(platform::monotonic_ns()); },
    [](const hprof_host*) { return static_cast<uint64_t>(platform::wall_ms()); },
    [](const hprof_host*, uint64_t os_id) {
      int64_t ns = os_id == 0 ? platform::thread_cpu_ns()
                              : platform::thread_cpu_ns(static_cast<platform::NativeThread>(os_id));
      return ns < 0 ? UINT64_MAX : static_cast<uint64_t>(ns);
    },
    [](const hprof_host*) {
      int64_t ns = platform::process_cpu_ns();
      return ns < 0 ? UINT64_MAX : static_cast<uint64_t>(ns);
    },
    [](const hprof_host*) { return platform::is_cpu_counter_trusted() ? platform::cpu_counter() : 0; },
    [](const hprof_host*, uint64_t wall_ms) { return platform::utc_offset_s(static_cast<int64_t>(wall_ms)); },
};

// --- emit

bool is_left_out(const UnitSlot& slot, const hprof_record& record) {
  if (is_events(record)) return slot.parts->settings.events == 0;
  return slot.optional.takes(record) && !slot.parts->pipeline.takes(record);
}

const hprof_emit_service kEmit = {
    sizeof(hprof_emit_service),
    0,
    [](const hprof_host* host, const hprof_record* record) -> hprof_status {
      if (is_gone(*slot_of(host))) return HPROF_DROPPED;
      if (!check_record(*slot_of(host), record)) return HPROF_FAILED;
      return is_left_out(*slot_of(host), *record) ? HPROF_OK : parts_of(host).pipeline.event(record);
    },
    [](const hprof_host* host, hprof_record* record) -> hprof_status {
      if (is_gone(*slot_of(host))) return HPROF_ABORTED;
      if (!check_record(*slot_of(host), record)) return HPROF_FAILED;
      return is_left_out(*slot_of(host), *record) ? HPROF_OK
                                                  : parts_of(host).reports.write(*slot_of(host), record);
    },
    [](const hprof_host* host, uint32_t kind, uint32_t id) -> hprof_status {
      if (is_gone(*slot_of(host))) return HPROF_ABORTED;
      return parts_of(host).reports.is_reporting(*slot_of(host)) ? parts_of(host).pipeline.define(kind, id)
                                                                 : HPROF_FAILED;
    },
    [](const hprof_host* host) { parts_of(host).pipeline.count_progress(); },
    [](const hprof_host* host, const char* name) { return parts_of(host).kinds.number(name); },
};

const hprof_jvm_service kJvm = {
    sizeof(hprof_jvm_service),
    0,
    [](const hprof_host* host) -> void* { return is_gone(*slot_of(host)) ? nullptr : parts_of(host).vm; },
    [](const hprof_host* host) -> void* { return is_gone(*slot_of(host)) ? nullptr : parts_of(host).jvmti; },
    [](const hprof_host* host) -> void* { return is_gone(*slot_of(host)) ? nullptr : parts_of(host).jni(); },
};

const hprof_output_service kOutput = {
    sizeof(hprof_output_service),
    0,
    [](const hprof_host* host) { parts_of(host).threads.hide_names(); },
    [](const hprof_host* host, const char* name) { parts_of(host).pipeline.set_only_table(name); },
};

const hprof_machine_service kMachine = {
    sizeof(hprof_machine_service),
    0,
    [](const hprof_host*, uint64_t* busy, uint64_t* all) {
      return platform::machine_cpu(busy, all) ? 1u : 0u;
    },
};

const hprof_foreign_dump_service kForeignDump = {
    sizeof(hprof_foreign_dump_service),
    0,
    [](const hprof_host* host, uint32_t streams) {
      const OutputPlan& outputs = parts_of(host).units.outputs();
      // To put those of several streams in order, the sink must have patch.
      return outputs.takes_foreign_dumps && (streams == 1 || outputs.patches) ? 1u : 0u;
    },
};

struct ServiceRow {
  char id[32];        // no pointer, which would need a relocation
  const void* table;  // nullptr: not in this build
};
const ServiceRow kServices[] = {
    {HPROF_SERVICE_LOG, &kLog},
    {HPROF_SERVICE_MEM, &kMem},
    {HPROF_SERVICE_CLOCK, &kClock},
    {HPROF_SERVICE_IDS, &kIdsService},
    {HPROF_SERVICE_EMIT, &kEmit},
    {HPROF_SERVICE_JVM, &kJvm},
    {HPROF_SERVICE_THREADS, &kThreadsService},
    {HPROF_SERVICE_CONTEXT, &kContextService},
    {HPROF_SERVICE_IO, &kIoService},
    {HPROF_SERVICE_ACCOUNTING, kHasAccounting ? &kAccountingService : nullptr},
    {HPROF_SERVICE_SAMPLING, platform::kHasCpuTimers ? &kSamplingService : nullptr},
    {HPROF_SERVICE_PROBES, kHasBytecode ? &kProbesService : nullptr},
    {HPROF_SERVICE_CLASS_FILE, kHasBytecode ? &kClassFileService : nullptr},
    {HPROF_SERVICE_LIBRARY, kHasModules ? &kLibraryService : nullptr},
    {HPROF_SERVICE_OUTPUT, &kOutput},
    {HPROF_SERVICE_MACHINE, kHasMachine ? &kMachine : nullptr},
    {HPROF_SERVICE_FOREIGN_DUMP, kHasHeapDump ? &kForeignDump : nullptr},
    {HPROF_SERVICE_VM_FLAGS, &kVmFlagsService},
    {HPROF_SERVICE_CODE, &kCodeService},
};

// Services of the module hotspot.
constexpr char kOfHotSpot[][32] = {HPROF_SERVICE_WALK,    HPROF_SERVICE_OBJECTS,
                                   HPROF_SERVICE_WEAKS,   HPROF_SERVICE_VM_COUNTS,
                                   HPROF_SERVICE_VM_DUMP, HPROF_SERVICE_THREAD_CONTEXT};

const void* service_of_hotspot(HotSpot& hotspot, const char* id) {
  for (const auto& each : kOfHotSpot) {
    if (strcmp(each, id) != 0) continue;
    const HotSpotTable* module = hotspot.open_module();
    return module != nullptr ? module->service(id) : nullptr;
  }
  return nullptr;
}

const void* find_service(const hprof_host* host, const char* id) {
  if constexpr (kChecks) check_tags(*slot_of(host), tag::kAnyButSignal, "host.service");
  if (id == nullptr) return nullptr;
  const void* table = nullptr;
  for (const ServiceRow& row : kServices) {
    if (strcmp(row.id, id) == 0) table = row.table;
  }
  if (kHasHotSpotModule && table == nullptr) table = service_of_hotspot(hotspot_of(host), id);
  return kChecks ? checked_service(id, table) : table;
}

const void* find_extension(const hprof_host* host, const char* unit_id, const char* id) {
  if constexpr (kChecks) check_tags(*slot_of(host), tag::kAnyButSignal, "host.find_extension");
  return parts_of(host).setup.find_extension(unit_id, id);
}

}  // namespace

void make_host(UnitSlot& slot, const SessionParts& parts) {
  slot.parts = &parts;
  slot.hotspot = &parts.hotspot;
  slot.host = {sizeof(hprof_host), HPROF_ABI_MAJOR, HPROF_ABI_MINOR,
               &parts.settings,    &find_service,   &find_extension};
}

}  // namespace hprof
