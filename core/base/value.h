// Parses numbers in options, independently of the locale (a VM may have set LC_NUMERIC). No allocation.
#pragma once

#include <cstdint>

#include "core/base/text.h"

namespace hprof {

// The whole of `text` must be the number, and fit; otherwise false, and *value is unchanged. [any]
bool parse_decimal(Str text, int64_t* value);        // [+-]digits
bool parse_real(Str text, double* value);            // [+-]digits[.digits][e[+-]digits], finite
bool parse_size(Str text, uint64_t* bytes);          // digits[k|m|g|t], powers of 1024, either case
bool parse_millis(Str text, uint64_t* nanoseconds);  // digits[.digits] milliseconds; below 1 ns is cut off

// Writes a number for messages: up to six decimals, no trailing zeros. [any]
void put_real(TextWriter* out, double value);

}  // namespace hprof
