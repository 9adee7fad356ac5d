#include "tools/format/value_text.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tools/format/binary_format.h"

namespace hprof::tool {

double real_value(uint8_t type, uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  if (type != HPROF_TYPE_FLOAT) return value;
  const auto low = static_cast<uint32_t>(bits);
  float narrow;
  std::memcpy(&narrow, &low, sizeof narrow);
  return static_cast<double>(narrow);
}

std::string value_text(uint8_t type, uint64_t value) {
  char text[64];
  uint32_t low = static_cast<uint32_t>(value);
  switch (type) {
    case HPROF_TYPE_OBJECT:
      std::snprintf(text, sizeof text, "0x%" PRIx64, value);
      break;
    case HPROF_TYPE_BOOLEAN:
      return value == 0 ? "false" : "true";
    case HPROF_TYPE_CHAR:
      std::snprintf(text, sizeof text, "'\\u%04x'", low & 0xffff);
      break;
    case HPROF_TYPE_FLOAT:
      std::snprintf(text, sizeof text, "%.9g", real_value(type, value));
      break;
    case HPROF_TYPE_DOUBLE:
      std::snprintf(text, sizeof text, "%.17g", real_value(type, value));
      break;
    case HPROF_TYPE_BYTE:
      std::snprintf(text, sizeof text, "%d", static_cast<int8_t>(low));
      break;
    case HPROF_TYPE_SHORT:
      std::snprintf(text, sizeof text, "%d", static_cast<int16_t>(low));
      break;
    case HPROF_TYPE_INT:
      std::snprintf(text, sizeof text, "%" PRId32, static_cast<int32_t>(low));
      break;
    default:
      std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(value));
      break;
  }
  return text;
}

int32_t utc_offset(uint64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  const std::tm* local = std::localtime(&seconds);
  if (local == nullptr) return 0;
  const int summer = local->tm_isdst;
  const std::tm* utc = std::gmtime(&seconds);
  if (utc == nullptr) return 0;
  std::tm broken_down = *utc;
  broken_down.tm_isdst = summer;
  const std::time_t as_local = std::mktime(&broken_down);
  return as_local == static_cast<std::time_t>(-1) ? 0 : static_cast<int32_t>(seconds - as_local);
}

std::string date_text(uint64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  const std::tm* utc = std::gmtime(&seconds);
  char date[64] = "unknown";
  if (utc != nullptr) std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", utc);
  return date;
}

}  // namespace hprof::tool
