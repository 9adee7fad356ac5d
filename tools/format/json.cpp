#include "tools/format/json.h"

#include <algorithm>

#include "tools/format/ascii_lines.h"
#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool value(JsonValue* to, unsigned depth) {
    constexpr unsigned kDepthMost = 32;
    blanks();
    if (depth == kDepthMost) return false;
    if (take('{')) return object(to, depth);
    if (take('[')) return list(to, depth);
    if (take('"')) {
      to->kind = JsonValue::kText;
      return string(&to->text);
    }
    const size_t size = std::min(rest_.find_first_of(",]}: \t\r\n"), rest_.size());
    to->text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return size != 0;
  }
  bool is_done() {
    blanks();
    return rest_.empty();
  }

 private:
  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(char letter) {
    if (rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // The letter, with blanks before it.
  bool next(char letter) {
    blanks();
    return take(letter);
  }

  bool object(JsonValue* to, unsigned depth) {
    to->kind = JsonValue::kObject;
    if (next('}')) return true;
    do {
      to->members.emplace_back();
      auto& [name, member] = to->members.back();
      if (!next('"') || !string(&name) || !next(':') || !value(&member, depth + 1)) return false;
    } while (next(','));
    return next('}');
  }
  bool list(JsonValue* to, unsigned depth) {
    to->kind = JsonValue::kList;
    if (next(']')) return true;
    do {
      to->items.emplace_back();
      if (!value(&to->items.back(), depth + 1)) return false;
    } while (next(','));
    return next(']');
  }

  bool string(std::string* to) {
    for (;;) {
      const size_t plain = rest_.find_first_of("\"\\");
      if (plain == std::string_view::npos) return false;
      to->append(rest_.substr(0, plain));
      rest_.remove_prefix(plain);
      if (take('"')) return true;
      rest_.remove_prefix(1);
      if (!escape(to)) return false;
    }
  }
  bool escape(std::string* to) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    const size_t index = kLetters.find(letter);
    if (index != std::string_view::npos) {
      to->push_back(kMeant[index]);
      return true;
    }
    constexpr size_t kDigits = 4;
    uint64_t unit = 0;
    Scan digits(rest_.substr(0, kDigits));
    if (letter != 'u' || rest_.size() < kDigits || !digits.hexadecimal(&unit) || !digits.done()) return false;
    rest_.remove_prefix(kDigits);
    append_utf8(static_cast<uint16_t>(unit), to);
    return true;
  }

  std::string_view rest_;
};

const JsonValue kNull = {JsonValue::kWord, "null", {}, {}};

}  // namespace

const JsonValue& JsonValue::operator[](std::string_view name) const {
  for (const auto& [each, member] : members)
    if (each == name) return member;
  return kNull;
}

const std::string& JsonValue::words() const {
  static const std::string kNone;
  return kind == kText || (kind == kWord && text != "null") ? text : kNone;
}

bool JsonValue::is_number() const {
  uint64_t value = 0;
  Scan scan(text);
  return kind == kWord && scan.decimal(&value) && scan.done();
}

uint64_t JsonValue::number() const {
  uint64_t value = 0;
  Scan scan(text);
  return kind == kWord && scan.decimal(&value) && scan.done() ? value : 0;
}

bool begins_record(std::string_view text, std::string_view* name) {
  Scan scan(text);
  for (const char* part : {"{", "\"record\"", ":", "\""})
    if (!scan.blanks() || !scan.literal(part)) return false;
  return scan.up_to("\"", name);
}

bool parse_json(std::string_view text, JsonValue* value) {
  *value = {};
  Parser parser(text);
  return parser.value(value, 0) && parser.is_done();
}

}  // namespace hprof::tool
