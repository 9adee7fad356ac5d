#include "core/pipeline/chunk_queue.h"

namespace hprof {

bool ChunkQueue::create(MemoryAccount& memory, uint32_t chunks, uint32_t chunk_bytes) {
  memory_ = static_cast<uint8_t*>(memory.allocate(static_cast<uint64_t>(chunks) * chunk_bytes));
  if (memory_ == nullptr) return false;
  count_ = chunks;
  chunk_bytes_ = chunk_bytes;
  for (uint32_t i = 0; i < chunks; i++) chunks_[i] = {memory_ + static_cast<uint64_t>(i) * chunk_bytes, 0};
  return true;
}

void ChunkQueue::destroy(MemoryAccount& memory) {
  if (memory_ != nullptr) memory.release(memory_, static_cast<uint64_t>(count_) * chunk_bytes_);
  memory_ = nullptr;
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
