// Handles a signal and passes on those of others.
//
// A handler that was installed later may pass signals on to a hook for ever, so `previous` stays valid after
// hook_remove.
#pragma once

#include <atomic>
#include <cstdint>
#include <signal.h>

namespace hprof::platform {

using SignalHandler = void (*)(int number, siginfo_t* info, void* context);

struct SignalHook {
  // The signal, and the handler before the hook.
  struct Kept {
    int number;
    struct sigaction previous;
  };
  // A new one is written beside the current one: a signal from before hook_remove may still be passed on.
  Kept kept[2];
  std::atomic<uint32_t> current;
  std::atomic<bool> in_place;  // the hook is the handler, or a later handler may pass signals on to it

  const Kept& now() const { return kept[current.load(std::memory_order_acquire)]; }  // [signal]
};

// Installs `handler` unless it is in place already. `like_previous`: with flags and mask of the handler
// before. Otherwise: with SA_RESTART, on the alternate stack if the thread has one. Returns 0 or an error.
int hook_install(SignalHook* hook, int number, SignalHandler handler, bool like_previous);

// Restores the previous handler if `handler` is still installed; if a later handler took over, nothing
// changes. `ignore_default`: ignores the signal if the previous handler was the default.
void hook_remove(SignalHook* hook, SignalHandler handler, bool ignore_default);

// Calls the previous handler as the kernel would; false: it is no function. [signal]
bool hook_forward(const SignalHook& hook, siginfo_t* info, void* context);

}  // namespace hprof::platform
