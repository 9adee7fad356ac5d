// JSON in memory, as a line of format=json has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hprof::tool {

struct JsonValue {
  enum Type { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };
  Type type = kNull;
  std::string text;              // of a string, in UTF-8; of a number, as it stands there
  std::vector<JsonValue> items;  // of an array
  std::vector<std::pair<std::string, JsonValue>> members;  // of an object, in their order

  // Null: there is no such member, or this is not an object.
  const JsonValue& operator[](std::string_view name) const;
  // A number of 0 or more, rounded down; false: it is not one.
  bool number(uint64_t* value) const;
};

// False with *error: "column 17: expected a value".
bool parse_json(std::string_view text, JsonValue* value, std::string* error);

}  // namespace hprof::tool
