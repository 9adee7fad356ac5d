// Thread accounting from /proc. Field numbers are those of proc(5).
#include "platform/linux/task_accounting.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/linux/proc_text.h"
#include "platform/posix/path_text.h"

namespace hprof::platform {
namespace {

enum Column : size_t {
  kCpu,
  kUser,
  kSystem,
  kRunQueueWait,
  kBlockIoWait,
  kMinorFaults,
  kMajorFaults,
  kVoluntarySwitches,
  kInvoluntarySwitches,
  kColumns
};

constexpr AccountingUnit kNanos = AccountingUnit::kNanoseconds;
constexpr AccountingUnit kNumber = AccountingUnit::kCount;

constexpr AccountingColumn kTable[] = {
    {"cpu", kNanos, "running, user and system"},
    {"user", kNanos, "running in user mode (counted in clock ticks)"},
    {"system", kNanos, "running in the kernel (counted in clock ticks)"},
    {"run_queue_wait", kNanos, "ready to run, waiting for a processor"},
    {"block_io_wait", kNanos, "waiting for block I/O (counted in clock ticks; needs kernel.task_delayacct)"},
    {"minor_faults", kNumber, "page faults without I/O"},
    {"major_faults", kNumber, "page faults with I/O"},
    {"voluntary_switches", kNumber, "times it gave up the processor to wait"},
    {"involuntary_switches", kNumber, "times the processor was taken from it"},
};
static_assert(sizeof kTable / sizeof *kTable == kColumns && kColumns <= kMaxAccountingColumns,
              "one row a column");

struct StatField {
  int number;  // as in proc(5)
  Column column;
  bool ticks;
};

constexpr StatField kStatFields[] = {
    {10, kMinorFaults, false}, {12, kMajorFaults, false}, {14, kUser, true},
    {15, kSystem, true},       {42, kBlockIoWait, true},
};

uint64_t nanos_of_ticks(uint64_t ticks) {
  const long per_second = sysconf(_SC_CLK_TCK);
  const uint64_t tick = static_cast<uint64_t>(kNanosPerSecond / (per_second > 0 ? per_second : 100));
  return ticks > (UINT64_MAX - 1) / tick ? UINT64_MAX - 1 : ticks * tick;
}

bool read_part(const char* tasks, NativeThread thread, const char* name, char* text, size_t size) {
  char path[256];
  PathText(path, sizeof path).add(tasks).add("/").add(static_cast<uint32_t>(thread)).add("/").add(name);
  return read_proc_text(path, text, size) != 0;
}

void take_stat(const char* text, ThreadAccounting* row) {
  // The name in field 2 may contain blanks and brackets; the last bracket ends it.
  const char* at = strrchr(text, ')');
  if (!at) return;
  ++at;
  int number = 2;
  while (*at == ' ') {
    ++at;
    ++number;
    for (const StatField& field : kStatFields) {
      if (field.number != number || *at < '0' || *at > '9') continue;
      const uint64_t value = proc_number(at);
      row->value[field.column] = field.ticks ? nanos_of_ticks(value) : value;
    }
    at += strcspn(at, " \n");
  }
}

void take_schedstat(const char* text, ThreadAccounting* row) {
  const char* end = nullptr;
  const uint64_t cpu = proc_number(text, &end);
  if (end == text || *end != ' ') return;
  const char* second = end;
  const uint64_t waited = proc_number(second, &end);
  if (end == second) return;
  row->value[kCpu] = cpu;
  row->value[kRunQueueWait] = waited;
}

void take_status_line(const char* text, const char* label, Column column, ThreadAccounting* row) {
  const char* found = strstr(text, label);
  if (found) row->value[column] = proc_number(found + strlen(label));
}

}  // namespace

const AccountingColumn* accounting_columns(size_t* count) {
  *count = kColumns;
  return kTable;
}

int read_task_accounting(const char* tasks, NativeThread thread, bool delays, ThreadAccounting* row) {
  for (uint64_t& value : row->value) value = kNotAccounted;
  char text[4096];
  if (!read_part(tasks, thread, "stat", text, sizeof text)) return ESRCH;
  take_stat(text, row);
  if (!delays) row->value[kBlockIoWait] = kNotAccounted;
  if (read_part(tasks, thread, "schedstat", text, sizeof text)) take_schedstat(text, row);
  if (read_part(tasks, thread, "status", text, sizeof text)) {
    take_status_line(text, "\nvoluntary_ctxt_switches:", kVoluntarySwitches, row);
    take_status_line(text, "\nnonvoluntary_ctxt_switches:", kInvoluntarySwitches, row);
  }
  return 0;
}

const char* accounting_missing() {
  return "times of traps, of text, data and kernel faults, of waiting for locks, asleep and stopped";
}

int start_accounting() { return 0; }

int read_accounting(NativeThread thread, ThreadAccounting* row) {
  char text[8];
  // Kernels before 5.14 always account for delays and have no such file.
  const bool off = read_proc_text("/proc/sys/kernel/task_delayacct", text, sizeof text) && text[0] == '0';
  return read_task_accounting("/proc/self/task", thread, !off, row);
}

}  // namespace hprof::platform
