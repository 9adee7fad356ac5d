// The rows of the core's own options.
#include "core/option/core_options.h"

#include "core/base/build.h"
#include "core/protocol/control_address.h"

namespace hprof {
namespace {

#define AT(member) static_cast<uint32_t>(offsetof(CoreConfig, member))

// In the order of their groups.
const hprof_option kRows[] = {
#define HPROF_CORE_OPTION(group, help, value, ...) {__VA_ARGS__, nullptr, nullptr},
#include "core/option/core_options.def"
#undef HPROF_CORE_OPTION
};
constexpr CoreGroup kGroups[] = {
#define HPROF_CORE_OPTION(group, ...) CoreGroup::group,
#include "core/option/core_options.def"
#undef HPROF_CORE_OPTION
};
constexpr uint32_t kRowCount = sizeof(kRows) / sizeof(kRows[0]);

// What find_core_option returns for options of kIgnoredOptions. No value is stored.
const hprof_option kIgnored = {"", HPROF_OPTION_TEXT, 0, nullptr, nullptr, 0, 0, nullptr, nullptr};

#undef AT

}  // namespace

OptionTable core_options(CoreGroup group) {
  uint32_t first = 0, end = 0;
  while (kGroups[first] != group) ++first;
  for (end = first; end < kRowCount && kGroups[end] == group; ++end) {
  }
  return OptionTable{kRows + first, end - first, sizeof(hprof_option)};
}

const hprof_option* find_core_option(Str name) {
  if (const hprof_option* row = all_core_options().find(name)) return row;
  Str rest(kIgnoredOptions), ignored;
  while (next_part(&rest, ' ', &ignored)) {
    if (ignored == name) return &kIgnored;
  }
  return nullptr;
}

bool is_shared_option(Str name) { return name == "interval" || name == "clock" || name == "secret-file"; }

bool takes_commands(const CoreConfig& core) {
  return !is_control_off(core.control) || (core.listen != nullptr && core.listen[0] != '\0');
}

OptionTable all_core_options() { return OptionTable{kRows, kRowCount, sizeof(hprof_option)}; }

const hprof_option& default_profile() { return kRows[0]; }

const char* default_format() { return core_options(CoreGroup::kOutput)[0].default_text; }

bool is_profile_selector(Str name) { return core_options(CoreGroup::kProfile).find(name) != nullptr; }

bool chooses_profile(Str name) { return is_profile_selector(name) || find_core_option(name) == nullptr; }

bool selects_nothing(Str value) { return value == "off" || value == "n"; }

}  // namespace hprof
