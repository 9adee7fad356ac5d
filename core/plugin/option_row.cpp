#include "core/plugin/option_row.h"

#include <initializer_list>

#include "core/base/value.h"

namespace hprof {
namespace {

constexpr double kNanosPerMilli = 1e6;

bool is_bounded(const hprof_option& row) { return row.min != 0 || row.max != 0; }

uint32_t value_bytes(uint32_t type) {
  switch (type) {
    case HPROF_OPTION_FLAG:
    case HPROF_OPTION_CHOICE:
      return sizeof(uint32_t);
    case HPROF_OPTION_INT:
    case HPROF_OPTION_REAL:
    case HPROF_OPTION_SIZE:
    case HPROF_OPTION_MILLIS:
      return sizeof(uint64_t);
    case HPROF_OPTION_TEXT:
      return sizeof(const char*);
    default:
      return 0;
  }
}

// True: the text ends within kOptionTextMost bytes.
bool is_short(const char* text) { return memchr(text, '\0', kOptionTextMost) != nullptr; }

bool in_range(const hprof_option& row, double value, TextWriter* problem) {
  if (!is_bounded(row) || (value >= row.min && value <= row.max)) return true;
  const bool low = value < row.min;
  problem->put("decimal and ").put(low ? ">= " : "<= ");
  put_real(problem, low ? row.min : row.max);
  return false;
}

void say_number(const hprof_option& row, Str kind, TextWriter* problem) {
  problem->put(kind);
  if (!is_bounded(row)) return;
  problem->put(" and >= ");
  put_real(problem, row.min);
}

bool choice_of(Str choices, Str value, uint32_t* position) {
  Str choice;
  for (uint32_t i = 0; next_part(&choices, '|', &choice); ++i) {
    if (choice == value) {
      *position = i;
      return true;
    }
  }
  return false;
}

template <class T>
bool keep(const hprof_option& row, void* config, T value) {
  memcpy(static_cast<char*>(config) + row.offset, &value, sizeof(value));
  return true;
}

}  // namespace

const hprof_option* OptionTable::find(Str name) const {
  for (uint32_t i = 0; i < count; ++i) {
    if (Str((*this)[i].name) == name) return &(*this)[i];
  }
  return nullptr;
}

OptionTable options_of(const hprof_unit& unit) {
  OptionTable table;
  table.rows = unit.options;
  table.count = unit.options == nullptr ? 0 : unit.option_count;
  table.stride = unit.option_stride;
  return table;
}

bool is_plain_name(Str name, size_t most, bool dash) {
  if (name.empty() || name.size > most) return false;
  for (size_t i = 0; i < name.size; ++i) {
    const char c = name[i];
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!letter && !(dash && c == '-' && i != 0)) return false;
  }
  return true;
}

const char* option_row_problem(const hprof_option& row, uint32_t config_size) {
  if (row.name == nullptr || !is_short(row.name)) return "an option has no name";
  if (!is_plain_name(row.name, kOptionNameMost, true))
    return "an option's name is not made of letters, digits, - and _";
  const uint32_t bytes = value_bytes(row.type);
  if (bytes == 0) return "an option has a type that this agent does not know";
  if (row.offset > config_size || bytes > config_size - row.offset) {
    return "an option's value lies outside of its config struct";
  }
  if (!(row.min <= row.max)) return "an option's smallest value is above its largest";
  for (const char* text : {row.default_text, row.choices, row.value_text, row.help}) {
    if (text != nullptr && !is_short(text)) return "an option has a text of more than 511 bytes";
  }
  if (row.type == HPROF_OPTION_CHOICE && Str(row.choices).empty())
    return "an option of type choice has no choices";
  if (row.default_text != nullptr) {
    char said[kOptionTextMost];
    uint64_t value[1];
    hprof_option scratch = {};
    memcpy(&scratch, &row, HPROF_SIZE_TO(hprof_option, help));
    scratch.offset = 0;
    TextWriter problem(said, sizeof(said));
    if (!store_option_value(scratch, row.default_text, value, &problem)) {
      return "an option's default is not one of its values";
    }
  }
  return nullptr;
}

bool store_option_value(const hprof_option& row, const char* value, void* config, TextWriter* problem) {
  const Str text(value);
  int64_t number = 0;
  uint64_t large = 0;
  uint32_t small = 0;
  double real = 0;
  switch (row.type) {
    case HPROF_OPTION_FLAG:
      if (text == "y" || text == "n") return keep<uint32_t>(row, config, text == "y" ? 1 : 0);
      problem->put("y|n");
      return false;
    case HPROF_OPTION_INT:
      if (parse_decimal(text, &number)) {
        return in_range(row, static_cast<double>(number), problem) && keep(row, config, number);
      }
      say_number(row, "decimal", problem);
      return false;
    case HPROF_OPTION_REAL:
      if (parse_real(text, &real)) return in_range(row, real, problem) && keep(row, config, real);
      say_number(row, "decimal", problem);
      return false;
    case HPROF_OPTION_TEXT:
      return keep(row, config, value);
    case HPROF_OPTION_CHOICE:
      if (choice_of(row.choices, text, &small)) return keep(row, config, small);
      problem->put(row.choices);
      return false;
    case HPROF_OPTION_SIZE:
      if (parse_size(text, &large)) {
        return in_range(row, static_cast<double>(large), problem) && keep(row, config, large);
      }
      say_number(row, "a number of bytes, or of k, m or g,", problem);
      return false;
    case HPROF_OPTION_MILLIS:
      if (parse_millis(text, &large)) {
        return in_range(row, static_cast<double>(large) / kNanosPerMilli, problem) &&
               keep(row, config, large);
      }
      say_number(row, "decimal", problem);
      return false;
    default:
      problem->put("of a type that this agent knows");
      return false;
  }
}

void store_option_defaults(const OptionTable& table, void* config, uint32_t config_size) {
  if (config_size == 0) return;
  memset(config, 0, config_size);
  char said[kOptionTextMost];
  for (uint32_t i = 0; i < table.count; ++i) {
    TextWriter problem(said, sizeof(said));
    if (table[i].default_text != nullptr)
      store_option_value(table[i], table[i].default_text, config, &problem);
  }
}

Str option_value_text(const hprof_option& row) {
  if (row.value_text != nullptr) return row.value_text;
  switch (row.type) {
    case HPROF_OPTION_FLAG:
      return "y|n";
    case HPROF_OPTION_CHOICE:
      return row.choices;
    case HPROF_OPTION_SIZE:
      return "<size>";
    case HPROF_OPTION_MILLIS:
      return "<ms>";
    case HPROF_OPTION_TEXT:
      return "<text>";
    default:
      return "<number>";
  }
}

}  // namespace hprof
