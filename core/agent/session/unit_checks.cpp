#include "core/agent/session/unit_checks.h"

#include <cstdio>

#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/vm/event_hub.h"
#include "core/model/model.h"
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
  slot.parts->messages.message(line);
}

bool check_record(const UnitSlot& slot, const hprof_record* record) {
  const char* fault = fault_of(record, slot.parts->kinds, &is_handed_out, &slot.parts->model);
  if (fault == nullptr) return true;
  char text[200];
  snprintf(text, sizeof(text), "a record %s; it is left out", fault);
  complain(slot, Complaint::kRecord, text);
  return false;
}

namespace {

constexpr int64_t kSlowNs = 100 * platform::kNanosPerMilli;

void put_tags(TextWriter& out, uint32_t tags) {
  constexpr struct {
    uint32_t tag;
    const char* name;
  } kNames[] = {{tag::kOnLoad, "[onload]"}, {tag::kControl, "[control]"}, {tag::kApp, "[app]"},
                {tag::kGc, "[gc]"},         {tag::kHeap, "[heap]"},       {tag::kWriter, "[writer]"},
                {tag::kSignal, "[signal]"}, {tag::kReport, "[report]"}};
  for (const auto& row : kNames) {
    if ((tags & row.tag) != 0) out.put(row.name);
  }
}

}  // namespace

void check_tags(const UnitSlot& slot, uint32_t allowed, const char* function) {
  const uint32_t tags = current_tags();
  if (tags == 0 || (tags & allowed) != 0) return;
  char text[200];
  TextWriter out(text, sizeof(text));
  out.put(function).put(" is called in ");
  put_tags(out, tags);
  out.put(", its header allows ");
  put_tags(out, allowed);
  complain(slot, Complaint::kTags, text);
}

void check_given_back(const UnitSlot& slot) {
  const uint64_t held = slot.held.load(std::memory_order_relaxed);
  const uint64_t charged = slot.charged.load(std::memory_order_relaxed);
  if (held == 0 && charged == 0) return;
  char text[120];
  TextWriter out(text, sizeof(text));
  out.put_unsigned(held).put(" bytes not freed");
  if (charged != 0) out.put(", ").put_unsigned(charged).put(" charged bytes not given back");
  complain(slot, Complaint::kKept, text);
}

void check_given_back(const hprof_host* host) { check_given_back(*slot_of(host)); }

int64_t HandlerCall::now() { return platform::monotonic_ns(); }

void HandlerCall::check_time() const {
  const int64_t ns = now() - begun_ns_;
  if (ns <= kSlowNs) return;
  uint32_t bit = 0;
  while ((event_ >> bit & 1) == 0) bit++;
  char text[120];
  TextWriter out(text, sizeof(text));
  out.put("its handler of ").put(event_name(bit)).put(" took ");
  out.put_unsigned(static_cast<uint64_t>(ns / platform::kNanosPerMilli)).put(" ms");
  complain(slot_, Complaint::kSlow, text);
}

const char* check_text(const UnitSlot& slot, const char* text, char (&room)[kLogTextMost]) {
  TextWriter out(room, sizeof(room));
  const Str given(text);
  out.put_printable(given, kLogTextMost - 8);
  if (Str(room) != given) complain(slot, Complaint::kText, "a text has control bytes, or is too long");
  return room;
}

}  // namespace hprof
