// Checks of units' calls. Each failed check is reported once per unit, as "plugin X: ...". Every build checks
// records and texts, and refuses wrong ones; more expensive checks are made in builds with checks only
// (kChecks), and refuse nothing.
#pragma once

#include <cstdint>

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

#include "core/base/place.h"

namespace hprof {

struct UnitSlot;

enum class Complaint : uint32_t { kRecord, kText, kBuffer, kKeys, kPlace, kMemory, kKept, kSlow };

// "plugin X: <text>", unless this unit has had that complaint before. [any] but [signal]
void complain(const UnitSlot& slot, Complaint complaint, const char* text);

// A record that a unit hands over (pipeline/record_check.h). False: it is invalid, and a message has said so.
// [app][gc][control][heap]
bool check_record(const UnitSlot& slot, const hprof_record* record);

// --- in builds with checks

// Checks whether `function` of a service, "mem.allocate", may be called here. [any]
void check_place(const UnitSlot& slot, uint32_t allowed, const char* function);
// The unit has been destroyed, or its create has failed: it must hold nothing any more.
// [onload][control][writer]
void check_given_back(const UnitSlot& slot);
void check_given_back(const hprof_host* host);

// Watches a collector's handler while it runs, by its event (HPROF_EVENT_*): what it may call, and how long
// it takes.
class HandlerCall {
 public:
  HandlerCall(const UnitSlot& slot, uint64_t event) : slot_(slot), event_(event), place_(tags_of(event)) {
    if constexpr (kChecks) begun_ns_ = now();
  }
  ~HandlerCall() {
    if constexpr (kChecks) check_time();
  }
  HandlerCall(const HandlerCall&) = delete;
  HandlerCall& operator=(const HandlerCall&) = delete;

 private:
  static uint32_t tags_of(uint64_t event) {
    constexpr uint64_t kOfGc = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH | HPROF_EVENT_OBJECT_FREE;
    return (event & kOfGc) != 0 ? tag::kGc : tag::kApp;
  }
  static int64_t now();
  void check_time() const;

  [[maybe_unused]] const UnitSlot& slot_;
  [[maybe_unused]] uint64_t event_;
  [[maybe_unused]] int64_t begun_ns_ = 0;
  Place place_;
};

// --- in all

// Text for a log or a counter: nullptr becomes "", control bytes become '?', too long a text is cut.
constexpr uint32_t kLogTextMost = 600;
const char* check_text(const UnitSlot& slot, const char* text, char (&room)[kLogTextMost]);

}  // namespace hprof
