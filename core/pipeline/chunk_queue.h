// The bytes between an encoder and its sink: a ring of equal chunks, one thread filling, one writing.
//
// The filler owns the chunk at `filled_`, the writer those from `written_` up to it; both counts change under
// the lock. When all chunks are full the filler waits, up to a deadline: that is the back-pressure of a slow
// sink.
#pragma once

#include <cstdint>

#include "core/base/memory_account.h"
#include "platform/platform.h"

namespace hprof {

class ChunkQueue {
 public:
  struct Chunk {
    uint8_t* bytes;
    uint32_t used;
  };
  // Guard bytes after each chunk.
  static constexpr uint32_t kGuardBytes = 16;

  // `chunks` is at most kMostChunks. False: no memory. [onload]
  bool create(MemoryAccount& memory, uint32_t chunks, uint32_t chunk_bytes);
  void destroy(MemoryAccount& memory);

  uint32_t chunk_bytes() const { return chunk_bytes_; }
  // False: the guard after the chunk was overwritten. Filler only.
  bool is_intact(const Chunk& chunk) const;
  // The chunk to fill. Filler only.
  Chunk& current() { return chunks_[filled_ % count_]; }
  // Hands the current chunk to the writer. Filler only, after room() was true for the next one.
  void hand_over();
  // Waits until the next chunk is free. False: the deadline has passed.
  bool wait_for_room(int64_t deadline_ns);
  // The oldest chunk that waits for writing, or nullptr. Writer only.
  Chunk* front();
  // Frees the front chunk, which has been written. Writer only.
  void release_front();

  static constexpr uint32_t kMostChunks = 16;

 private:
  Chunk chunks_[kMostChunks] = {};
  uint32_t count_ = 0;
  uint32_t chunk_bytes_ = 0;
  uint8_t* memory_ = nullptr;
  platform::Mutex lock_;
  platform::Condition freed_;
  uint64_t filled_ = 0;   // chunks handed over so far
  uint64_t written_ = 0;  // chunks written so far
};

}  // namespace hprof
