// For systems whose signal handlers cannot read the registers of the interrupted code.
#include "platform/sampling.h"

namespace hprof::platform {

bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}
void* below_signal_frames(void* machine_context) { return machine_context; }
InterruptedCall interrupted_call(const void*) { return InterruptedCall::kNone; }
bool knows_interrupted_calls() { return false; }

}  // namespace hprof::platform
