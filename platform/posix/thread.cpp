// Native threads.
#include "platform/thread.h"

#include <errno.h>
#include <initializer_list>
#include <limits.h>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/posix/port.h"
#include "platform/posix/timespec.h"

namespace hprof::platform {
namespace {

// Owned by the thread and its Thread object; the last one frees it.
struct Control {
  pthread_t thread;
  void (*run)(void*);
  void* argument;
  char name[32];
  Event done;
  std::atomic<int> holders;
};

void let_go(Control* control) {
  if (control->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  control->~Control();
  deallocate(control);
}

void* thread_main(void* argument) {
  Control* control = static_cast<Control*>(argument);
  name_current_thread(control->name);
  control->run(control->argument);
  control->done.signal();
  let_go(control);
  return nullptr;
}

size_t usable_stack(size_t wanted) {
  // The C library puts static TLS, which may be large, on the stack. (Asked for by number: the macro
  // PTHREAD_STACK_MIN calls a function that only glibc has.)
  const long smallest = sysconf(_SC_THREAD_STACK_MIN);
  const size_t least = (smallest > 0 ? static_cast<size_t>(smallest) : 16 * 1024) + 64 * 1024;
  const size_t mask = page_size() - 1;
  return ((wanted < least ? least : wanted) + mask) & ~mask;
}

int create_with_signals_blocked(Control* control, size_t stack_bytes) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  if (stack_bytes) pthread_attr_setstacksize(&attributes, usable_stack(stack_bytes));
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  error = pthread_create(&control->thread, &attributes, thread_main, control);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

int Thread::start(const char* name, size_t stack_bytes, void (*run)(void*), void* argument) {
  if (control_) return EBUSY;
  void* memory = allocate_zeroed(sizeof(Control));
  if (!memory) return kErrorNoMemory;
  Control* control = new (memory) Control();
  control->run = run;
  control->argument = argument;
  strncpy(control->name, name, sizeof control->name - 1);
  control->holders.store(2, std::memory_order_relaxed);
  const int error = create_with_signals_blocked(control, stack_bytes);
  if (error) {
    control->holders.store(1, std::memory_order_relaxed);
    let_go(control);
    return error;
  }
  control_ = control;
  return 0;
}

bool Thread::join(int64_t deadline_ns) {
  Control* control = static_cast<Control*>(control_);
  if (!control) return true;
  if (!control->done.wait(deadline_ns)) return false;
  pthread_join(control->thread, nullptr);
  let_go(control);
  control_ = nullptr;
  return true;
}

void Thread::detach() {
  Control* control = static_cast<Control*>(control_);
  if (!control) return;
  pthread_detach(control->thread);
  let_go(control);
  control_ = nullptr;
}

void sleep_ns(int64_t nanoseconds) {
  timespec left = timespec_of(nanoseconds);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace hprof::platform
