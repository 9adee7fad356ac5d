// Checks of what units hand over.
#include "core/agent/unit_checks.h"

#include <cstdio>

#include "core/agent/session.h"
#include "core/pipeline/record_check.h"

namespace hprof {

namespace {

bool is_handed_out(const void* of, uint32_t column_type, uint32_t number) {
  const Model& model = *static_cast<const Model*>(of);
  switch (column_type) {
    case HPROF_COLUMN_TRACE:
      return model.trace_info(TraceSerial{number}) != nullptr;
    case HPROF_COLUMN_CLASS:
      return model.class_info(ClassSerial{number}) != nullptr;
    case HPROF_COLUMN_METHOD:
      return model.method_info(MethodId{number}) != nullptr;
    case HPROF_COLUMN_FRAME:
      return model.frame_info(FrameId{number}) != nullptr;
    default:
      return model.text(StringId{number}).data != nullptr;
  }
}

}  // namespace

void complain(const UnitSlot& slot, Complaint complaint, const char* text) {
  const uint32_t bit = 1u << static_cast<uint32_t>(complaint);
  if ((slot.complaints.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  char line[256];
  snprintf(line, sizeof(line), "plugin %s: %s", slot.unit->id, text);
  slot.session->say(line);
}

bool check_record(const UnitSlot& slot, const hprof_record* record) {
  const char* fault = fault_of(record, slot.session->kinds(), &is_handed_out, &slot.session->model());
  if (fault == nullptr) return true;
  char text[200];
  snprintf(text, sizeof(text), "a record %s; it is left out", fault);
  complain(slot, Complaint::kRecord, text);
  return false;
}

const char* check_text(const UnitSlot& slot, const char* text, char (&room)[kLogTextMost]) {
  TextWriter out(room, sizeof(room));
  const Str given(text);
  out.put_printable(given, kLogTextMost - 8);
  if (Str(room) != given) complain(slot, Complaint::kText, "a text has control bytes, or is too long");
  return room;
}

}  // namespace hprof
