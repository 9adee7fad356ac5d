// No looks: builds for small devices keep to timers.
#include "platform/error.h"
#include "platform/linux/look.h"
#include "platform/sampling.h"

namespace hprof::platform {

int send_look(NativeThread, void*) { return kErrorUnsupported; }
bool is_look(const siginfo_t*, void**) { return false; }
RunState thread_state(NativeThread) { return RunState::kUnknown; }
bool interrupted_a_call(const void*) { return false; }
bool left_a_call(const void*) { return false; }

}  // namespace hprof::platform
