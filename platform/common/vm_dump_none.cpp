// For systems without access to the VM's own heap dumper: the agent walks the heap itself.
#include "platform/common/text.h"
#include "platform/error.h"
#include "platform/vm_dump.h"

namespace hprof::platform {

int vm_heap_dump_available(char* reason, size_t reason_size) {
  copy_text("not on this system", reason, reason_size);
  return kErrorUnsupported;
}

int vm_heap_dump(bool, bool, VmDumpTaker, VmDumpGivesUp, void*, uint8_t*, size_t, char* reason,
                 size_t reason_size) {
  return vm_heap_dump_available(reason, reason_size);
}

}  // namespace hprof::platform
