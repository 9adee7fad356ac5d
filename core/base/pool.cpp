#include "core/base/pool.h"

#include <cstring>

namespace hprof {

void Pool::open(void* block, size_t bytes, void (*pause)()) {
  block_ = static_cast<unsigned char*>(block);
  pause_ = pause;
  bytes -= bytes % kAlignment;
  free_ = reinterpret_cast<Piece*>(block_);
  *free_ = {bytes, nullptr};
}

void Pool::lock() {
  for (uint32_t tries = 0; taken_.exchange(true, std::memory_order_acquire); tries++) {
    if (tries >= 100) pause_();
  }
}

void* Pool::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t wanted = (bytes + kAlignment - 1) / kAlignment * kAlignment + kHeader;
  lock();
  Piece** link = &free_;
  while (*link != nullptr && (*link)->size < wanted) link = &(*link)->next;
  Piece* piece = *link;
  if (piece != nullptr) {
    if (piece->size - wanted > kHeader) {
      auto* rest = reinterpret_cast<Piece*>(reinterpret_cast<unsigned char*>(piece) + wanted);
      *rest = {piece->size - wanted, piece->next};
      *link = rest;
      piece->size = wanted;
    } else {
      *link = piece->next;
    }
  }
  unlock();
  if (piece == nullptr) return nullptr;
  unsigned char* memory = reinterpret_cast<unsigned char*>(piece) + kHeader;
  memset(memory, 0, piece->size - kHeader);
  return memory;
}

void Pool::release(void* memory) {
  if (memory == nullptr) return;
  auto* piece = reinterpret_cast<Piece*>(static_cast<unsigned char*>(memory) - kHeader);
  lock();
  Piece* before = nullptr;
  Piece* after = free_;
  while (after != nullptr && after < piece) {
    before = after;
    after = after->next;
  }
  auto ends_at = [](const Piece* a, const Piece* b) {
    return reinterpret_cast<const unsigned char*>(a) + a->size == reinterpret_cast<const unsigned char*>(b);
  };
  piece->next = after;
  if (after != nullptr && ends_at(piece, after)) {
    piece->size += after->size;
    piece->next = after->next;
  }
  if (before == nullptr) {
    free_ = piece;
  } else if (ends_at(before, piece)) {
    before->size += piece->size;
    before->next = piece->next;
  } else {
    before->next = piece;
  }
  unlock();
}

}  // namespace hprof
