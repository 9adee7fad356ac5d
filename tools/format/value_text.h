// Values of basic types as text.
#pragma once

#include <cstdint>
#include <string>

namespace hprof::tool {

// A value (HPROF_TYPE_*) from the low bytes of `value`: "-5", "true", "0x7f0010", "1.5", "'\\u0041'".
std::string value_text(uint8_t type, uint64_t value);

// The number of a float or double from its bits.
double real_value(uint8_t type, uint64_t bits);

// "2026-11-21 05:00:02 UTC" for milliseconds since 1970; "unknown": beyond what the C library knows.
std::string date_text(uint64_t milliseconds);

// Seconds by which local time is ahead of UTC at a moment; 0: beyond what the C library knows.
int32_t utc_offset(uint64_t milliseconds);

}  // namespace hprof::tool
