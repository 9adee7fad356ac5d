// Reads JSON in memory, as far as format=json and its like need it: numbers stay text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hprof::tool {

struct JsonValue {
  // kWord: a number, true, false or null.
  enum Kind { kWord, kText, kList, kObject } kind = kWord;
  std::string text;  // of a word; of a text in Java's UTF-8, without escapes
  std::vector<JsonValue> items;
  std::vector<std::pair<std::string, JsonValue>> members;

  // The member of that name; of any other value, and if there is none, null.
  const JsonValue& operator[](std::string_view name) const;
  bool is_true() const { return kind == kWord && text == "true"; }
  // Text, but not "null".
  const std::string& words() const;
  // 0: it is no whole number from 0 to 2^64 - 1.
  uint64_t number() const;
  bool is_number() const;
};

// True: the text begins as a line of format=json does, {"record":"name" with or without blanks.
bool begins_record(std::string_view text, std::string_view* name);

// False: the text is not one value of JSON.
bool parse_json(std::string_view text, JsonValue* value);

}  // namespace hprof::tool
