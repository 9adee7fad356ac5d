#include "plugins/heap_sites/place_table.h"

namespace hprof::sites {

static constexpr uint32_t kWays = 2;
static constexpr uint64_t kPair = 64;  // bytes

static_assert(sizeof(hprof_place_entry) * kWays == kPair, "the probes flip a bit to come to the other one");

// Where nothing is found; never written.
alignas(kPair) static hprof_place_entry no_entries[kWays];

hprof_places PlaceTable::nothing() { return {reinterpret_cast<uintptr_t>(no_entries), 0, 0}; }

void PlaceTable::close() {
  memory_from_.release(memory_, room_ + kWays);
  memory_ = nullptr;
  room_ = 0;
  places_ = shown_ = nothing();
}

// `next` is the probes' and stays.
void PlaceTable::pause() {
  const hprof_places none = nothing();
  places_.table = none.table;
  places_.mask = none.mask;
}

void PlaceTable::resume() {
  places_.table = shown_.table;
  places_.mask = shown_.mask;
}

bool PlaceTable::grow() {
  const uint32_t room = room_ == 0 ? kFirstRoom : room_ * 4;
  auto* memory = memory_from_.allocate<hprof_place_entry>(room + kWays);
  if (memory == nullptr) return false;
  hprof_places wide = {(reinterpret_cast<uintptr_t>(memory) + kPair - 1) & ~uintptr_t{kPair - 1},
                       room / kWays * kPair - kPair, 0};
  auto* old = reinterpret_cast<hprof_place_entry*>(static_cast<uintptr_t>(shown_.table));
  for (uint32_t i = 0; i < room_; i++) {
    if (old[i].key == 0) continue;
    auto* to = pair_of(wide, old[i].key);
    if (to[0].key != 0) to++;
    *to = old[i];
  }
  const bool is_paused = places_.table != shown_.table;
  shown_ = wide;
  if (!is_paused) resume();
  memory_from_.release(memory_, room_ + kWays);
  memory_ = memory;
  room_ = room;
  replaced_ = 0;
  return true;
}

void PlaceTable::put(uint64_t key, const Known& known) {
  hprof_place_entry* entry = find(key);
  if (entry == nullptr) {
    const bool wants_room = room_ == 0 || (replaced_ > room_ / 4 && room_ < kMostRoom);
    if (wants_room && !grow() && room_ == 0) return;
    entry = pair_of(shown_, key);
    if (entry[0].key != 0) {
      replaced_++;
      if (entry[1].key == 0 || (replaced_ & 1) != 0) entry++;
    }
  }
  *entry = {key, reinterpret_cast<uintptr_t>(known.count), known.epoch, static_cast<int32_t>(known.size),
            known.owner};
}

Known PlaceTable::known_of(const hprof_place_entry& entry) {
  return {reinterpret_cast<Count*>(static_cast<uintptr_t>(entry.count)),
          static_cast<uint32_t>(entry.reserved), static_cast<uint32_t>(entry.size), entry.epoch};
}

}  // namespace hprof::sites
