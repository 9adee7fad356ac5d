#include <sys/syscall.h>
#include <unistd.h>

#include "platform/thread.h"

namespace hprof::platform {

// linux/membarrier.h is a kernel header, which a C library may lack.
#ifdef SYS_membarrier
constexpr int kPrivateExpedited = 1 << 3, kRegisterPrivateExpedited = 1 << 4;

bool prepare_barriers() { return syscall(SYS_membarrier, kRegisterPrivateExpedited, 0, 0) == 0; }
bool barrier_on_all_threads() { return syscall(SYS_membarrier, kPrivateExpedited, 0, 0) == 0; }
#else
bool prepare_barriers() { return false; }
bool barrier_on_all_threads() { return false; }
#endif

}  // namespace hprof::platform
