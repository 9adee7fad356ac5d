// Native threads.
#include "platform/thread.h"

#include <new>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/win32/wait.h"

namespace hprof::platform {
namespace {

// Owned by the Thread object until join or detach, and by the thread while it runs.
struct Control {
  HANDLE thread;
  void (*run)(void*);
  void* argument;
  wchar_t name[64];
  std::atomic<int> holders;
};

void let_go(Control* control) {
  if (control->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  CloseHandle(control->thread);
  control->~Control();
  deallocate(control);
}

// Only Windows 10 and later have names of threads.
void name_current_thread(const wchar_t* name) {
  using SetDescription = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  const FARPROC found = GetProcAddress(GetModuleHandleA("kernel32.dll"), "SetThreadDescription");
  if (found) reinterpret_cast<SetDescription>(reinterpret_cast<void*>(found))(GetCurrentThread(), name);
}

DWORD WINAPI thread_main(void* argument) {
  Control* control = static_cast<Control*>(argument);
  name_current_thread(control->name);
  control->run(control->argument);
  let_go(control);
  return 0;
}

}  // namespace

int Thread::start(const char* name, size_t stack_bytes, void (*run)(void*), void* argument) {
  if (control_) return ERROR_BUSY;
  void* memory = allocate_zeroed(sizeof(Control));
  if (!memory) return kErrorNoMemory;
  Control* control = new (memory) Control();
  control->run = run;
  control->argument = argument;
  for (size_t i = 0; name[i] && i < 63; ++i) control->name[i] = static_cast<unsigned char>(name[i]);
  control->holders.store(2, std::memory_order_relaxed);
  // Suspended until its handle is stored, since the thread may be the last owner.
  HANDLE thread =
      CreateThread(nullptr, stack_bytes, thread_main, control,
                   CREATE_SUSPENDED | (stack_bytes ? STACK_SIZE_PARAM_IS_A_RESERVATION : 0), nullptr);
  if (!thread) {
    const int error = last_error();
    control->~Control();
    deallocate(control);
    return error;
  }
  control->thread = thread;
  control_ = control;
  ResumeThread(thread);
  return 0;
}

bool Thread::join(int64_t deadline_ns) {
  Control* control = static_cast<Control*>(control_);
  if (!control) return true;
  while (WaitForSingleObject(control->thread, wait_milliseconds(deadline_ns)) != WAIT_OBJECT_0) {
    if (has_passed(deadline_ns)) return false;
  }
  let_go(control);
  control_ = nullptr;
  return true;
}

void Thread::detach() {
  if (control_) let_go(static_cast<Control*>(control_));
  control_ = nullptr;
}

void sleep_ns(int64_t nanoseconds) {
  if (nanoseconds <= 0) return;
  const int64_t deadline = monotonic_ns() + nanoseconds;
  while (!has_passed(deadline)) Sleep(wait_milliseconds(deadline));
}

}  // namespace hprof::platform
