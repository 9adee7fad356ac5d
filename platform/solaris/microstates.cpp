// Microstates of a process' threads (LWPs) from its folder in /proc. The structures are those of proc(4).
#include "platform/solaris/microstates.h"

#include <errno.h>
#include <fcntl.h>
#include <procfs.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/posix/path_text.h"
#include "platform/posix/port.h"

namespace hprof::platform {
namespace {

enum Column : size_t {
  kUser,
  kSystem,
  kTrap,
  kTextFault,
  kDataFault,
  kKernelFault,
  kLockWait,
  kSleep,
  kCpuLatency,
  kStopped,
  kMinorFaults,
  kMajorFaults,
  kVoluntarySwitches,
  kInvoluntarySwitches,
  kSystemCalls,
  kColumns
};

constexpr AccountingUnit kNanos = AccountingUnit::kNanoseconds;
constexpr AccountingUnit kNumber = AccountingUnit::kCount;

constexpr AccountingColumn kTable[] = {
    {"user", kNanos, "running in user mode"},
    {"system", kNanos, "running in system calls"},
    {"trap", kNanos, "running in other system traps"},
    {"text_fault", kNanos, "waiting for a page of code"},
    {"data_fault", kNanos, "waiting for a page of data"},
    {"kernel_fault", kNanos, "waiting for a page of the kernel"},
    {"lock_wait", kNanos, "waiting for a user lock"},
    {"sleep", kNanos, "all other sleep"},
    {"cpu_latency", kNanos, "ready to run, waiting for a processor"},
    {"stopped", kNanos, "stopped"},
    {"minor_faults", kNumber, "page faults without I/O"},
    {"major_faults", kNumber, "page faults with I/O"},
    {"voluntary_switches", kNumber, "times it gave up the processor to wait"},
    {"involuntary_switches", kNumber, "times the processor was taken from it"},
    {"system_calls", kNumber, "system calls"},
};
static_assert(sizeof kTable / sizeof *kTable == kColumns && kColumns <= kMaxAccountingColumns,
              "one row a column");

uint64_t nanos_of(const timestruc_t& time) {
  if (time.tv_sec < 0 || time.tv_nsec < 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * static_cast<uint64_t>(kNanosPerSecond) +
         static_cast<uint64_t>(time.tv_nsec);
}

int read_usage(const char* process, NativeThread thread, prusage_t* usage) {
  char path[256];
  PathText(path, sizeof path).add(process).add("/lwp/").add(static_cast<uint32_t>(thread)).add("/lwpusage");
  return read_first(path, usage, sizeof *usage);
}

}  // namespace

const AccountingColumn* accounting_columns(size_t* count) {
  *count = kColumns;
  return kTable;
}

const char* accounting_missing() { return ""; }

int set_microstates(const char* process) {
  char path[256];
  PathText(path, sizeof path).add(process).add("/ctl");
  const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const long message[] = {PCSET, PR_MSACCT};
  // The kernel takes a control message whole or not at all.
  const ssize_t count = write(descriptor, message, sizeof message);
  const int error = count < 0 ? errno : count == static_cast<ssize_t>(sizeof message) ? 0 : EIO;
  close(descriptor);
  return error;
}

int read_microstates(const char* process, NativeThread thread, ThreadAccounting* row) {
  for (uint64_t& value : row->value) value = kNotAccounted;
  prusage_t usage;
  const int error = read_usage(process, thread, &usage);
  if (error) return error;
  row->value[kUser] = nanos_of(usage.pr_utime);
  row->value[kSystem] = nanos_of(usage.pr_stime);
  row->value[kTrap] = nanos_of(usage.pr_ttime);
  row->value[kTextFault] = nanos_of(usage.pr_tftime);
  row->value[kDataFault] = nanos_of(usage.pr_dftime);
  row->value[kKernelFault] = nanos_of(usage.pr_kftime);
  row->value[kLockWait] = nanos_of(usage.pr_ltime);
  row->value[kSleep] = nanos_of(usage.pr_slptime);
  row->value[kCpuLatency] = nanos_of(usage.pr_wtime);
  row->value[kStopped] = nanos_of(usage.pr_stoptime);
  row->value[kMinorFaults] = usage.pr_minf;
  row->value[kMajorFaults] = usage.pr_majf;
  row->value[kVoluntarySwitches] = usage.pr_vctx;
  row->value[kInvoluntarySwitches] = usage.pr_ictx;
  row->value[kSystemCalls] = usage.pr_sysc;
  return 0;
}

int64_t read_lwp_cpu(const char* process, NativeThread thread) {
  prusage_t usage;
  if (read_usage(process, thread, &usage) != 0) return -1;
  return static_cast<int64_t>(nanos_of(usage.pr_utime) + nanos_of(usage.pr_stime) + nanos_of(usage.pr_ttime));
}

uint64_t read_resident_bytes(const char* process) {
  char path[256];
  psinfo_t info = {};
  PathText(path, sizeof path).add(process).add("/psinfo");
  return read_first(path, &info, sizeof info) == 0 ? uint64_t{info.pr_rssize} * 1024 : 0;
}

}  // namespace hprof::platform
