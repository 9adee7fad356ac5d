// The signal that samples come by, and whose it is.
#pragma once

#include <signal.h>

namespace hprof::platform {

int sample_signal();  // [signal]

enum class Tick { kForeign, kOurs, kLate };
// Whose timer sent this signal? kOurs: *value is what the timer was made with. kLate: a timer of ours that
// was deleted meanwhile. Each port with CPU timers has its own. [signal]
Tick own_tick(const siginfo_t* info, void** value);

}  // namespace hprof::platform
