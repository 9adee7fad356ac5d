// What is checked of a record before it goes on: once per record, whatever the build.
#pragma once

#include <hprof/record.h>

#include "core/pipeline/record_kinds.h"

namespace hprof {

// Was that number handed out for that type of column (HPROF_COLUMN_TRACE ..)?
using IsHandedOut = bool (*)(const void* context, uint32_t column_type, uint32_t number);

// A table whose schema and rows can be read.
bool is_sound(const hprof_rec_table& table);

// What is wrong with a record that a unit hands over, as words that go on after "a record "; nullptr:
// nothing. `is_handed_out` is asked for what the cells of tables name, `kinds` has those of vendors.
// [app][gc][control][heap]
const char* fault_of(const hprof_record* record, const RecordKinds& kinds, IsHandedOut is_handed_out,
                     const void* context);

}  // namespace hprof
