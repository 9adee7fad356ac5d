// Where the time of a thread went, as far as the OS keeps books: a row of numbers per thread, with the
// columns that this OS offers. On Solaris these are the microstates of a thread, elsewhere the nearest thing.
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

// Totals since the thread began; value[i] belongs to column i, kNotAccounted where the OS keeps no such book
// now.
struct ThreadAccounting {
  uint64_t value[kMaxAccountingColumns];
};

// The columns of this OS, the same during the life of the process; *count is 0 where there are none. [any]
const AccountingColumn* accounting_columns(size_t* count);

// What the microstates of Solaris have and the columns here have not, a few words; "": nothing. [any]
const char* accounting_missing();

// Starts bookkeeping for this process where the OS wants to be asked (Solaris). 0, kErrorUnsupported or an
// error. [any]
int start_accounting();

// The row of a live thread of this process. Opens and reads small files: for the end of a run, not for each
// sample. [any]
int read_accounting(NativeThread thread, ThreadAccounting* row);

}  // namespace hprof::platform
