// Sampling by signal: per-thread CPU timers, the handler for their signal, and calls that survive a bad
// pointer.
//
// A sample handler runs on the thread that used the CPU, at any point of it: inside malloc, holding any lock,
// half way through a stack frame. Inside it only what is tagged [signal] may be called, of this folder and of
// all others.
#pragma once

#include <cstdint>

#include "platform/process.h"

namespace hprof::platform {

// This OS has CPU timers per thread whose signal is delivered to that thread. Where 64-bit atomics take
// locks, a signal handler could wait for the thread that it interrupts.
#if defined(__linux__) && !defined(HPROF_LOCKED_ATOMICS)
constexpr bool kHasCpuTimers = true;
#else
constexpr bool kHasCpuTimers = false;
#endif

// A timer that runs on the CPU clock (user and system) of one thread and signals that thread. A plain value;
// the functions below are for one thread at a time.
struct CpuTimer {
  intptr_t id = -1;    // the kernel's number
  uint32_t place = 0;  // the port's own
  bool is_created() const { return id != -1; }
};

// Creates a stopped timer for a live thread of this process, which may be another than the caller. `value` is
// passed to the sample handler and must stay valid until the timer is deleted and running calls of the
// handler have ended. Install the handler first. A timer stops when its thread ends, but must still be
// deleted. [any]
int cpu_timer_create(CpuTimer* timer, NativeThread thread, void* value);
// True: the error of cpu_timer_create or cpu_timer_start says that the system refuses timers (a limit,
// rights, no such call). False: the thread has ended.
bool is_refusal_of_timers(int error);

// Starts the timer or changes its interval: it expires after each `interval_ns` of the thread's CPU time. The
// kernel checks it at its ticks only (4 ms with CONFIG_HZ=250), and delivers several expirations as one
// signal with an overrun count. [signal]
int cpu_timer_start(CpuTimer timer, int64_t interval_ns);
int cpu_timer_tick(CpuTimer timer);     // expires once, immediately [signal]
int cpu_timer_delete(CpuTimer* timer);  // not created: nothing [any]

// Creates a stopped timer of elapsed time, which the kernel serves at any moment, not at its ticks only, for
// the same handler. Its signal may meet the thread in a system call and end that, so machines that do not
// tell have none. [any]
int moment_timer_create(CpuTimer* timer, NativeThread thread, void* value);
// Lets it expire once, in `wait_ns`. [signal]
int moment_timer_start(CpuTimer timer, int64_t wait_ns);

// The time between two ticks of the kernel; 0: not known. [any]
int64_t tick_length_ns();

// True: that thread blocks the signal of CPU timers now. False: not, or not known. [any]
bool blocks_cpu_timers(NativeThread thread);

// Gets the timer's value, the interrupted machine context (ucontext_t*) and the number of further expirations
// in this signal: a sample weighs 1 + overrun intervals. errno is kept. It is not interrupted by a second
// tick. [signal]
using SampleHandler = void (*)(void* value, void* machine_context, uint32_t overrun);

// Installs `handler` for SIGPROF, with system calls of the application restarted. Only signals of timers made
// here reach it, recognised by the kernel's timer number; others (another profiler's timers, kill, sigqueue)
// go to the previous handler, or are dropped if there was none. A second call replaces the handler. [any]
int install_sample_handler(SampleHandler handler);

// Delete the timers first. Afterwards no call to the handler begins, though one that began may still run.
// Restores the previous handler unless a later one was installed; instead of the default, which would end the
// process at a late tick, the signal is ignored from now on. [any]
void uninstall_sample_handler();

// The registers that a stack walk starts from. link: the return address register, 0 on machines that return
// through the stack. Of HotSpot, 0 but on x86-64 and aarch64, and not written: the interpreter's position in
// the bytecode, the stack pointer of a caller (old_sender: up to JDK 19), and a return address that code of
// the VM keeps in a register.
struct MachineRegisters {
  uint64_t pc, sp, fp, link;
  uint64_t bytecode = 0, sender = 0, old_sender = 0, kept = 0;
};

// The registers of an interrupted context. False: not known on this machine; then write_registers does
// nothing. The interrupted code goes on with what is written. [signal]
bool read_registers(const void* machine_context, MachineRegisters* registers);
void write_registers(void* machine_context, const MachineRegisters& registers);

// The kernel stacks the frames of signals that it delivers together: each interrupts the handler of the one
// before at its first instruction. Returns the context that such handlers interrupted; `machine_context`
// itself if it is of other code, or if that is not known on this machine. [signal]
void* below_signal_frames(void* machine_context);

// What a signal does to the system call that its thread was in: the kernel restarts it afterwards, or it has
// ended with EINTR. kNone also where it is not known. [signal]
enum class InterruptedCall : uint32_t { kNone, kRestarts, kEnded };
InterruptedCall interrupted_call(const void* machine_context);
bool knows_interrupted_calls();  // of this machine [any]

// The guard against memory faults: of guarded calls, and of guarded reads (guarded_read.h).

// Installs handlers of SIGSEGV and SIGBUS with the flags and the signal mask of the previous ones. Each user
// calls it; 0: installed. Call it after the VM has installed its own (VMInit), which would replace these.
// With -Xcheck:jni the VM prints a warning, once. One thread at a time. [any]
int install_fault_guard();

// The last user's call restores the previous handlers, unless later ones were installed. No guarded call or
// read of this user may run. One thread at a time, after an install_fault_guard() that returned 0. [any]
void uninstall_fault_guard();

// Calls fn(argument). True: it returned. False: it faulted (SIGSEGV or SIGBUS on this thread), or too many
// guarded calls were running (dozens at least) and it was not called. A fault undoes nothing that fn did: it
// must hold no lock and own nothing. The signal mask is restored. Calls may nest. Faults outside of a guarded
// call go to the previous handler unchanged. Without an installed guard fn is called unguarded. [signal]
//
// The state of a running call is found by thread id in a fixed table: thread_local would need either
// allocation in the handler (dynamic TLS) or space that musl does not give to a library loaded by dlopen
// (initial-exec), and setting a pthread key may allocate.
bool guarded_call(void (*fn)(void* argument), void* argument);

}  // namespace hprof::platform
