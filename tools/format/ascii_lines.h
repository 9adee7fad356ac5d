// Lines of a text file, and a scanner for the forms that the format's printf calls write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/format/input.h"

namespace hprof::tool {

// True: the source begins like the text format. Leaves it at its start.
bool is_text(ByteSource& source);

class LineReader {
 public:
  // Longer lines are cut: no name makes a line that long.
  static constexpr size_t kLineMax = size_t{1} << 20;
  explicit LineReader(Input& in) : in_(in) {}

  // Reads the next line without its end (LF or CR LF), valid until the next call. False: the input has ended.
  bool next(std::string_view* line);
  uint64_t number() const { return number_; }  // of the line that next() gave, from 1
  bool cut() const { return cut_; }
  // True: the last line had no line feed.
  bool unfinished() const { return unfinished_; }
  // True: the line ended with CR LF.
  bool carriage_return() const { return carriage_return_; }

 private:
  Input& in_;
  std::string line_;
  uint64_t number_ = 0;
  bool cut_ = false;
  bool unfinished_ = false;
  bool carriage_return_ = false;
};

// Reads one line from left to right. A step that does not match returns false, and so do all after it.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool literal(std::string_view expected) {
    ok_ = ok_ && rest_.substr(0, expected.size()) == expected;
    if (ok_) rest_.remove_prefix(expected.size());
    return ok_;
  }
  // Skips the literal if it is there; else returns false without failing.
  bool maybe(std::string_view expected) {
    if (!ok_ || rest_.substr(0, expected.size()) != expected) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool decimal(uint64_t* value) { return number(10, value); }
  bool hexadecimal(uint64_t* value) { return number(16, value); }
  bool signed_decimal(int64_t* value);
  // "12.34%", in hundredths. The original writes the decimal separator of the program's locale.
  bool percent(uint64_t* hundredths);
  bool blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    return ok_;
  }
  // Reads up to the last occurrence of `end`, and `end`.
  bool up_to_last(std::string_view end, std::string_view* text);
  bool up_to(std::string_view end, std::string_view* text);
  std::string_view rest() const { return rest_; }
  // True: nothing has failed, and nothing of the line is left.
  bool done() const { return ok_ && rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  bool number(unsigned base, uint64_t* value);
  std::string_view rest_;
  bool ok_ = true;
};

inline bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// True: the text is of the form of ctime() in the C locale, "Sat Nov 21 05:00:02 2026".
bool is_ctime(std::string_view text);

}  // namespace hprof::tool
