// The signal that requests a sample, and whose timer sent it.
#pragma once

#include <signal.h>

namespace hprof::platform {

int sample_signal();  // [signal]

enum class Tick { kForeign, kOurs, kLate };
// The owner of the timer that sent this signal. kOurs: *value is the value that the timer was made with.
// kLate: a timer of ours that was deleted meanwhile. Each port with CPU timers has its own. [signal]
Tick own_tick(const siginfo_t* info, void** value);

}  // namespace hprof::platform
