// Handles a signal and passes on those that are not ours.
#include "platform/posix/signal_hook.h"

#include <errno.h>

namespace hprof::platform {
namespace {

bool is_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool is_ours(const struct sigaction& action, SignalHandler handler) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handler;
}

}  // namespace

int hook_install(SignalHook* hook, int number, SignalHandler handler, bool like_previous) {
  if (hook->in_place.load()) return hook->number == number ? 0 : EBUSY;
  struct sigaction previous;
  if (sigaction(number, nullptr, &previous) != 0) return errno;
  hook->number = number;
  hook->previous = previous;
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  if (like_previous && is_function(previous)) {
    // The kernel then enters the previous handler, through ours, exactly as it would have without us.
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
  if (sigaction(hook->number, nullptr, &current) != 0 || !is_ours(current, handler)) return;
  struct sigaction back = hook->previous;
  if (ignore_default && !is_function(back)) {
    back.sa_flags = 0;
    back.sa_handler = SIG_IGN;
  }
  if (sigaction(hook->number, &back, nullptr) == 0) hook->in_place.store(false);
}

bool hook_forward(const SignalHook& hook, siginfo_t* info, void* context) {
  if (!is_function(hook.previous)) return false;
  if (hook.previous.sa_flags & SA_SIGINFO) {
    hook.previous.sa_sigaction(hook.number, info, context);
  } else {
    hook.previous.sa_handler(hook.number);
  }
  return true;
}

}  // namespace hprof::platform
