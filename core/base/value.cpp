#include "core/base/value.h"

#include "core/base/text_tools.h"

namespace hprof {
namespace {

bool take_sign(Str* text) {
  if (text->empty() || ((*text)[0] != '-' && (*text)[0] != '+')) return false;
  const bool negative = (*text)[0] == '-';
  *text = text->part(1);
  return negative;
}

// Powers of ten up to 10^22 are exact, so numbers of up to 15 digits are correctly rounded.
double power_of_ten(int64_t exponent) {
  double power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// The first 19 significant digits as an integer, and the power of ten that goes with it.
struct Mantissa {
  uint64_t digits = 0;
  int64_t exponent = 0;
};

bool parse_mantissa(Str text, Mantissa* result) {
  Mantissa sum;
  bool point = false;
  bool any = false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(text[i])) return false;
    any = true;
    if (sum.digits < UINT64_MAX / 10 - 1) {
      sum.digits = sum.digits * 10 + static_cast<uint64_t>(text[i] - '0');
      if (point) --sum.exponent;
    } else if (!point) {
      ++sum.exponent;
    }
  }
  *result = sum;
  return any;
}

}  // namespace

bool parse_decimal(Str text, int64_t* value) {
  const bool negative = take_sign(&text);
  uint64_t magnitude = 0;
  if (!parse_decimal(text, &magnitude)) return false;
  const uint64_t most = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > most) return false;
  // Negates without a sign, since -INT64_MIN does not exist.
  const uint64_t bits = negative ? 0 - magnitude : magnitude;
  memcpy(value, &bits, sizeof(bits));
  return true;
}

bool parse_real(Str text, double* value) {
  const bool negative = take_sign(&text);
  size_t end = text.find('e');
  if (end == text.size) end = text.find('E');
  int64_t exponent = 0;
  if (end < text.size &&
      (!parse_decimal(text.part(end + 1), &exponent) || exponent < -400 || exponent > 400)) {
    return false;
  }
  Mantissa mantissa;
  if (text.size > 400 || !parse_mantissa(text.part(0, end), &mantissa)) return false;
  exponent += mantissa.exponent;
  double result = static_cast<double>(mantissa.digits);
  if (exponent < 0) {
    // In two steps: 10^-exponent may be out of range while the result is not.
    const int64_t first = exponent < -300 ? -300 : exponent;
    result /= power_of_ten(-first);
    result /= power_of_ten(first - exponent);
  } else {
    for (int64_t i = 0; i < exponent && result < 1e300; ++i) result *= 10;
    if (result >= 1e300) return false;
  }
  *value = negative ? -result : result;
  return true;
}

bool parse_size(Str text, uint64_t* bytes) {
  const Str units("kKmMgGtT");
  const size_t unit = text.empty() ? units.size : units.find(text[text.size - 1]);
  const size_t shift = unit < units.size ? 10 * (unit / 2 + 1) : 0;
  uint64_t value = 0;
  if (!parse_decimal(text.part(0, shift == 0 ? text.size : text.size - 1), &value)) return false;
  if (value > (UINT64_MAX >> shift)) return false;
  *bytes = value << shift;
  return true;
}

bool parse_millis(Str text, uint64_t* nanoseconds) {
  constexpr uint64_t kNanosPerMilli = 1000000;
  const size_t point = text.find('.');
  uint64_t whole = 0;
  if (point != 0 && !parse_decimal(text.part(0, point), &whole)) return false;
  if (point == 0 && text.size < 2) return false;
  uint64_t fraction = 0;
  uint64_t unit = kNanosPerMilli;
  for (size_t i = point + 1; i < text.size; ++i) {
    if (!is_digit(text[i])) return false;
    unit /= 10;
    fraction += unit * static_cast<uint64_t>(text[i] - '0');
  }
  if (whole > UINT64_MAX / kNanosPerMilli - 1) return false;
  *nanoseconds = whole * kNanosPerMilli + fraction;
  return true;
}

void put_real(TextWriter* out, double value) {
  if (value < 0) {
    out->put('-');
    value = -value;
  }
  if (!(value < 1e15)) {
    out->put("1e15 or more");
    return;
  }
  uint64_t millionths =
      static_cast<uint64_t>((value - static_cast<double>(static_cast<uint64_t>(value))) * 1e6 + 0.5);
  uint64_t whole = static_cast<uint64_t>(value);
  if (millionths == 1000000) {
    ++whole;
    millionths = 0;
  }
  out->put_unsigned(whole);
  if (millionths == 0) return;
  char digits[6];
  for (size_t i = 6; i > 0; --i, millionths /= 10) digits[i - 1] = static_cast<char>('0' + millionths % 10);
  size_t length = 6;
  while (digits[length - 1] == '0') --length;
  out->put('.').put(Str(digits, length));
}

}  // namespace hprof
