// The handler for the signals of CPU timers.
#include <errno.h>
#include <string.h>

#include "platform/error.h"
#include "platform/posix/sample_signal.h"
#include "platform/posix/signal_hook.h"
#include "platform/sampling.h"

namespace hprof::platform {
namespace {

std::atomic<SampleHandler> sample_handler;
SignalHook hook;

uint32_t overrun_of([[maybe_unused]] const siginfo_t* info) {
#ifdef si_overrun
  return info->si_overrun > 0 ? static_cast<uint32_t>(info->si_overrun) : 0;
#else
  return 0;
#endif
}

void on_sample(int, siginfo_t* info, void* context) {
  const int kept = errno;
  void* value = nullptr;
  const Tick tick = own_tick(info, &value);
  const SampleHandler handler = sample_handler.load(std::memory_order_acquire);
  if (tick == Tick::kOurs && handler) handler(value, below_signal_frames(context), overrun_of(info));
  errno = kept;
  // Without a previous handler the signal is dropped: its default action would end the process.
  if (tick == Tick::kForeign) hook_forward(hook, info, context);
}

}  // namespace

int install_sample_handler(SampleHandler handler) {
  if (!kHasCpuTimers) return kErrorUnsupported;
  // The handler is set first: a signal may come as soon as the hook is installed.
  const SampleHandler before = sample_handler.exchange(handler);
  const int error = hook_install(&hook, kSampleSignal, on_sample, false);
  if (error) sample_handler.store(before);
  return error;
}

void uninstall_sample_handler() {
  sample_handler.store(nullptr);
  hook_remove(&hook, on_sample, true);
}

}  // namespace hprof::platform
