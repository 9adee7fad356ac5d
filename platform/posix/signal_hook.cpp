#include "platform/posix/signal_hook.h"

#include <errno.h>
#include <string.h>

namespace hprof::platform {
namespace {

bool is_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool is_ours(const struct sigaction& action, SignalHandler handler) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handler;
}

bool is_same(const struct sigaction& one, const struct sigaction& other) {
  const bool same = (one.sa_flags & SA_SIGINFO) ? one.sa_sigaction == other.sa_sigaction
                                                : one.sa_handler == other.sa_handler;
  return same && one.sa_flags == other.sa_flags &&
         memcmp(&one.sa_mask, &other.sa_mask, sizeof one.sa_mask) == 0;
}

// Usually nothing has changed, and nothing is written.
void keep(SignalHook* hook, int number, const struct sigaction& previous) {
  const SignalHook::Kept& now = hook->now();
  if (now.number == number && is_same(now.previous, previous)) return;
  const uint32_t next = 1 - hook->current.load(std::memory_order_relaxed);
  hook->kept[next].number = number;
  hook->kept[next].previous = previous;
  hook->current.store(next, std::memory_order_release);
}

}  // namespace

int hook_install(SignalHook* hook, int number, SignalHandler handler, bool like_previous) {
  if (hook->in_place.load()) return hook->now().number == number ? 0 : EBUSY;
  struct sigaction previous;
  if (sigaction(number, nullptr, &previous) != 0) return errno;
  keep(hook, number, previous);
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  if (like_previous && is_function(previous)) {
    // So the kernel enters the previous handler, through this one, as it would have without it.
    ours.sa_flags = previous.sa_flags & (SA_ONSTACK | SA_RESTART | SA_NODEFER);
    ours.sa_mask = previous.sa_mask;
  } else {
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
  }
  ours.sa_flags |= SA_SIGINFO;
  hook->in_place.store(true);
  if (sigaction(number, &ours, nullptr) == 0) return 0;
  hook->in_place.store(false);
  return errno;
}

void hook_remove(SignalHook* hook, SignalHandler handler, bool ignore_default) {
  if (!hook->in_place.load()) return;
  struct sigaction current;
  const SignalHook::Kept& now = hook->now();
  if (sigaction(now.number, nullptr, &current) != 0 || !is_ours(current, handler)) return;
  struct sigaction back = now.previous;
  if (ignore_default && !is_function(back)) {
    back.sa_flags = 0;
    back.sa_handler = SIG_IGN;
  }
  if (sigaction(now.number, &back, nullptr) == 0) hook->in_place.store(false);
}

bool hook_forward(const SignalHook& hook, siginfo_t* info, void* context) {
  const SignalHook::Kept& now = hook.now();
  if (!is_function(now.previous)) return false;
  if (now.previous.sa_flags & SA_SIGINFO) {
    now.previous.sa_sigaction(now.number, info, context);
  } else {
    now.previous.sa_handler(now.number);
  }
  return true;
}

}  // namespace hprof::platform
