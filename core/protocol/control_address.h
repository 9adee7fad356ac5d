// Addresses at which an agent takes commands: the path of control=, and the addresses allowed for listen=.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/text.h"

namespace hprof {

// A local socket's name has at most 107 bytes on Linux, fewer elsewhere.
constexpr size_t kControlPathMost = 108;

// The path of control=: "y" is /tmp/hprof-<user>-<pid>.sock, which `hprof ctl PID` looks for; in any other
// text %p is the process id and %% a percent sign. False: too long, or another %. [any]
bool control_path(Str option, uint32_t user, uint32_t pid, char (&path)[kControlPathMost]);

// True: control=n, or no control= at all. [any]
bool is_control_off(Str option);

}  // namespace hprof
