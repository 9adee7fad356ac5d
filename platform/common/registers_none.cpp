// For systems where handlers cannot see the registers of an interrupted thread.
#include "platform/sampling.h"

namespace hprof::platform {

bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}

}  // namespace hprof::platform
