// The items of items.def by number, and the option hotspot= that switches them off. No VM needed.
#pragma once

#include <cstdint>

#include "core/base/message.h"

namespace hprof {

enum class Item : uint32_t {
#define HPROF_ITEM(id, ...) k##id,
#include "core/vm_tables/items.def"
#undef HPROF_ITEM
  kCount
};
constexpr uint32_t kItems = static_cast<uint32_t>(Item::kCount);
static_assert(kItems <= 32, "a set of items is a bit for each");

constexpr uint32_t bit_of(Item item) { return 1u << static_cast<uint32_t>(item); }
const char* item_name(Item item);
// Off unless `+<item>` is given: tested in an emulator only on this processor.
#ifdef __aarch64__
constexpr uint32_t kOffByDefault =
    bit_of(Item::kFrameWalk) | bit_of(Item::kSampleWalk) | bit_of(Item::kWeakReuse);
#else
constexpr uint32_t kOffByDefault = 0;
#endif
// Off unless `+<item>` is given: items that write the VM's memory, on a Java version that their row does not
// list. [any]
uint32_t unseen_items(uint32_t java_version);

// The items that hotspot= switches on or off, a bit each; no item is in both.
struct ItemChoice {
  uint32_t on = 0, off = 0;
};
// Parses hotspot=: y (the default), n, or a list of -<item> and +<item>, separated by ':', where later ones
// override earlier ones. False: invalid, and *problem continues the sentence "hotspot option value must be ".
// [onload]
bool parse_items(Str value, ItemChoice* choice, TextWriter* problem);

}  // namespace hprof
