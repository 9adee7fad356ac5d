// A buffer that grows and keeps its memory, so that repeated use allocates nothing. A GrowBuffer belongs to
// one thread at a time. Several share one MemoryBudget, which bounds their sum.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/base/memory.h"
#include "core/base/span.h"

namespace hprof {

struct MemoryBudget {
  Memory memory;
  size_t limit;  // bytes that all the buffers together may hold
  size_t used = 0;
};

class GrowBuffer {
 public:
  explicit GrowBuffer(MemoryBudget& budget) : budget_(budget) {}
  ~GrowBuffer() {
    if (data_ != nullptr) drop(data_, capacity_);
  }
  GrowBuffer(const GrowBuffer&) = delete;
  GrowBuffer& operator=(const GrowBuffer&) = delete;

  // Forgets the content and the failure, keeps the memory.
  void clear() {
    size_ = 0;
    failed_ = false;
  }
  // Once memory was refused nothing more is written, and this stays true until clear().
  bool failed() const { return failed_; }
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // Drops what was written after `size` bytes.
  void truncate(size_t size) { size_ = size; }

  // Room for `count` objects of T, contents undefined; NULL: refused. The former contents are lost.
  template <typename T>
  T* array(size_t count) {
    size_ = 0;
    return reserve(count * sizeof(T)) ? reinterpret_cast<T*>(data_) : nullptr;
  }

  bool reserve(size_t more) { return more <= capacity_ - size_ || grow(more); }
  // Appends `count` bytes for the caller to fill; NULL: refused.
  uint8_t* append(size_t count) {
    if (!reserve(count)) return nullptr;
    uint8_t* at = data_ + size_;
    size_ += count;
    return at;
  }
  void put_u1(uint32_t value) {
    if (uint8_t* at = append(1)) *at = static_cast<uint8_t>(value);
  }
  void put_u2(uint32_t value) {
    if (uint8_t* at = append(2)) store_be16(at, value);
  }
  void put_u4(uint32_t value) {
    if (uint8_t* at = append(4)) store_be32(at, value);
  }
  void put(const uint8_t* bytes, size_t count) {
    if (count == 0) return;
    if (uint8_t* at = append(count)) std::memcpy(at, bytes, count);
  }
  void set_u2(size_t at, uint32_t value) {
    if (at + 2 <= size_) store_be16(data_ + at, value);
  }
  void set_u4(size_t at, uint32_t value) {
    if (at + 4 <= size_) store_be32(data_ + at, value);
  }

 private:
  bool grow(size_t more) {
    if (failed_ || more > budget_.limit) return refuse();
    size_t capacity = capacity_ == 0 ? 4096 : capacity_ * 2;
    while (capacity < size_ + more) capacity *= 2;
    // The old block is freed after the copy, so both count.
    if (capacity > budget_.limit - budget_.used) return refuse();
    auto* data = static_cast<uint8_t*>(budget_.memory.allocate(budget_.memory.context, capacity));
    if (data == nullptr) return refuse();
    budget_.used += capacity;
    if (size_ != 0) std::memcpy(data, data_, size_);
    if (data_ != nullptr) drop(data_, capacity_);
    data_ = data;
    capacity_ = capacity;
    return true;
  }
  bool refuse() {
    failed_ = true;
    return false;
  }
  void drop(uint8_t* data, size_t capacity) {
    budget_.memory.release(budget_.memory.context, data, capacity);
    budget_.used -= capacity;
  }

  MemoryBudget& budget_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace hprof
