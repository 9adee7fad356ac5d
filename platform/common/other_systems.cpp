// For systems other than Linux: refuses what only Linux has.
#include "platform/common/text.h"
#include "platform/error.h"
#include "platform/native_code.h"
#include "platform/sampling.h"
#include "platform/thread.h"
#include "platform/thread_variable.h"
#include "platform/vm_dump.h"

namespace hprof::platform {

// Barriers on all threads.
bool prepare_barriers() { return false; }
bool barrier_on_all_threads() { return false; }

// Symbol tables of libraries.
uint64_t library_changes() { return 0; }
bool find_library(uint64_t, LoadedLibrary*, SymbolTable*) { return false; }
void close_symbols(SymbolTable*) {}
bool symbol_at(const SymbolTable&, uint32_t, Symbol*) { return false; }

// Variables of a thread in libraries.
bool find_thread_variable(const char*, ThreadVariable*) { return false; }
const void* thread_variable(const ThreadVariable&) { return nullptr; }

// Registers of interrupted code.
bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}
void* below_signal_frames(void* machine_context) { return machine_context; }
InterruptedCall interrupted_call(const void*) { return InterruptedCall::kNone; }
bool knows_interrupted_calls() { return false; }

// CPU timers that signal a certain thread: the JVMTI engine samples instead.
int cpu_timer_create(CpuTimer* timer, NativeThread, void*) {
  *timer = CpuTimer{};
  return kErrorUnsupported;
}

bool is_refusal_of_timers(int) { return true; }
int cpu_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int cpu_timer_tick(CpuTimer) { return kErrorUnsupported; }
int cpu_timer_delete(CpuTimer*) { return 0; }
int moment_timer_create(CpuTimer*, NativeThread, void*) { return kErrorUnsupported; }
int moment_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int64_t tick_length_ns() { return 0; }
bool blocks_cpu_timers(NativeThread) { return false; }

// The VM's own heap dumper: the agent walks the heap itself.
int vm_heap_dump_available(char* reason, size_t reason_size) {
  copy_text("not on this system", reason, reason_size);
  return kErrorUnsupported;
}

int vm_heap_dump(bool, bool, VmDumpTaker, VmDumpGivesUp, void*, uint8_t*, size_t, char* reason,
                 size_t reason_size) {
  return vm_heap_dump_available(reason, reason_size);
}

}  // namespace hprof::platform
