// Solaris has CPU timers, but none that signal a certain thread (common/timers_none.cpp).
#include "platform/posix/sample_signal.h"

namespace hprof::platform {

Tick own_tick(const siginfo_t*, void**) { return Tick::kForeign; }

}  // namespace hprof::platform
