// A unit while the session uses it: its host, its config and, for a collector, its state.
#pragma once

#include <cstdint>

#include <hprof/collector.h>
#include <hprof/plugin.h>

#include "core/agent/phase_gate.h"

namespace hprof {

class Session;

// `host` comes first: a service gets the unit's host and finds the slot by it.
struct UnitSlot {
  hprof_host host = {};
  Session* session = nullptr;
  const hprof_unit* unit = nullptr;
  void* config = nullptr;
};

struct CollectorSlot : UnitSlot {
  const hprof_collector_ops* ops = nullptr;
  void* self = nullptr;
  uint32_t index = 0;       // of its view in thread records
  bool running = false;     // [control]
  bool has_data = false;    // it has run since it was created or reset [control]
  bool unreported = false;  // ... and since its last report [control]
  bool varies = false;      // its unit's variant stands for its needs
  PhaseGate gate;           // open while it runs: handlers pass it

  const hprof_handlers* handlers() const {
    return HPROF_HAS(ops, hprof_collector_ops, handlers) ? ops->handlers : nullptr;
  }
};

constexpr uint32_t kMostCollectors = 8;

inline const UnitSlot* slot_of(const hprof_host* host) { return reinterpret_cast<const UnitSlot*>(host); }

}  // namespace hprof
