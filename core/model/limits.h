// Capacities of the model's tables.
#pragma once

#include <cstdint>

#include "core/base/region.h"

namespace hprof {

// In entries, or in bytes where the name says so. Unused room costs only address space (Backing::kLazy).
struct ModelLimits {
  uint32_t strings;
  uint32_t classes;
  uint32_t methods;
  uint32_t frames;
  uint32_t traces;
  uint32_t threads;           // remembered at a time, a power of two
  uint32_t thread_names;      // distinct names kept; digits of later ones are folded
  uint32_t method_map;        // jmethodIDs of loaded classes
  uint64_t text_bytes;        // of all strings
  uint64_t trace_bytes;       // of all traces' frame lists, 4 per frame
  uint64_t line_table_bytes;  // 4 per line entry
  Backing backing;

  // The defaults: about 1M strings, 512k methods, 1M frames, 512k traces, 128k threads; half a GiB of address
  // space where addresses have 64 bits, an eighth of that elsewhere.
  static ModelLimits standard();

  // For small memories: limits of at most `bytes` in all, allocated at creation, so that later only a full
  // table refuses entries; in the proportions of a short profile of a small program. With `book`, more than
  // half is for the method book. Below about 100 KiB: the smallest tables, which take more. [any]
  static ModelLimits small(uint64_t bytes, bool book);

  // Halves all capacities, down to the smallest useful ones. False: they are the smallest.
  bool halve();

  // The room of all tables, in bytes.
  uint64_t room() const;
};

}  // namespace hprof
