// The ABI's names of a thread's state.
#pragma once

#include <jvmti.h>

#include <hprof/record.h>

namespace hprof::monitor {

// Sets state and flags of the row by a JVMTI thread state.
void set_state(jint state, hprof_dump_thread* row);

}  // namespace hprof::monitor
