// A text with another owner, and a writer into a fixed buffer. No allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hprof {

// `size` bytes at `data`, not NUL-terminated; data may be nullptr when size is 0. The owner keeps it alive.
struct Str {
  const char* data = nullptr;
  size_t size = 0;

  constexpr Str() = default;
  constexpr Str(const char* bytes, size_t length) : data(bytes), size(length) {}
  // A NUL-terminated text; nullptr is the empty text. Always inlined, so that the length of a literal is a
  // constant.
  [[gnu::always_inline]] constexpr Str(const char* text)
      : data(text), size(text == nullptr ? 0 : __builtin_strlen(text)) {}

  constexpr bool empty() const { return size == 0; }
  constexpr char operator[](size_t index) const { return data[index]; }

  // The part from `from` up to but not including `to`; both are cut to the size.
  constexpr Str part(size_t from, size_t to = SIZE_MAX) const {
    if (to > size) to = size;
    return from < to ? Str(data + from, to - from) : Str();
  }
  // Position of the first `c` at or after `from`, or `size`.
  constexpr size_t find(char c, size_t from = 0) const {
    while (from < size && data[from] != c) ++from;
    return from < size ? from : size;
  }
};

inline bool operator==(Str a, Str b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
inline bool operator!=(Str a, Str b) { return !(a == b); }

// Moves the text up to the next `separator` from `*rest` to `*part`, and drops the separator. False: nothing
// is left. "a||b" gives "a", "", "b"; a separator at the end gives no empty part after it.
inline bool next_part(Str* rest, char separator, Str* part) {
  if (rest->size == 0) return false;
  const size_t end = rest->find(separator);
  *part = rest->part(0, end);
  *rest = rest->part(end + 1);
  return true;
}

// Appends to a buffer of the caller, which is NUL-terminated at all times; what does not fit is left out, and
// noted.
class TextWriter {
 public:
  // size: of the buffer, at least 1.
  TextWriter(char* buffer, size_t size) : buffer_(buffer), room_(size - 1) { buffer_[0] = '\0'; }

  TextWriter& put(Str text) {
    size_t length = text.size;
    if (length > room_ - used_) {
      length = room_ - used_;
      cut_ = true;
    }
    if (length != 0) memcpy(buffer_ + used_, text.data, length);
    used_ += length;
    buffer_[used_] = '\0';
    return *this;
  }
  // For literals, the most frequent case: one argument less at each call.
  [[gnu::noinline]] TextWriter& put(const char* text) { return put(Str(text)); }
  TextWriter& put(char c) { return put(Str(&c, 1)); }

  TextWriter& put_unsigned(uint64_t value) {
    char digits[20];
    size_t at = sizeof(digits);
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return put(Str(digits + at, sizeof(digits) - at));
  }

  // Appends text from outside for a terminal: control characters become '?', bytes beyond `most` "...".
  TextWriter& put_printable(Str text, size_t most = SIZE_MAX) {
    const bool shorten = text.size > most;
    const Str shown = text.part(0, most);
    for (size_t i = 0; i < shown.size; ++i) {
      const unsigned char c = static_cast<unsigned char>(shown[i]);
      put(c < 0x20 || c == 0x7f ? '?' : shown[i]);
    }
    return shorten ? put("...") : *this;
  }

  size_t size() const { return used_; }
  bool cut() const { return cut_; }
  Str text() const { return Str(buffer_, used_); }

 private:
  char* buffer_;
  size_t room_;
  size_t used_ = 0;
  bool cut_ = false;
};

}  // namespace hprof
