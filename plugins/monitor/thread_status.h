// The letters that MONITOR DUMP shows for a thread's state.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof::monitor {

// Writes the status of a JVMTI thread state, zero padded: optional "S|", "intr|", "native|", then one of R
// (runnable), SL (sleeping), MW (blocked on a monitor), CW (waiting for a condition, parked), ZO (ended), NS
// (not started), UN. The longest fills all 16 characters.
void write_status(jint state, char (&status)[16]);

}  // namespace hprof::monitor
