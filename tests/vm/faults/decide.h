// Which calls of the agent's fail: of JVMTI, JNI and the C library.
//
// One library, preloaded into the VM and loaded as an agent ahead of ours (-agentpath, without options). It
// counts the calls that the agent's libraries make, by function and call site, and lets those fail that the
// environment names: HPROF_FAULTS=<rule>[,<rule>...].
//
//   fail=<function>@<library>+<offset in hex>#<n>  the n-th call there, counted from 1
//   always=<function>                              every call of it
//   every=<k>+<first>                              every k-th of all calls, beginning with that one
//   random=<seed>/<k>                              one of k, picked by seed and number of the call
//   only=<prefix>                                  functions that begin so, for every= and random=
//
// A function is "jvmti.GetThreadInfo", "jni.FindClass", "libc.malloc". A call that fails is not executed.
// What gives back or lets go never fails (RawMonitorExit, DisposeEnvironment, Deallocate, munmap): nobody
// could do anything.
//
// HPROF_FAULTS_LOG=<path>: at the end of the process, a line "<function> <library>+<offset> <calls> <failed>"
// for each call site.
#pragma once

#include <cstdint>

namespace faults {

// Counts a call and says whether it fails. `name` is static text. [signal]
bool fails(const char* name, const void* caller);
// Is that address code of the agent's libraries? [signal]
bool is_agents(const void* code);
// A library was loaded: it may be one of them.
void libraries_changed();

}  // namespace faults
