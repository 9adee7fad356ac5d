#include "platform/thread.h"

namespace hprof::platform {

bool prepare_barriers() { return false; }
bool barrier_on_all_threads() { return false; }

}  // namespace hprof::platform
