// Lets one session of a process rewrite classes, also among copies of the library: two would define the same
// classes, and the VM cannot take an exception so early.
#pragma once

namespace hprof {

// True: no other session of this process rewrites classes from the start of the VM on, and now this one does.
// [onload]
bool claim_rewriting();

}  // namespace hprof
