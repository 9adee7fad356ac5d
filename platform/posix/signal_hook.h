// Taking over a signal and handing on what is not ours.
//
// A hook that was put in place once may be called for ever after, by another handler that was installed later
// and hands on to us; so `previous` stays valid after hook_remove.
#pragma once

#include <atomic>
#include <signal.h>

namespace hprof::platform {

using SignalHandler = void (*)(int number, siginfo_t* info, void* context);

struct SignalHook {
  int number;
  struct sigaction previous;
  std::atomic<bool> in_place;  // ours is the handler, or a later one may hand on to ours
};

// Installs `handler` unless it is in place already. `like_previous`: with flags and mask of the handler
// before. Otherwise: with SA_RESTART, on the alternate stack if the thread has one. Returns 0 or an error.
int hook_install(SignalHook* hook, int number, SignalHandler handler, bool like_previous);

// Puts the previous handler back if `handler` is still in place; where a later handler took over nothing is
// changed. `ignore_default`: ignores the signal where the previous handler was the default.
void hook_remove(SignalHook* hook, SignalHandler handler, bool ignore_default);

// The previous handler is a function: calls it as the kernel would and returns true. [signal]
bool hook_forward(const SignalHook& hook, siginfo_t* info, void* context);

}  // namespace hprof::platform
