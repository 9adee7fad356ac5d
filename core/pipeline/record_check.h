// Checks of a record before it is passed on: once per record, in every build.
#pragma once

#include <hprof/record.h>

#include "core/pipeline/record_kinds.h"

namespace hprof {

// True: that number was handed out for that type of column (HPROF_COLUMN_TRACE ..).
using IsHandedOut = bool (*)(const void* context, uint32_t column_type, uint32_t number);

// A table whose schema and rows can be read.
bool is_sound(const hprof_rec_table& table);

// The problem with a record from a unit, as words that continue "a record "; nullptr: none. `is_handed_out`
// checks the ids in cells of tables, `kinds` has vendors' kinds. [app][gc][control][heap]
const char* fault_of(const hprof_record* record, const RecordKinds& kinds, IsHandedOut is_handed_out,
                     const void* context);

}  // namespace hprof
