// Option rows (hprof_option): reads tables of them, checks a row, stores a value.
#pragma once

#include <hprof/plugin.h>

#include "core/base/message.h"
#include "core/base/text.h"

namespace hprof {

// The largest config struct, option name and other text of a row.
constexpr uint32_t kConfigBytesMost = 4096;
constexpr size_t kOptionNameMost = 32;
constexpr size_t kOptionTextMost = 512;
constexpr uint32_t kOptionRowsMost = 64;

// The rows of the core or of a unit. `stride`: the row's size as its owner knows it.
struct OptionTable {
  const hprof_option* rows = nullptr;
  uint32_t count = 0;
  uint32_t stride = sizeof(hprof_option);

  const hprof_option& operator[](uint32_t index) const {
    return *reinterpret_cast<const hprof_option*>(reinterpret_cast<const char*>(rows) +
                                                  size_t{index} * stride);
  }
  // nullptr: no such row.
  const hprof_option* find(Str name) const;
};

OptionTable options_of(const hprof_unit& unit);

// True: letters, digits, '_' and, with `dash`, '-'; from 1 to `most` of them. [any]
bool is_plain_name(Str name, size_t most, bool dash);

// The problem with a row for a config struct of config_size bytes, static text; nullptr: none. [any]
const char* option_row_problem(const hprof_option& row, uint32_t config_size);

// Stores a typed value for a row that option_row_problem accepts. HPROF_OPTION_TEXT and _TAIL keep the
// pointer. False: not a value of this row; nothing is stored, and *problem continues the sentence "<name>
// option value must be ". [any]
bool store_option_value(const hprof_option& row, const char* value, void* config, TextWriter* problem);

// Zeroes the struct and stores the default of every row. [any]
void store_option_defaults(const OptionTable& table, void* config, uint32_t config_size);

// "<ms>", "y|n": the form of a value, for help.
Str option_value_text(const hprof_option& row);

}  // namespace hprof
