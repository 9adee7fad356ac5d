// Windows has no signals that interrupt a thread: guarded calls are unguarded.
#include "platform/sampling.h"

#include "platform/error.h"
#include "platform/guarded_read.h"

namespace hprof::platform {

int install_sample_handler(SampleHandler) { return kErrorUnsupported; }
void uninstall_sample_handler() {}
int install_fault_guard() { return kErrorUnsupported; }
void uninstall_fault_guard() {}
uint32_t guarded_read_faults() { return 0; }
GuardedReads* own_guarded_reads() { return nullptr; }
void add_guarded_reads(GuardedReads*) {}

bool guarded_call(void (*fn)(void* argument), void* argument) {
  fn(argument);
  return true;
}

}  // namespace hprof::platform
