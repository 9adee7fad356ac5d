// Looks: signals that a thread of ours sends to another one.
#pragma once

#include <signal.h>

namespace hprof::platform {

// Is it a look of this copy of the agent? Then *value is what it was sent with. [signal]
bool is_look(const siginfo_t* info, void** value);

}  // namespace hprof::platform
