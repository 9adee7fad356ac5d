// For systems where handlers cannot see the registers of an interrupted thread.
#include "platform/sampling.h"

namespace hprof::platform {

bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}
void* below_signal_frames(void* machine_context) { return machine_context; }

}  // namespace hprof::platform
