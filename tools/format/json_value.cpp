#include "tools/format/json_value.h"

#include <cstdlib>

namespace hprof::tool {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool run(JsonValue* value, std::string* error) {
    bool good = parse(value, 0);
    if (good) {
      blanks();
      good = at_ == text_.size() || expected("the end of the line");
    }
    if (!good) *error = "column " + std::to_string(at_ + 1) + ": expected " + expected_;
    return good;
  }

 private:
  static constexpr unsigned kDeepest = 32;

  bool expected(const char* what) {
    expected_ = what;
    return false;
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  // The letter that comes next, blanks left out; 0 at the end.
  char ahead() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool eat(char letter) {
    if (ahead() != letter) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view name) {
    if (text_.substr(at_, name.size()) != name) return false;
    at_ += name.size();
    return true;
  }

  bool parse(JsonValue* value, unsigned depth) {
    if (depth > kDeepest) return expected("fewer values within values");
    switch (ahead()) {
      case '{':
        return object(value, depth);
      case '[':
        return array(value, depth);
      case '"':
        value->type = JsonValue::kString;
        return string(&value->text);
      default:
        break;
    }
    if (word("null")) return true;
    if (word("true")) {
      value->type = JsonValue::kTrue;
      return true;
    }
    if (word("false")) {
      value->type = JsonValue::kFalse;
      return true;
    }
    return number(value);
  }

  bool number(JsonValue* value) {
    const size_t from = at_;
    const auto digits = [&] {
      const size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ != first;
    };
    word("-");
    if (!digits()) return expected("a value");
    if (word(".") && !digits()) return expected("a digit");
    if (word("e") || word("E")) {
      if (!word("+")) word("-");
      if (!digits()) return expected("a digit");
    }
    value->type = JsonValue::kNumber;
    value->text = text_.substr(from, at_ - from);
    return true;
  }

  bool array(JsonValue* value, unsigned depth) {
    value->type = JsonValue::kArray;
    ++at_;
    if (eat(']')) return true;
    do {
      value->items.emplace_back();
      if (!parse(&value->items.back(), depth + 1)) return false;
    } while (eat(','));
    return eat(']') || expected("',' or ']'");
  }

  bool object(JsonValue* value, unsigned depth) {
    value->type = JsonValue::kObject;
    ++at_;
    if (eat('}')) return true;
    do {
      if (ahead() != '"') return expected("a name in quotes");
      value->members.emplace_back();
      if (!string(&value->members.back().first)) return false;
      if (!eat(':')) return expected("':'");
      if (!parse(&value->members.back().second, depth + 1)) return false;
    } while (eat(','));
    return eat('}') || expected("',' or '}'");
  }

  bool string(std::string* text) {
    ++at_;
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
      if (letter == '"') return true;
      if (letter != '\\') {
        text->push_back(letter);
      } else if (!escape(text)) {
        return false;
      }
    }
    return expected("the end of a string");
  }

  bool escape(std::string* text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    const size_t known = letter != '\0' ? kLetters.find(letter) : std::string_view::npos;
    if (known != std::string_view::npos) {
      text->push_back(kMeant[known]);
      return true;
    }
    uint32_t code = 0, low = 0;
    if (letter != 'u' || !hexadecimal(&code))
      return expected("one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000");
    const size_t behind = at_;
    if (code >= 0xd800 && code < 0xdc00 && word("\\u") && hexadecimal(&low) && low >= 0xdc00 &&
        low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else {
      at_ = behind;
    }
    put_utf8(code, text);
    return true;
  }
  bool hexadecimal(uint32_t* code) {
    *code = 0;
    if (text_.size() - at_ < 4) return false;
    for (size_t i = 0; i < 4; ++i) {
      const char c = text_[at_ + i];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      *code = *code * 16 + static_cast<uint32_t>(digit);
    }
    at_ += 4;
    return true;
  }
  static void put_utf8(uint32_t code, std::string* text) {
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;  // half of a pair
    const auto put = [&](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  std::string_view text_;
  size_t at_ = 0;
  const char* expected_ = "";
};

}  // namespace

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue kNothing;
  for (const auto& [key, value] : members) {
    if (key == name) return value;
  }
  return kNothing;
}

bool JsonValue::number(uint64_t* value) const {
  *value = 0;
  if (type != kNumber || text[0] == '-') return false;
  for (const char c : text) {
    if (c < '0' || c > '9') {  // a fraction or an exponent
      const double real = std::strtod(text.c_str(), nullptr);
      if (!(real < 18446744073709551616.0)) return false;
      *value = static_cast<uint64_t>(real);
      return true;
    }
    const auto digit = static_cast<uint64_t>(c - '0');
    if (*value > (UINT64_MAX - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  return true;
}

bool parse_json(std::string_view text, JsonValue* value, std::string* error) {
  return Parser(text).run(value, error);
}

}  // namespace hprof::tool
