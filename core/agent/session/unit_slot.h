// A unit in a session: its host, its config and, for a collector, its state.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/plugin.h>

#include "core/agent/vm/phase_gate.h"
#include "core/base/inside.h"
#include "core/modules/report_windows/window.h"
#include "core/pipeline/record_kinds.h"
#include "core/vm_tables/hotspot.h"
#include "platform/platform.h"

namespace hprof {

struct SessionParts;

// A service gets the unit's host, and finds the slot by it.
struct UnitSlot : HostRecord {
  const SessionParts* parts = nullptr;
  const hprof_unit* unit = nullptr;
  void* config = nullptr;
  TakenKinds optional = TakenKinds::none();  // what it emits and an encoder may leave out
  // The unit was given up: it is never called again, and its memory is never freed.
  std::atomic<bool> gone{false};
  mutable std::atomic<uint32_t> complaints{0};  // a bit for each one reported
  mutable std::atomic<uint64_t> held{0};        // bytes of memory; in builds with checks
  mutable std::atomic<uint64_t> charged{0};     // charged bytes of reserved memory; in builds with checks
};

// A moment by both clocks; zeros: never.
struct Instant {
  uint64_t wall_ns = 0, ns = 0;

  static Instant now() {
    return {static_cast<uint64_t>(platform::wall_ms()) * platform::kNanosPerMilli,
            static_cast<uint64_t>(platform::monotonic_ns())};
  }
};

struct CollectorSlot : UnitSlot {
  const hprof_collector_ops* ops = nullptr;
  hprof_handlers handlers = {};  // those that both sides know; the rest is nullptr
  void* self = nullptr;
  uint32_t index = 0;          // of its view in thread records
  bool is_reported = false;    // it writes records, and an option asked for them
  uint64_t start_bytes = 0;    // reserved for its first start [control]
  InsideMark inside{nullptr};  // the unit's function that a control thread is in
  bool running = false;        // [control]
  bool has_data = false;       // it has run since create or reset [control]
  bool dumped = false;         // it has taken a heap dump since then [control]
  bool unreported = false;     // and since its last report [control]
  Instant began;               // when its data begins [control]
  Instant ended;               // when it was stopped, if it does not run [control]
  Instant reported;            // the end of its last report's window [control]
  Windows windows;             // every=: the reported state [control]
  Instant window_written;      // the end of a window that may have been lost in part [control]
  Instant window_end;          // where the next window begins; all zeros before the first [control]
  const hprof_variant* variant = nullptr;  // of its unit; its needs replace the unit's
  PhaseGate gate;                          // open while the unit runs; handlers pass it

  uint64_t needs() const { return variant != nullptr ? variant->needs : unit->needs; }
  uint64_t wants() const { return variant != nullptr ? variant->wants : unit->wants; }
};

constexpr uint32_t kMostCollectors = 8;

// Fills in settings and service tables. services.cpp
void make_host(UnitSlot& slot, const SessionParts& parts);

// True: the unit was given up, so services refuse its calls.
inline bool is_gone(const UnitSlot& slot) { return slot.gone.load(std::memory_order_acquire); }

inline const UnitSlot* slot_of(const hprof_host* host) { return reinterpret_cast<const UnitSlot*>(host); }

}  // namespace hprof
