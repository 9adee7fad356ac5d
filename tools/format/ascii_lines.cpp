#include "tools/format/ascii_lines.h"

#include <algorithm>

namespace hprof::tool {

bool is_text(ByteSource& source) {
  uint8_t bytes[64];
  size_t got = 0;
  while (got < sizeof bytes) {
    size_t more = source.read(bytes + got, sizeof bytes - got);
    if (more == 0) break;
    got += more;
  }
  source.seek(0);
  return std::find(bytes, bytes + got, uint8_t{0}) == bytes + got;
}

bool LineReader::next(std::string_view* line) {
  line_.clear();
  cut_ = unfinished_ = carriage_return_ = false;
  if (in_.at_end()) return false;
  ++number_;
  bool ended = in_.line(kLineMax, &line_, &cut_);
  unfinished_ = !ended;
  carriage_return_ = ended && !cut_ && !line_.empty() && line_.back() == '\r';
  if (carriage_return_) line_.pop_back();
  *line = line_;
  return true;
}

bool Scan::number(unsigned base, uint64_t* value) {
  *value = 0;
  size_t digits = 0;
  while (ok_ && digits < rest_.size()) {
    char c = rest_[digits];
    unsigned digit = c >= '0' && c <= '9' ? static_cast<unsigned>(c - '0') : base;
    if (base == 16 && c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (digit >= base) break;
    if (*value > (UINT64_MAX - digit) / base) return ok_ = false;
    *value = *value * base + digit;
    ++digits;
  }
  if (digits == 0) return ok_ = false;
  rest_.remove_prefix(digits);
  return true;
}

bool Scan::signed_decimal(int64_t* value) {
  bool negative = maybe("-");
  uint64_t magnitude = 0;
  if (!decimal(&magnitude) || magnitude > INT64_MAX) return ok_ = false;
  *value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

bool Scan::percent(uint64_t* hundredths) {
  uint64_t whole = 0, part = 0;
  if (!decimal(&whole) || !(maybe(".") || maybe(",") || literal("\u066b"))) return false;
  size_t before = rest_.size();
  if (!decimal(&part) || before - rest_.size() != 2 || whole > 1000000) return ok_ = false;
  *hundredths = whole * 100 + part;
  return literal("%");
}

bool Scan::up_to_last(std::string_view end, std::string_view* text) {
  size_t at = rest_.rfind(end);
  if (!ok_ || at == std::string_view::npos) return ok_ = false;
  *text = rest_.substr(0, at);
  rest_.remove_prefix(at + end.size());
  return true;
}

bool Scan::up_to(std::string_view end, std::string_view* text) {
  size_t at = rest_.find(end);
  if (!ok_ || at == std::string_view::npos) return ok_ = false;
  *text = rest_.substr(0, at);
  rest_.remove_prefix(at + end.size());
  return true;
}

bool is_ctime(std::string_view text) {
  static constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 24) return false;
  auto name = [&](std::string_view names, size_t at) {
    size_t found = names.find(text.substr(at, 3));
    return found != std::string_view::npos && found % 3 == 0;
  };
  auto digits = [&](size_t at, size_t count) {
    for (size_t i = at; i < at + count; ++i) {
      if (text[i] < '0' || text[i] > '9') return false;
    }
    return true;
  };
  bool day = (text[8] == ' ' || digits(8, 1)) && digits(9, 1);
  return name(kDays, 0) && text[3] == ' ' && name(kMonths, 4) && text[7] == ' ' && day && text[10] == ' ' &&
         digits(11, 2) && text[13] == ':' && digits(14, 2) && text[16] == ':' && digits(17, 2) &&
         text[19] == ' ' && digits(20, 4);
}

}  // namespace hprof::tool
