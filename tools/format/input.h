// Big-endian reading of a byte source of any size through one bounded buffer.
//
// Overrunning the source or the limit is not an error of the caller: the value reads as 0 and ok() is false
// from then on, so that a parser checks once per record and not once per field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::tool {

constexpr uint64_t kUnknownSize = UINT64_MAX;

// A source of bytes. Not shared between threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes; 0 at the end, or on an error: see error().
  virtual size_t read(uint8_t* to, size_t size) = 0;
  virtual bool seek(uint64_t offset) = 0;
  // kUnknownSize: not known without reading (compressed input).
  virtual uint64_t size() const = 0;
  const std::string& error() const { return error_; }

 protected:
  std::string error_;
};

// Bytes in memory; does not own them.
class MemorySource : public ByteSource {
 public:
  MemorySource(const void* bytes, size_t size) : bytes_(static_cast<const uint8_t*>(bytes)), size_(size) {}
  size_t read(uint8_t* to, size_t size) override;
  bool seek(uint64_t offset) override;
  uint64_t size() const override { return size_; }

 private:
  const uint8_t* bytes_;
  size_t size_;
  size_t at_ = 0;
};

// A big-endian number of kSize bytes in memory.
template <unsigned kSize>
inline uint64_t big_endian(const uint8_t* from) {
  uint64_t value = 0;
  for (unsigned i = 0; i < kSize; ++i) value = value << 8 | from[i];
  return value;
}
inline uint64_t big_endian(const uint8_t* from, unsigned size) {
  uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value = value << 8 | from[i];
  return value;
}

class Input {
 public:
  static constexpr size_t kBufferSize = size_t{1} << 20;
  // `buffer_size` is at least 16; only tests ask for less than the default.
  explicit Input(ByteSource& source, size_t buffer_size = kBufferSize);

  // Bytes of an identifier: 4 or 8.
  void set_id_size(unsigned size) { id_size_ = size; }
  unsigned id_size() const { return id_size_; }

  uint64_t size() const { return source_.size(); }
  uint64_t offset() const { return base_ + static_cast<uint64_t>(at_ - buffer_.data()); }
  bool ok() const { return ok_; }
  bool at_end();

  // Reads fail beyond `offset` from now on; clears an earlier overrun.
  void set_limit(uint64_t offset);
  void clear_limit() { set_limit(kUnknownSize); }

  uint8_t u1() { return need(1) ? *at_++ : uint8_t{0}; }
  uint16_t u2() { return static_cast<uint16_t>(next<2>()); }
  uint32_t u4() { return static_cast<uint32_t>(next<4>()); }
  uint64_t u8() { return next<8>(); }
  uint64_t id() { return id_size_ == 8 ? next<8>() : next<4>(); }
  // A value of `size` 1, 2, 4 or 8 bytes.
  uint64_t value(unsigned size);

  // The next `count` bytes, in one piece; at most a buffer's size. Valid until the next read. Null, and ok()
  // is false: fewer are left.
  const uint8_t* bytes(size_t count) {
    if (count > buffer_.size() || !need(count)) return nullptr;
    const uint8_t* start = at_;
    at_ += count;
    return start;
  }
  size_t buffer_size() const { return buffer_.size(); }
  // False, and ok() is false: fewer than `count` bytes are left.
  bool skip(uint64_t count);
  // Appends up to `count` bytes to *text, in pieces, so that a wrong length takes no memory.
  bool text(uint64_t count, std::string* text);
  // Appends a line without its line feed; drops what is beyond `most` bytes and sets *cut. False: the input
  // ends before a line feed.
  bool line(size_t most, std::string* text, bool* cut);
  // Seeks to an absolute offset; clears an overrun and keeps the limit.
  bool seek(uint64_t offset);
  const std::string& error() const { return source_.error(); }

 private:
  bool need(size_t count) { return static_cast<size_t>(end_ - at_) >= count || refill(count); }
  bool refill(size_t count);
  bool overrun();
  void clip();

  template <unsigned kSize>
  uint64_t next() {
    if (!need(kSize)) return 0;
    uint64_t value = big_endian<kSize>(at_);
    at_ += kSize;
    return value;
  }

  ByteSource& source_;
  std::vector<uint8_t> buffer_;
  uint8_t* at_;
  uint8_t* end_;       // end of the readable bytes: the filled part, clipped to the limit
  uint8_t* filled_;    // end of the bytes in the buffer
  uint64_t base_ = 0;  // offset in the source of the first byte of the buffer
  uint64_t limit_ = kUnknownSize;
  unsigned id_size_ = 4;
  bool ok_ = true;
};

}  // namespace hprof::tool
