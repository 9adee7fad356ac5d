// Where the probes of one thread count: by the place of the instruction that made an object, and its class.
//
// Belongs to one thread (a carrier, with the virtual threads on it): its probes read it, and between them its
// calls of the agent write it. What is not in the table is counted by the agent.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/draft/bytecode.h>

#include "plugins/heap_sites/recent_table.h"

namespace hprof::sites {

class PlaceTable {
 public:
  static constexpr uint32_t kFirstRoom = 1u << 7;  // entries
  static constexpr uint32_t kMostRoom = 1u << 13;

  void open(const UnitMemory& memory) { memory_from_ = memory; }
  void close();
  // For probes: the same for as long as this object lives.
  uint64_t address() const { return reinterpret_cast<uintptr_t>(&places_); }

  // The entry of that key, which may be outdated; null: not there. [owner]
  hprof_place_entry* find(uint64_t key) const { return find_in(shown_, key); }
  // Sets the entry of that key, in place of another one if need be. Without memory it does nothing. [owner]
  void put(uint64_t key, const Known& known);
  static Known known_of(const hprof_place_entry& entry);
  // Probes find nothing until resume(). [owner]
  void pause();
  void resume();

 private:
  static hprof_place_entry* pair_of(const hprof_places& places, uint64_t key) {
    return reinterpret_cast<hprof_place_entry*>(
        static_cast<uintptr_t>(places.table + hprof_place_pair(&places, key)));
  }
  static hprof_place_entry* find_in(const hprof_places& places, uint64_t key) {
    auto* pair = pair_of(places, key);
    if (pair[0].key == key) return pair;
    return pair[1].key == key ? pair + 1 : nullptr;
  }
  static hprof_places nothing();
  bool grow();

  UnitMemory memory_from_;
  hprof_places places_ = nothing();      // what probes see
  hprof_places shown_ = nothing();       // the same, unless they are paused
  hprof_place_entry* memory_ = nullptr;  // room and one more pair
  uint32_t room_ = 0;
  uint32_t replaced_ = 0;
};

}  // namespace hprof::sites
