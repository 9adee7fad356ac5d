// This process: ids, threads, environment, accounting.
#include "platform/process.h"

#include <initializer_list>
#include <stdlib.h>

#include "platform/accounting.h"
#include "platform/error.h"
#include "platform/win32/wait.h"
// These require windows.h before them.
#include <ntsecapi.h>
#include <tlhelp32.h>

namespace hprof::platform {
namespace {

constexpr AccountingColumn kColumns[] = {
    {"user", AccountingUnit::kNanoseconds, "running in user mode (counted in clock ticks)"},
    {"system", AccountingUnit::kNanoseconds, "running in the kernel (counted in clock ticks)"},
};

uint64_t nanos_of(const FILETIME& time) {
  return (uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) * 100;
}

}  // namespace

uint32_t process_id() { return GetCurrentProcessId(); }

size_t host_name(char* text, size_t size) {
  DWORD room = static_cast<DWORD>(size);
  return size != 0 && GetComputerNameA(text, &room) != 0 ? room : 0;
}

NativeThread current_thread_id() { return static_cast<NativeThread>(GetCurrentThreadId()); }

int for_each_thread(ThreadVisitor visit, void* context) {
  HANDLE listing = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  if (listing == INVALID_HANDLE_VALUE) return last_error();
  THREADENTRY32 entry;
  entry.dwSize = sizeof entry;
  for (BOOL more = Thread32First(listing, &entry); more; more = Thread32Next(listing, &entry)) {
    if (entry.th32OwnerProcessID != GetCurrentProcessId()) continue;
    if (!visit(context, static_cast<NativeThread>(entry.th32ThreadID), "")) break;
  }
  CloseHandle(listing);
  return 0;
}

const char* environment(const char* name) { return getenv(name); }

size_t executable_path(char* text, size_t size) {
  const DWORD length = GetModuleFileNameA(nullptr, text, static_cast<DWORD>(size));
  if (length && length < size) return length;
  if (size) text[0] = 0;
  return 0;
}

uint32_t processor_count() {
  DWORD_PTR ours, all;
  uint32_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all)) {
    for (; ours; ours &= ours - 1) ++count;
  }
  return count ? count : 1;
}

bool set_alarm(int64_t, AlarmText, void*) { return false; }
void clear_alarm() {}

int random_bytes(void* data, size_t size) {
  return RtlGenRandom(data, static_cast<ULONG>(size)) ? 0 : ERROR_GEN_FAILURE;
}

const AccountingColumn* accounting_columns(size_t* count) {
  *count = sizeof kColumns / sizeof *kColumns;
  return kColumns;
}

const char* accounting_missing() {
  return "times of traps, faults, waits and sleep, context switches, waiting for a processor";
}

int start_accounting() { return 0; }

int read_accounting(NativeThread thread, ThreadAccounting* row) {
  for (uint64_t& value : row->value) value = kNotAccounted;
  HANDLE handle = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(thread));
  if (!handle) return last_error();
  FILETIME created, ended, kernel, user;
  int error = 0;
  if (GetProcessIdOfThread(handle) != GetCurrentProcessId()) {
    error = ERROR_INVALID_PARAMETER;
  } else if (!GetThreadTimes(handle, &created, &ended, &kernel, &user)) {
    error = last_error();
  } else {
    row->value[0] = nanos_of(user);
    row->value[1] = nanos_of(kernel);
  }
  CloseHandle(handle);
  return error;
}

}  // namespace hprof::platform
