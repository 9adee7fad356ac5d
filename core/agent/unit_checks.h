// What is checked of a unit's calls in every build. What is wrong is said once for each unit and check, as
// "plugin X: ...", and the call is refused.
#pragma once

#include <cstdint>

#include <hprof/record.h>

namespace hprof {

struct UnitSlot;

enum class Complaint : uint32_t { kRecord, kText, kBuffer };

// "plugin X: <text>", unless this unit has had that complaint before. [any] but [signal]
void complain(const UnitSlot& slot, Complaint complaint, const char* text);

// A record that a unit hands over (pipeline/record_check.h). False: it was complained of.
// [app][gc][control][heap]
bool check_record(const UnitSlot& slot, const hprof_record* record);

// Text for a log or a counter: nullptr becomes "", control bytes become '?', too long a text is cut.
constexpr uint32_t kLogTextMost = 600;
const char* check_text(const UnitSlot& slot, const char* text, char (&room)[kLogTextMost]);

}  // namespace hprof
