// SPDX-License-Identifier: Apache-2.0
// The output of an encoder: an hprof_out whose first failure sticks, so that no single write has to be checked.
#pragma once

#include <cstring>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/encoder.h>

namespace hprof {

// Lives for one call of encode. After the first failure nothing is written any more; status() says why.
class Out {
 public:
  explicit Out(hprof_out* out) : out_(out) {}

  hprof_status status() const { return status_; }
  bool ok() const { return status_ == HPROF_OK; }

  // Returns room for n bytes (at most HPROF_OUT_MOST); advance(written) follows. nullptr: the output is gone.
  uint8_t* room(uint32_t n) {
    if (status_ != HPROF_OK) return nullptr;
    if (static_cast<uint64_t>(out_->end - out_->at) < n) status_ = out_->more(out_, n);
    return status_ == HPROF_OK ? out_->at : nullptr;
  }
  void advance(uint32_t n) { out_->at += n; }

  void bytes(const void* data, uint64_t size) {
    const uint8_t* from = static_cast<const uint8_t*>(data);
    if (size >= HPROF_OUT_LARGE && went_through(from, size)) return;
    while (size != 0) {
      const uint64_t n = part(size);
      if (n == 0) return;
      std::memcpy(out_->at, from, n);
      out_->at += n;
      from += n;
      size -= n;
    }
  }

  void zeros(uint64_t size) {
    while (size != 0) {
      const uint64_t n = part(size);
      if (n == 0) return;
      std::memset(out_->at, 0, n);
      out_->at += n;
      size -= n;
    }
  }

  // Values of 1, 2, 4 or 8 bytes of this host, as big-endian.
  void values(const void* data, uint64_t count, uint32_t width) {
    const uint8_t* from = static_cast<const uint8_t*>(data);
    while (count != 0 && room(width) != nullptr) {
      uint64_t n = static_cast<uint64_t>(out_->end - out_->at) / width;
      if (n > count) n = count;
      put_values(out_->at, from, n, width);
      out_->at += n * width;
      from += n * width;
      count -= n;
    }
  }

  void u1(uint32_t v) {
    if (uint8_t* to = room(1)) *to = static_cast<uint8_t>(v), advance(1);
  }
  void u2(uint32_t v) {
    if (uint8_t* to = room(2)) put_u2(to, static_cast<uint16_t>(v)), advance(2);
  }
  void u4(uint32_t v) {
    if (uint8_t* to = room(4)) put_u4(to, v), advance(4);
  }
  void u8(uint64_t v) {
    if (uint8_t* to = room(8)) put_u8(to, v), advance(8);
  }

  // True: patch() can overwrite earlier bytes.
  bool can_patch() const {
    return HPROF_HAS(out_, hprof_out, position) && HPROF_HAS(out_, hprof_out, patch);
  }
  // The position of the next byte in the output. Only if can_patch().
  uint64_t position() const { return out_->position(out_); }
  void patch(uint64_t position, const void* data, uint64_t size) {
    if (status_ == HPROF_OK) status_ = out_->patch(out_, position, data, size);
  }

  void fail(hprof_status status) {
    if (status_ == HPROF_OK) status_ = status;
  }

 private:
  // Writes without a copy. False: not possible, the caller copies the bytes.
  bool went_through(const uint8_t* bytes, uint64_t size) {
    if (status_ != HPROF_OK || !HPROF_HAS(out_, hprof_out, through)) return false;
    const hprof_status status = out_->through(out_, bytes, size);
    if (status == HPROF_ABORTED) status_ = status;
    return status != HPROF_UNSUPPORTED;
  }

  // Makes room and returns how many of `size` bytes fit, at least 1; 0 when the output is gone.
  uint64_t part(uint64_t size) {
    if (room(1) == nullptr) return 0;
    const uint64_t left = static_cast<uint64_t>(out_->end - out_->at);
    return size < left ? size : left;
  }

  hprof_out* out_;
  hprof_status status_ = HPROF_OK;
};

}  // namespace hprof
