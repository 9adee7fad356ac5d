// The signal that requests a sample, and the timer that sent it.
#pragma once

#include <signal.h>

namespace hprof::platform {

constexpr int kSampleSignal = SIGPROF;

enum class Tick { kForeign, kOurs, kLate };
// Whose timer sent this signal. kOurs: *value is the timer's value. kLate: a timer of the agent's that was
// deleted meanwhile. Each port with CPU timers defines it. [signal]
Tick own_tick(const siginfo_t* info, void** value);

}  // namespace hprof::platform
