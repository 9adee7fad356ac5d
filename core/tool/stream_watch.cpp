// A state machine over header, record heads and bodies.
#include "core/tool/stream_watch.h"

namespace hprof::tool {

namespace {

constexpr unsigned kVersionMax = 32;

uint32_t big_endian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

}  // namespace

void StreamWatch::byte_of_start(uint8_t byte) {
  if (byte == 0) {
    state_ = State::kIdSize;
    gathered_ = 0;
  } else if (byte == '\n' || ++gathered_ > kVersionMax) {
    state_ = State::kText;
    records_ = byte == '\n' ? 1 : 0;
  }
}

void StreamWatch::add(const void* data, size_t size) {
  auto* at = static_cast<const uint8_t*>(data);
  auto* end = at + size;
  bytes_ += size;
  if (size > 0) last_byte_ = end[-1];
  while (at < end) {
    if (state_ == State::kBody) {
      uint64_t step =
          static_cast<uint64_t>(end - at) < body_left_ ? static_cast<uint64_t>(end - at) : body_left_;
      at += step;
      body_left_ -= step;
      if (body_left_ == 0) state_ = State::kHead;
      continue;
    }
    uint8_t byte = *at++;
    if (state_ == State::kStart) {
      byte_of_start(byte);
    } else if (state_ == State::kText) {
      if (byte == '\n') ++records_;
    } else {
      field_[gathered_++] = byte;
      if (state_ == State::kIdSize && gathered_ == 12) {
        id_size_ = big_endian(field_);
        state_ = State::kHead;
        gathered_ = 0;
      } else if (state_ == State::kHead && gathered_ == 9) {
        last_tag_ = field_[0];
        body_left_ = big_endian(field_ + 5);
        ++records_;
        if (body_left_ > 0) state_ = State::kBody;
        gathered_ = 0;
      }
    }
  }
}

bool StreamWatch::complete() const {
  return (state_ == State::kHead && gathered_ == 0) || (state_ == State::kText && last_byte_ == '\n');
}

}  // namespace hprof::tool
