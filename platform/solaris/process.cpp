// Clocks, threads, memory and peers of this process on Solaris.
#include "platform/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/lwp.h>
#include <sys/time.h>
#include <ucred.h>
#include <unistd.h>

#include "platform/accounting.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/posix/port.h"
#include "platform/posix/timespec.h"
#include "platform/sampling.h"
#include "platform/solaris/microstates.h"

namespace hprof::platform {
namespace {

constexpr char kProcess[] = "/proc/self";

struct ThreadListing {
  ThreadVisitor visit;
  void* context;
};

bool visit_lwp(void* context, const char* name) {
  const ThreadListing* listing = static_cast<const ThreadListing*>(context);
  const uint32_t id = static_cast<uint32_t>(strtoul(name, nullptr, 10));
  return !id || listing->visit(listing->context, static_cast<NativeThread>(id), "");
}

}  // namespace

int64_t monotonic_ns() { return gethrtime(); }
bool is_cpu_counter_trusted() { return false; }
int64_t thread_cpu_ns() { return gethrvtime(); }
int64_t thread_cpu_ns(NativeThread thread) { return read_lwp_cpu(kProcess, thread); }

int64_t process_cpu_ns() {
  timespec now;
  return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 ? nanos_of(now) : -1;
}

bool machine_cpu(uint64_t*, uint64_t*) { return false; }

NativeThread current_thread_id() { return static_cast<NativeThread>(_lwp_self()); }

int for_each_thread(ThreadVisitor visit, void* context) {
  ThreadListing listing{visit, context};
  return list_directory("/proc/self/lwp", visit_lwp, &listing);
}

size_t executable_path(char* text, size_t size) {
  if (!size) return 0;
  const ssize_t length = readlink("/proc/self/path/a.out", text, size - 1);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? static_cast<size_t>(length) : 0;
}

uint32_t processor_count() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<uint32_t>(online) : 1;
}

uint64_t resident_bytes() { return read_resident_bytes(kProcess); }

// Threads have names from Solaris 11.4 on.
void name_current_thread(const char*) {}

const char* trusted_environment(const char* name) { return issetugid() ? nullptr : getenv(name); }

int peer_user(int descriptor, uint32_t* user) {
  ucred_t* credentials = nullptr;
  if (getpeerucred(descriptor, &credentials) != 0) return errno;
  const uid_t id = ucred_geteuid(credentials);
  ucred_free(credentials);
  if (id == static_cast<uid_t>(-1)) return kErrorUnsupported;
  *user = static_cast<uint32_t>(id);
  return 0;
}

int start_accounting() { return set_microstates(kProcess); }
int read_accounting(NativeThread thread, ThreadAccounting* row) {
  return read_microstates(kProcess, thread, row);
}

}  // namespace hprof::platform
