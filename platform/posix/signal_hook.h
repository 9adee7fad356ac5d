// Handles a signal and passes on those that are not ours.
//
// Once installed, a hook may be called forever, by another handler that was installed later and passes
// signals on to us; so `previous` stays valid after hook_remove.
#pragma once

#include <atomic>
#include <signal.h>

namespace hprof::platform {

using SignalHandler = void (*)(int number, siginfo_t* info, void* context);

struct SignalHook {
  int number;
  struct sigaction previous;
  std::atomic<bool> in_place;  // ours is the handler, or a later one may pass signals on to it
};

// Installs `handler` unless it is in place already. `like_previous`: with flags and mask of the handler
// before. Otherwise: with SA_RESTART, on the alternate stack if the thread has one. Returns 0 or an error.
int hook_install(SignalHook* hook, int number, SignalHandler handler, bool like_previous);

// Restores the previous handler if `handler` is still installed; if a later handler took over, nothing
// changes. `ignore_default`: ignores the signal if the previous handler was the default.
void hook_remove(SignalHook* hook, SignalHandler handler, bool ignore_default);

// The previous handler is a function: calls it as the kernel would and returns true. [signal]
bool hook_forward(const SignalHook& hook, siginfo_t* info, void* context);

}  // namespace hprof::platform
