// Cuts one block of memory into pieces: for builds that take all of their memory at the start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hprof {

// First fit in a list of free pieces in address order; neighbours are joined on release. A lock is held for a
// walk over that list, which is short, since few pieces are freed before the session ends. Not for signal
// handlers.
class Pool {
 public:
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kHeader = 16;  // bytes in front of each piece

  constexpr Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // `block` is aligned to 16 and outlives the pool; pause: called while another thread holds the lock.
  // [onload]
  void open(void* block, size_t bytes, void (*pause)());
  void close() { block_ = nullptr; }  // the block belongs to the caller again
  bool is_open() const { return block_ != nullptr; }

  // Zeroed, aligned to 16; nullptr: no free piece is large enough. [onload][control][app]
  void* allocate(size_t bytes);
  void release(void* piece);  // nullptr: nothing

  void* block() const { return block_; }

 private:
  struct Piece {
    size_t size;  // with the header
    Piece* next;  // free: the next free one
  };
  static_assert(sizeof(Piece) <= kHeader, "the header of a piece");

  void lock();
  void unlock() { taken_.store(false, std::memory_order_release); }

  unsigned char* block_ = nullptr;
  Piece* free_ = nullptr;
  void (*pause_)() = nullptr;
  std::atomic<bool> taken_{false};
};

}  // namespace hprof
