// How the OS accounts for a thread's time: a row of numbers per thread, with the columns that this OS offers.
// On Solaris these are microstates, elsewhere the closest equivalent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/process.h"

namespace hprof::platform {

enum class AccountingUnit : uint32_t { kNanoseconds, kCount };

struct AccountingColumn {
  const char* name;  // lower case, no blanks: "lock_wait"
  AccountingUnit unit;
  const char* help;
};

constexpr size_t kMaxAccountingColumns = 16;
constexpr uint64_t kNotAccounted = UINT64_MAX;

// Totals since the thread began; value[i] belongs to column i; kNotAccounted: the OS does not account for it
// now.
struct ThreadAccounting {
  uint64_t value[kMaxAccountingColumns];
};

// The columns of this OS, the same during the life of the process; *count is 0 where there are none. [any]
const AccountingColumn* accounting_columns(size_t* count);

// What this OS lacks of Solaris' microstates, a few words; "": nothing. [any]
const char* accounting_missing();

// Switches accounting on for this process, if the OS needs that (Solaris). 0, kErrorUnsupported or an error.
// [any]
int start_accounting();

// The row of a live thread of this process. Opens and reads small files: call it at the end of a run, not for
// each sample. [any]
int read_accounting(NativeThread thread, ThreadAccounting* row);

}  // namespace hprof::platform
