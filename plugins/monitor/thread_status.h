#pragma once

#include <jvmti.h>

#include <hprof/record.h>

namespace hprof::monitor {

// Sets the row's state and flags from a JVMTI thread state.
void set_state(jint state, hprof_dump_thread* row);

}  // namespace hprof::monitor
