// Turns SIGSEGV and SIGBUS in a guarded read or a guarded call into a result.
//
// A running guarded call is an entry in a fixed table, found by thread id within a few places from its hash.
// Only the thread itself writes and removes its id, and its signal handlers run nested, so its entry does not
// change unexpectedly; other threads skip it, or claim it while it is free.
#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>

#include "platform/guarded_read.h"
#include "platform/posix/signal_hook.h"
#include "platform/sampling.h"

namespace hprof::platform {
namespace {

struct Frame {
  sigjmp_buf jump;
  Frame* outer;
};

struct Entry {
  std::atomic<uint32_t> thread;
  std::atomic<Frame*> top;
};

constexpr uint32_t kEntries = 1024;
constexpr uint32_t kReach = 32;  // entries searched from the hash on

Entry entries[kEntries];
std::atomic<uint32_t> running;          // claimed entries; 0: a fault passes without a search
std::atomic<uint32_t> users;            // uses of the guard
std::atomic<GuardedReads*> more_reads;  // of other libraries
SignalHook hooks[2];

uint32_t place_of(uint32_t thread) { return thread * 2654435761u; }

Entry* find_entry(uint32_t thread) {
  const uint32_t start = place_of(thread);
  for (uint32_t i = 0; i < kReach; ++i) {
    Entry& entry = entries[(start + i) % kEntries];
    if (entry.thread.load(std::memory_order_relaxed) == thread) return &entry;
  }
  return nullptr;
}

Entry* claim_entry(uint32_t thread) {
  const uint32_t start = place_of(thread);
  for (uint32_t i = 0; i < kReach; ++i) {
    Entry& entry = entries[(start + i) % kEntries];
    uint32_t nobody = 0;
    if (entry.thread.compare_exchange_strong(nobody, thread, std::memory_order_acquire)) {
      running.fetch_add(1, std::memory_order_relaxed);
      return &entry;
    }
  }
  return nullptr;
}

void release_entry(Entry* entry) {
  running.fetch_sub(1, std::memory_order_relaxed);
  entry->thread.store(0, std::memory_order_release);
}

uint64_t place_at(const int32_t& distance) {
  return reinterpret_cast<uintptr_t>(&distance) + static_cast<uint64_t>(int64_t{distance});
}

bool skip_read_of(GuardedReads& reads, MachineRegisters* registers) {
  for (const GuardedPlace* place = reads.from; place != reads.to; ++place) {
    if (place_at(place->load) != registers->pc) continue;
    reads.faults.fetch_add(1, std::memory_order_relaxed);
    registers->pc = place_at(place->behind);
    return true;
  }
  return false;
}

// True: the fault was in a guarded read, which yields 0.
bool skip_guarded_read(void* context) {
  MachineRegisters registers;
  if (!kReadsAreGuarded || !read_registers(context, &registers)) return false;
  bool skipped = skip_read_of(*own_guarded_reads(), &registers);
  GuardedReads* reads = more_reads.load(std::memory_order_acquire);
  for (; reads != nullptr && !skipped; reads = reads->next) skipped = skip_read_of(*reads, &registers);
  if (skipped) write_registers(context, registers);
  return skipped;
}

// Returns only if the fault belongs to no guarded call.
void end_guarded_call(void* context) {
  Entry* entry = find_entry(static_cast<uint32_t>(current_thread_id()));
  Frame* frame = entry ? entry->top.load(std::memory_order_relaxed) : nullptr;
  if (!frame) return;
  entry->top.store(frame->outer, std::memory_order_relaxed);
  // The handler ends by a jump, so it restores the signal mask as the kernel would.
  pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  siglongjmp(frame->jump, 1);
}

void on_fault(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  const bool sent = info->si_code <= 0;  // by kill() or another thread; not a fault of this code
  if (!sent && skip_guarded_read(context)) return;
  if (!sent && running.load(std::memory_order_relaxed) != 0) end_guarded_call(context);
  errno = kept;
  const SignalHook& hook = hooks[number == SIGSEGV ? 0 : 1];
  if (hook_forward(hook, info, context)) return;
  // Default or ignored: after this the instruction faults again, and the kernel handles it.
  sigaction(number, &hook.now().previous, nullptr);
  if (sent) raise(number);
}

// A separate function, so that the caller keeps nothing in registers across the jump.
__attribute__((noinline)) bool call_in_frame(Entry* entry, void (*fn)(void*), void* argument) {
  Frame frame;
  frame.outer = entry->top.load(std::memory_order_relaxed);
  if (sigsetjmp(frame.jump, 0) != 0) return false;
  // Only this thread's own signal handler reads `top`: a compiler barrier is enough.
  entry->top.store(&frame, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  fn(argument);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry->top.store(frame.outer, std::memory_order_relaxed);
  return true;
}

}  // namespace

int install_fault_guard() {
  int error = hook_install(&hooks[0], SIGSEGV, on_fault, true);
  if (!error) error = hook_install(&hooks[1], SIGBUS, on_fault, true);
  users.fetch_add(1);
  if (error) uninstall_fault_guard();
  return error;
}

void uninstall_fault_guard() {
  if (users.fetch_sub(1) != 1) return;
  for (SignalHook& hook : hooks) hook_remove(&hook, on_fault, false);
}

void add_guarded_reads(GuardedReads* reads) {
  if (reads == own_guarded_reads()) return;
  GuardedReads* const first = more_reads.load(std::memory_order_relaxed);
  for (GuardedReads* each = first; each != nullptr; each = each->next) {
    if (each == reads) return;
  }
  reads->next = first;
  more_reads.store(reads, std::memory_order_release);
}

bool guarded_call(void (*fn)(void* argument), void* argument) {
  if (users.load(std::memory_order_relaxed) == 0) {
    fn(argument);
    return true;
  }
  const uint32_t thread = static_cast<uint32_t>(current_thread_id());
  Entry* const found = find_entry(thread);
  Entry* const entry = found ? found : claim_entry(thread);
  if (!entry) return false;
  const int kept = errno;
  const bool returned = call_in_frame(entry, fn, argument);
  if (!returned) errno = kept;
  if (!found) release_entry(entry);
  return returned;
}

}  // namespace hprof::platform
