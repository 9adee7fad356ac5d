// The service tables that units get: log, mem, clock, emit, jvm. The others are in services_ids.cpp,
// services_threads.cpp and services_io.cpp.
#include <cstring>

#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>

#include "core/agent/service_tables.h"
#include "core/agent/session.h"

namespace hprof {

namespace {

Session* session_of(const hprof_host* host) { return slot_of(host)->session; }

// --- log

const hprof_log_service kLog = {
    sizeof(hprof_log_service),
    0,
    [](const hprof_host* host, const char* text) { session_of(host)->say(text); },
    [](const hprof_host* host, const char* text) { session_of(host)->say_detail(text); },
    [](const hprof_host* host, const char* what) { return session_of(host)->losses().counter(Str(what)); },
};

// --- mem

const hprof_mem_service kMem = {
    sizeof(hprof_mem_service),
    0,
    [](const hprof_host* host, uint64_t bytes) { return session_of(host)->memory().allocate(bytes); },
    [](const hprof_host* host, void* memory, uint64_t bytes) {
      session_of(host)->memory().release(memory, bytes);
    },
    [](const hprof_host* host, uint64_t bytes) { return session_of(host)->memory().reserve(bytes); },
    [](const hprof_host* host, void* memory, uint64_t bytes) {
      session_of(host)->memory().unreserve(memory, bytes);
    },
};

// --- clock

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
};

// --- emit

const hprof_emit_service kEmit = {
    sizeof(hprof_emit_service),
    0,
    [](const hprof_host* host, const hprof_record* record) {
      return session_of(host)->pipeline().event(record);
    },
    [](const hprof_host* host, hprof_record* record) { return session_of(host)->pipeline().write(record); },
    [](const hprof_host* host, const hprof_schema* schema) {
      return session_of(host)->add_vendor_kind(schema);
    },
    [](const hprof_host* host, uint32_t kind, uint32_t id) {
      return session_of(host)->pipeline().define(kind, id);
    },
    [](const hprof_host* host) { return session_of(host)->pipeline().position(); },
    [](const hprof_host* host, uint64_t position, const void* bytes, uint64_t size) {
      return session_of(host)->pipeline().patch(position, bytes, size);
    },
};

// --- jvm

const hprof_jvm_service kJvm = {
    sizeof(hprof_jvm_service),
    0,
    [](const hprof_host* host) { return static_cast<void*>(session_of(host)->vm()); },
    [](const hprof_host* host) { return static_cast<void*>(session_of(host)->jvmti()); },
    [](const hprof_host* host) { return static_cast<void*>(session_of(host)->jni()); },
    [](const hprof_host* host, const char* name) { return session_of(host)->vm_symbol(name); },
    [](const hprof_host* host, uint64_t pc) {
      return session_of(host)->code_cache().method_at(static_cast<uintptr_t>(pc));
    },
};

const void* find_service(const hprof_host*, uint32_t id) {
  switch (id) {
    case HPROF_SERVICE_LOG:
      return &kLog;
    case HPROF_SERVICE_MEM:
      return &kMem;
    case HPROF_SERVICE_CLOCK:
      return &kClock;
    case HPROF_SERVICE_IDS:
      return ids_service();
    case HPROF_SERVICE_EMIT:
      return &kEmit;
    case HPROF_SERVICE_JVM:
      return &kJvm;
    case HPROF_SERVICE_THREADS:
      return threads_service();
    case HPROF_SERVICE_SAMPLING:
      return sampling_service();
    case HPROF_SERVICE_IO:
      return io_service();
    case HPROF_SERVICE_BYTECODE:
      return bytecode_service();
    case HPROF_SERVICE_VM_DUMP:
      return vm_dump_service();
    case HPROF_SERVICE_ACCOUNTING:
      return accounting_service();
    default:
      return nullptr;
  }
}

}  // namespace

void make_host(UnitSlot& slot, Session* session, const hprof_settings* settings) {
  slot.session = session;
  slot.host = {sizeof(hprof_host), HPROF_ABI_MAJOR, HPROF_ABI_MINOR, settings, &find_service};
}

}  // namespace hprof
