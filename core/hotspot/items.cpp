#include "core/hotspot/items.h"

namespace hprof {

static constexpr const char* kNames[] = {
#define HPROF_ITEM(id, name, ...) name,
#include "core/hotspot/items.def"
#undef HPROF_ITEM
};

const char* item_name(Item item) { return kNames[static_cast<uint32_t>(item)]; }

static bool apply(Str word, uint32_t* off) {
  const uint32_t all = ~0u >> (32 - kItems);
  if (word == "y" || word == "n") {
    *off = word == "y" ? kOffByDefault : all;
    return true;
  }
  if (word.empty() || (word[0] != '-' && word[0] != '+')) return false;
  for (uint32_t i = 0; i < kItems; i++) {
    if (word.part(1) != kNames[i]) continue;
    *off = word[0] == '-' ? *off | 1u << i : *off & ~(1u << i);
    return true;
  }
  return false;
}

bool parse_items(Str value, uint32_t* off, TextWriter* problem) {
  *off = kOffByDefault;
  Str word;
  bool good = !value.empty();
  while (good && next_part(&value, ':', &word)) good = apply(word, off);
  if (good) return true;
  problem->put("y, n, or a list of -<item> or +<item>, separated by ':', of");
  for (uint32_t i = 0; i < kItems; i++) problem->put(i == 0 ? " " : ", ").put(kNames[i]);
  return false;
}

}  // namespace hprof
