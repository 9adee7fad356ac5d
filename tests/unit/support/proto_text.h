// Builds messages of protocol buffers for the tests of what reads them.
#pragma once

#include <cstdint>
#include <string>

namespace hprof::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  return bytes + static_cast<char>(value);
}
// A field that is a message, a text or packed numbers. Its length has five bytes, as of a writer that fills
// it in later.
inline std::string proto(unsigned number, const std::string& bytes) {
  std::string length;
  for (unsigned i = 0; i < 4; ++i) length.push_back(static_cast<char>(bytes.size() >> 7 * i | 0x80));
  return varint(number << 3 | 2) + length + static_cast<char>(bytes.size() >> 28) + bytes;
}
inline std::string proto(unsigned number, unsigned value) { return varint(number << 3) + varint(value); }

}  // namespace hprof::test
