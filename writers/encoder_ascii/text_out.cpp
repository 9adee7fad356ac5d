// Numbers and names of the ascii encoder.
#include "text_out.h"

#include <hprof/cpp/ctime_text.hpp>

namespace hprof::ascii {

namespace {

constexpr uint32_t kReplacement = 0xfffd;

// Next code point of modified UTF-8, surrogate pairs joined. A byte that does not belong is U+FFFD; moves on
// by at least one byte.
uint32_t next_code(const uint8_t*& at, const uint8_t* end);

uint32_t next_unit(const uint8_t*& at, const uint8_t* end) {
  const uint32_t first = *at++;
  if (first < 0x80) return first;
  const auto follows = [&](int i) { return end - at > i && (at[i] & 0xc0) == 0x80; };
  if ((first & 0xe0) == 0xc0 && follows(0)) {
    return (first & 0x1f) << 6 | (*at++ & 0x3fu);
  }
  if ((first & 0xf0) == 0xe0 && follows(0) && follows(1)) {
    const uint32_t code = (first & 0x0f) << 12 | (at[0] & 0x3fu) << 6 | (at[1] & 0x3fu);
    at += 2;
    return code;
  }
  // Not the VM's own, but what an agent's text may hold.
  if ((first & 0xf8) == 0xf0 && follows(0) && follows(1) && follows(2)) {
    const uint32_t code = (first & 7) << 18 | (at[0] & 0x3fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    at += 3;
    return code >= 0x10000 && code <= 0x10ffff ? code : kReplacement;
  }
  return kReplacement;
}

// Next code point, surrogate pairs joined.
uint32_t next_code(const uint8_t*& at, const uint8_t* end) {
  const uint32_t unit = next_unit(at, end);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit < 0xdc00 && at != end) {
    const uint8_t* ahead = at;
    const uint32_t low = next_unit(ahead, end);
    if (low >= 0xdc00 && low <= 0xdfff) {
      at = ahead;
      return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  }
  return kReplacement;
}

// Control characters, line ends of any script, and what turns the direction of text around.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

bool is_blank(uint32_t code) {
  return code == 0x20 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200b) ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

uint32_t to_utf8(char* to, uint32_t code) {
  const auto tail = [&](uint32_t shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<char>(0xc0 | code >> 6);
    to[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<char>(0xe0 | code >> 12);
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<char>(0xf0 | code >> 18);
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

bool is_plain(uint8_t c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

TextOut& TextOut::put(const char* text, uint64_t size) {
  bytes(text, size);
  return *this;
}

TextOut& TextOut::dec(uint64_t v, uint32_t width) {
  if (uint8_t* to = room(kNumberMost)) advance(format_decimal(reinterpret_cast<char*>(to), v, width));
  return *this;
}

TextOut& TextOut::date(uint64_t wall_ms) {
  return put(local_ctime_text(host_, clock_, wall_ms).text, sizeof(CtimeText) - 1);
}

TextOut& TextOut::signed_dec(int64_t v) {
  if (v >= 0) return dec(static_cast<uint64_t>(v));
  return lit("-").dec(uint64_t{0} - static_cast<uint64_t>(v));
}

TextOut& TextOut::hex(uint64_t v) {
  if (uint8_t* to = room(kNumberMost)) advance(format_hex(reinterpret_cast<char*>(to), v));
  return *this;
}

TextOut& TextOut::percent(uint64_t part, uint64_t total) {
  const double share = total == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
  if (uint8_t* to = room(kNumberMost)) advance(format_fixed2(reinterpret_cast<char*>(to), share, 5));
  return lit("%");
}

TextOut& TextOut::real(double v) {
  if (v != v) return lit("nan");
  if (v < 0) {
    lit("-");
    v = -v;
  }
  if (v > 1.7976931348623157e308) return lit("inf");
  int32_t exponent = 0;
  if (v != 0 && (v >= 1e15 || v < 1e-4)) {
    // Ten by ten: this is no hot path, and needs no libm.
    for (; v >= 10; v /= 10) exponent++;
    for (; v < 1; v *= 10) exponent--;
  }
  uint64_t whole = static_cast<uint64_t>(v);
  uint64_t millionths = static_cast<uint64_t>((v - static_cast<double>(whole)) * 1e6 + 0.5);
  if (millionths >= 1000000) {
    whole++;
    millionths = 0;
  }
  dec(whole);
  if (millionths != 0) {
    char digits[7] = {'.'};
    uint32_t size = 7;
    for (uint32_t i = 6; i > 0; i--, millionths /= 10) digits[i] = static_cast<char>('0' + millionths % 10);
    while (digits[size - 1] == '0') size--;
    bytes(digits, size);
  }
  return exponent == 0 ? *this : lit("e").signed_dec(exponent);
}

uint64_t TextOut::safe(hprof_text text, Safe how) {
  if (text.data == nullptr) return 0;
  const uint8_t* begin = reinterpret_cast<const uint8_t*>(text.data);
  const uint8_t* end = begin + text.size;
  const uint8_t* at = begin;
  while (at != end && is_plain(*at)) at++;
  const uint64_t size = static_cast<uint64_t>(at - begin);
  bytes(begin, size);
  return at == end ? size : size + safe_slowly(at, end, how);
}

uint64_t TextOut::safe_slowly(const uint8_t* at, const uint8_t* end, Safe how) {
  uint64_t size = 0;
  while (at != end && ok()) size += put_unit(next_code(at, end), how);
  return size;
}

uint32_t TextOut::put_unit(uint32_t code, Safe how) {
  uint8_t* room_at = room(8);
  if (room_at == nullptr) return 0;
  char* to = reinterpret_cast<char*>(room_at);
  uint32_t size = 1;
  if (how == Safe::kQuoted && (code == '"' || code == '\\')) {
    to[0] = '\\';
    to[1] = static_cast<char>(code);
    size = 2;
  } else if (how == Safe::kQuoted && is_control(code)) {
    std::memcpy(to, "\\u", 2);
    for (uint32_t i = 0; i < 4; i++) to[2 + i] = "0123456789abcdef"[code >> (12 - 4 * i) & 15];
    size = 6;
  } else if (how == Safe::kWord && (is_control(code) || is_blank(code))) {
    to[0] = '_';
  } else if (is_control(code)) {
    to[0] = ' ';
  } else {
    size = to_utf8(to, code);
  }
  advance(size);
  return size;
}

TextOut& TextOut::class_name(hprof_class_serial serial) {
  const auto info = find_class(ids_, host_, serial);
  if (string(info->name, Safe::kWord) == 0) lit("<Unknown_Class>");
  return *this;
}

TextOut& TextOut::class_signature(hprof_class_serial serial) {
  const auto info = find_class(ids_, host_, serial);
  if (string(info->signature, Safe::kWord) == 0) lit("<unknown>");
  return *this;
}

TextOut& TextOut::method_name(hprof_method_id id) {
  const auto method = find_method(ids_, host_, id);
  class_name(method->owner).lit(".");
  if (string(method->name, Safe::kWord) == 0) lit("<Unknown_Method>");
  return *this;
}

TextOut& TextOut::trace_method(hprof_trace_serial serial) {
  const auto trace = find_trace(ids_, host_, serial);
  if (trace->frame_count == 0) return lit("<empty trace>");
  return method_name(find_frame(ids_, host_, trace->frames[0])->method);
}

}  // namespace hprof::ascii
