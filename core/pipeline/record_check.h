// Checks each record before it is passed on, in every build.
#pragma once

#include <hprof/record.h>

#include "core/pipeline/record_kinds.h"

namespace hprof {

// True: the number is in use as an id of that column type (HPROF_COLUMN_TRACE ..).
using IsHandedOut = bool (*)(const void* context, uint32_t column_type, uint32_t number);

// True: the table's schema and rows can be read.
bool is_sound(const hprof_rec_table& table);

// True: a table of events.
inline bool is_events(const hprof_record& record) {
  return record.kind == HPROF_RECORD_TABLE &&
         (reinterpret_cast<const hprof_rec_table&>(record).flags & HPROF_TABLE_EVENTS) != 0;
}
// The column by which events are ordered; HPROF_NO_COLUMN: none.
uint32_t time_column(const hprof_table_schema& schema);

// The problem with a unit's record, continuing "a record "; nullptr: none. is_handed_out: checks ids in
// cells; kinds: vendors' kinds. [app][gc][control][heap]
const char* fault_of(const hprof_record* record, const RecordKinds& kinds, IsHandedOut is_handed_out,
                     const void* context);

}  // namespace hprof
