// The items of items.def by number, and the option hotspot= that switches them off. No VM needed.
#pragma once

#include <cstdint>

#include "core/base/message.h"
#include "core/modules/hotspot/frame_slots.h"

namespace hprof {

enum class Item : uint32_t {
#define HPROF_ITEM(id, ...) k##id,
#include "core/hotspot/items.def"
#undef HPROF_ITEM
  kCount
};
constexpr uint32_t kItems = static_cast<uint32_t>(Item::kCount);
static_assert(kItems <= 32, "a set of items is a bit for each");

constexpr uint32_t bit_of(Item item) { return 1u << static_cast<uint32_t>(item); }
const char* item_name(Item item);
// Off unless `+<item>` is given: on this processor they were tried in an emulator only.
constexpr uint32_t kOffByDefault =
    FrameSlots::kIsTried ? 0 : bit_of(Item::kFrameWalk) | bit_of(Item::kWeakReuse);

// Parses hotspot=: y (the default), n, or a list of -<item> and +<item>, separated by ':', where later ones
// override earlier ones; *off gets the items that are switched off. False: invalid, and *problem continues
// the sentence "hotspot option value must be ". [onload]
bool parse_items(Str value, uint32_t* off, TextWriter* problem);

}  // namespace hprof
