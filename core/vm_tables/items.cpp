#include "core/vm_tables/items.h"

namespace hprof {

static constexpr char kNames[][24] = {
#define HPROF_ITEM(id, name, ...) name,
#include "core/vm_tables/items.def"
#undef HPROF_ITEM
};

// One bit for each Java version in a row's list.
static constexpr uint64_t versions_in(const char* list) {
  uint64_t versions = 0;
  for (uint32_t number = 0;; list++) {
    if (*list >= '0' && *list <= '9') {
      number = number * 10 + static_cast<uint32_t>(*list - '0');
      continue;
    }
    versions |= uint64_t{1} << number;
    number = 0;
    if (*list == '\0') return versions;
  }
}

// All bits for rows that do not write: they do not depend on the version.
static constexpr uint64_t kSeen[] = {
#define HPROF_ITEM(id, name, effect, what, seen, ...) effect[0] == 'w' ? versions_in(seen) : UINT64_MAX,
#include "core/vm_tables/items.def"
#undef HPROF_ITEM
};

const char* item_name(Item item) { return kNames[static_cast<uint32_t>(item)]; }

uint32_t unseen_items(uint32_t java_version) {
  uint32_t unseen = 0;
  for (uint32_t i = 0; i < kItems; i++) {
    const bool is_seen = kSeen[i] == UINT64_MAX || (java_version < 64 && (kSeen[i] >> java_version & 1) != 0);
    if (!is_seen) unseen |= 1u << i;
  }
  return unseen;
}

static bool apply(Str word, ItemChoice* choice) {
  const uint32_t all = ~0u >> (32 - kItems);
  if (word == "y" || word == "n") {
    *choice = {0, word == "y" ? 0 : all};
    return true;
  }
  if (word.empty() || (word[0] != '-' && word[0] != '+')) return false;
  for (uint32_t i = 0; i < kItems; i++) {
    if (word.part(1) != kNames[i]) continue;
    const uint32_t bit = 1u << i;
    choice->on = word[0] == '+' ? choice->on | bit : choice->on & ~bit;
    choice->off = word[0] == '-' ? choice->off | bit : choice->off & ~bit;
    return true;
  }
  return false;
}

bool parse_items(Str value, ItemChoice* choice, TextWriter* problem) {
  *choice = {};
  Str word;
  bool good = !value.empty();
  while (good && next_part(&value, ':', &word)) good = apply(word, choice);
  if (good) return true;
  problem->put("y, n, or a list of -<item> or +<item>, separated by ':', of");
  for (uint32_t i = 0; i < kItems; i++) problem->put(i == 0 ? " " : ", ").put(kNames[i]);
  return false;
}

}  // namespace hprof
