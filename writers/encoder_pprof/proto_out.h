// The wire format of protocol buffers, as far as profiles use it.
#pragma once

#include <hprof/cpp/out.hpp>

namespace hprof::pprof {

constexpr uint32_t kVarintMost = 10;

inline uint32_t varint_size(uint64_t v) {
  uint32_t size = 1;
  for (; v >= 0x80; v >>= 7) size++;
  return size;
}

// Bytes of a varint field, which is left out if it is 0.
inline uint32_t number_size(uint32_t field, uint64_t v) {
  return v == 0 ? 0 : varint_size(field << 3) + varint_size(v);
}

// Lives for one record.
class ProtoOut : public Out {
 public:
  using Out::Out;

  void varint(uint64_t v) {
    uint8_t* to = room(kVarintMost);
    if (to == nullptr) return;
    uint32_t size = 0;
    for (; v >= 0x80; v >>= 7) to[size++] = static_cast<uint8_t>(v | 0x80);
    to[size++] = static_cast<uint8_t>(v);
    advance(size);
  }
  void number(uint32_t field, uint64_t v) {
    if (v == 0) return;
    varint(field << 3);
    varint(v);
  }
  // Writes the head of a text, a message or packed numbers with `size` bytes.
  void begin(uint32_t field, uint64_t size) {
    varint(field << 3 | 2);
    varint(size);
  }
};

}  // namespace hprof::pprof
