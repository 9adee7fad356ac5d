#include "core/pipeline/chunk_queue.h"

#include "core/base/guarded_block.h"

namespace hprof {

bool ChunkQueue::create(MemoryAccount& memory, uint32_t chunks, uint32_t chunk_bytes) {
  const uint64_t stride = uint64_t{chunk_bytes} + kGuardBytes;
  memory_ = static_cast<uint8_t*>(memory.allocate(chunks * stride, MemoryAccount::kAll));
  if (memory_ == nullptr) return false;
  count_ = chunks;
  chunk_bytes_ = chunk_bytes;
  for (uint32_t i = 0; i < chunks; i++) {
    chunks_[i] = {memory_ + i * stride, 0};
    lay_guard(chunks_[i].bytes + chunk_bytes, kGuardBytes);
  }
  return true;
}

void ChunkQueue::destroy(MemoryAccount& memory) {
  if (memory_ != nullptr) memory.release(memory_, count_ * (uint64_t{chunk_bytes_} + kGuardBytes));
  memory_ = nullptr;
}

bool ChunkQueue::is_intact(const Chunk& chunk) const {
  return is_guard_intact(chunk.bytes + chunk_bytes_, kGuardBytes);
}

void ChunkQueue::hand_over() {
  platform::MutexLock hold(lock_);
  filled_++;
  chunks_[filled_ % count_].used = 0;
}

bool ChunkQueue::wait_for_room(int64_t deadline_ns) {
  platform::MutexLock hold(lock_);
  while (filled_ - written_ + 1 >= count_) {
    if (!freed_.wait(lock_, deadline_ns)) return filled_ - written_ + 1 < count_;
  }
  return true;
}

ChunkQueue::Chunk* ChunkQueue::front() {
  platform::MutexLock hold(lock_);
  return written_ < filled_ ? &chunks_[written_ % count_] : nullptr;
}

void ChunkQueue::release_front() {
  platform::MutexLock hold(lock_);
  written_++;
  freed_.notify_all();
}

}  // namespace hprof
