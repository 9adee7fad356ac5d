// Handles a signal and passes on those that are not ours.
//
// Once installed, a hook may be called forever, by another handler that was installed later and passes
// signals on to us; so `previous` stays valid after hook_remove.
#pragma once

#include <atomic>
#include <cstdint>
#include <signal.h>

namespace hprof::platform {

using SignalHandler = void (*)(int number, siginfo_t* info, void* context);

struct SignalHook {
  // Whose signal it is, and who handled it before.
  struct Kept {
    int number;
    struct sigaction previous;
  };
  // The next one is written beside the current one: a signal that came before hook_remove may still be passed
  // on.
  Kept kept[2];
  std::atomic<uint32_t> current;
  std::atomic<bool> in_place;  // ours is the handler, or a later one may pass signals on to it

  const Kept& now() const { return kept[current.load(std::memory_order_acquire)]; }  // [signal]
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
