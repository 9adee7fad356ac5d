// Checks units' calls, and reports each failure once per unit, as "plugin X: ...". Every build checks records
// and texts, and refuses wrong ones; other checks are expensive, made with kChecks only, and refuse nothing.
#pragma once

#include <cstdint>

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

#include "core/base/tag_scope.h"

namespace hprof {

struct UnitSlot;

enum class Complaint : uint32_t { kRecord, kText, kBuffer, kKeys, kTags, kMemory, kKept, kSlow };

// Prints "plugin X: <text>", once for each unit and complaint. [any] but [signal]
void complain(const UnitSlot& slot, Complaint complaint, const char* text);

// Checks a record that a unit emits (pipeline/record_check.h). False: invalid; a message says so.
// [app][gc][control][heap]
bool check_record(const UnitSlot& slot, const hprof_record* record);

// Checks that `function` of a service ("mem.allocate") may be called here. [any]
void check_tags(const UnitSlot& slot, uint32_t allowed, const char* function);
// Checks that a unit holds nothing after destroy, or a failed create. [onload][control][writer]
void check_given_back(const UnitSlot& slot);
void check_given_back(const hprof_host* host);

// Watches a collector's handler while it runs: what it calls, and how long it takes. event: HPROF_EVENT_*.
class HandlerCall {
 public:
  HandlerCall(const UnitSlot& slot, uint64_t event) : slot_(slot), event_(event), tags_(tags_of(event)) {
    if constexpr (kChecks) begun_ns_ = now();
  }
  ~HandlerCall() {
    if constexpr (kChecks) check_time();
  }
  HandlerCall(const HandlerCall&) = delete;
  HandlerCall& operator=(const HandlerCall&) = delete;

 private:
  static uint32_t tags_of(uint64_t event) {
    constexpr uint64_t kOfGc = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH;
    return (event & kOfGc) != 0 ? tag::kGc : tag::kApp;
  }
  static int64_t now();
  void check_time() const;

  [[maybe_unused]] const UnitSlot& slot_;
  [[maybe_unused]] uint64_t event_;
  [[maybe_unused]] int64_t begun_ns_ = 0;
  TagScope tags_;
};

// A text for the log or a counter: nullptr becomes "", control bytes '?'; long texts are cut.
constexpr uint32_t kLogTextMost = 600;
const char* check_text(const UnitSlot& slot, const char* text, char (&room)[kLogTextMost]);

}  // namespace hprof
