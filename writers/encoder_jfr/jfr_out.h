// The wire format of JFR: varints and strings, and memory for the parts of a chunk.
#pragma once

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/out.hpp>

namespace hprof::jfr {

constexpr uint32_t kVarintMost = 9;
// The bytes of a size that is written before it is known.
constexpr uint32_t kSizeBytes = 4;

inline uint32_t varint_size(uint64_t v) {
  uint32_t size = 1;
  for (; v >= 0x80 && size < kVarintMost; v >>= 7) size++;
  return size;
}

// Writes a number below 2^28 as a varint of kSizeBytes.
inline void put_size(uint8_t* to, uint64_t v) {
  for (uint32_t i = 0; i < kSizeBytes; i++, v >>= 7)
    to[i] = static_cast<uint8_t>((v & 0x7f) | (i + 1 < kSizeBytes ? 0x80u : 0u));
}

// Lives for one entry of a pool, one event or one record.
class JfrOut : public Out {
 public:
  using Out::Out;

  // Seven bits a byte, the lowest first; the ninth byte has eight bits.
  void varint(uint64_t v);
  void size(uint64_t v) {
    uint8_t* to = room(kSizeBytes);
    if (to == nullptr) return;
    put_size(to, v);
    advance(kSizeBytes);
  }
  // A string in UTF-8, in which '_' replaces control characters, and `dot` each '.'; null: absent.
  void text(hprof_text text, char dot = '.');
  void words(const char* words) { text({words, words != nullptr ? std::strlen(words) : 0}); }
};

// Bytes that a chunk gathers.
class Bytes {
 public:
  static constexpr uint64_t kMost = uint64_t{4} << 20;

  // False: no memory. [onload][control]
  bool open(const Services& services, uint64_t most = kMost);
  void close() { memory_.close(); }
  void clear() { size_ = 0; }

  // Where a JfrOut appends; keep() adds what it has written. Without memory it fails, and nothing is kept.
  hprof_out* end() {
    out_.base.at = memory_.data() + size_;
    return &out_.base;
  }
  void keep() { size_ = static_cast<uint64_t>(out_.base.at - memory_.data()); }

  uint8_t* data() const { return memory_.data(); }
  uint64_t size() const { return size_; }

 private:
  struct Room {
    hprof_out base;
    Bytes* owner;
  };
  static hprof_status more(hprof_out* out, uint32_t need);

  LazyTable<uint8_t> memory_;
  Room out_ = {};
  uint64_t size_ = 0;
};

}  // namespace hprof::jfr
