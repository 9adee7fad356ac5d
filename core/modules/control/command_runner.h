// Runs commands of all front ends, by calls of collectors and the VM.
#pragma once

#include "core/protocol/command_target.h"

namespace hprof {

// Always fills in the answer. [control] under Control::acquire
void run_command(CommandTarget& target, const Command& command, Answer* answer);

}  // namespace hprof
