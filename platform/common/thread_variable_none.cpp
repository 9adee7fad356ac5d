// For systems whose libraries' symbol tables the agent does not read.
#include "platform/thread_variable.h"

namespace hprof::platform {

bool find_thread_variable(const char*, ThreadVariable*) { return false; }
const void* thread_variable(const ThreadVariable&) { return nullptr; }

}  // namespace hprof::platform
