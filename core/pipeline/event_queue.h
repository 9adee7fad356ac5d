// Bounded queue of small records: many producers that never wait, one consumer at a time.
//
// Protocol (after D. Vyukov's bounded queue): slot i is free for the producer that owns ticket t, t % slots
// == i, when its sequence is t, and holds that producer's record when its sequence is t + 1. A producer takes
// a ticket by a compare-and-swap on tail_ (relaxed: the sequence orders the payload), writes the payload and
// publishes it by a release store of t + 1. The consumer reads the sequence with acquire and gives the slot
// back by a release store of t + slots. Sequences are stored less the slot's index, so that a zeroed,
// untouched region is an empty queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include <hprof/record.h>

#include "core/base/memory_account.h"

namespace hprof {

class EventQueue {
 public:
  static constexpr uint32_t kPayloadBytes = 216;
  static_assert(sizeof(hprof_rec_row) <= kPayloadBytes, "the largest record that is queued");

  // `slots` is a power of two. False: no memory. [onload]
  bool create(MemoryAccount& memory, uint32_t slots) {
    slots_ = static_cast<Slot*>(memory.allocate(static_cast<uint64_t>(slots) * sizeof(Slot)));
    if (slots_ == nullptr) return false;
    count_ = slots;
    return true;
  }

  void destroy(MemoryAccount& memory) {
    if (slots_ != nullptr) memory.release(slots_, static_cast<uint64_t>(count_) * sizeof(Slot));
    slots_ = nullptr;
  }

  // Copies the record. False: full, or a record that is too large or not in one piece. Lock-free. [app][gc]
  bool push(const hprof_record* record) {
    if (slots_ == nullptr || record->size > kPayloadBytes || !is_one_piece(record)) return false;
    uint32_t ticket = tail_.load(std::memory_order_relaxed);
    for (;;) {
      uint32_t index = ticket & (count_ - 1);
      Slot& slot = slots_[index];
      auto lead = static_cast<int32_t>(slot.sequence.load(std::memory_order_acquire) + index - ticket);
      if (lead < 0) return false;
      if (lead > 0) {
        ticket = tail_.load(std::memory_order_relaxed);
        continue;
      }
      if (tail_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
        memcpy(slot.payload, record, record->size);
        if (record->kind == HPROF_RECORD_TABLE) move_rows(slot.payload, record);
        slot.sequence.store(ticket + 1 - index, std::memory_order_release);
        return true;
      }
    }
  }

  // The oldest record, or nullptr. Valid until pop. [writer]
  hprof_record* front() {
    if (slots_ == nullptr) return nullptr;
    uint32_t index = head_ & (count_ - 1);
    Slot& slot = slots_[index];
    if (slot.sequence.load(std::memory_order_acquire) + index != head_ + 1) return nullptr;
    return reinterpret_cast<hprof_record*>(slot.payload);
  }

  void pop() {
    uint32_t index = head_ & (count_ - 1);
    slots_[index].sequence.store(head_ + count_ - index, std::memory_order_release);
    head_++;
  }

 private:
  // True: the rows of a table are inside the record.
  static bool is_one_piece(const hprof_record* record) {
    if (record->kind != HPROF_RECORD_TABLE) return true;
    if (record->size < sizeof(hprof_rec_table)) return false;
    auto* table = reinterpret_cast<const hprof_rec_table*>(record);
    const uint64_t room = record->size - sizeof(hprof_rec_table);
    const auto begin = reinterpret_cast<uintptr_t>(record) + sizeof(hprof_rec_table);
    const auto rows = reinterpret_cast<uintptr_t>(table->rows);
    if (table->totals != nullptr || rows < begin || rows - begin > room) return false;
    return table->row_count == 0 || table->row_stride <= (room - (rows - begin)) / table->row_count;
  }
  static void move_rows(unsigned char* copy, const hprof_record* record) {
    const auto rows = reinterpret_cast<uintptr_t>(reinterpret_cast<const hprof_rec_table*>(record)->rows);
    reinterpret_cast<hprof_rec_table*>(copy)->rows =
        reinterpret_cast<const hprof_cell*>(copy + (rows - reinterpret_cast<uintptr_t>(record)));
  }

  struct Slot {
    std::atomic<uint32_t> sequence;
    uint32_t reserved;
    alignas(8) unsigned char payload[kPayloadBytes];
  };

  Slot* slots_ = nullptr;
  uint32_t count_ = 0;
  std::atomic<uint32_t> tail_{0};
  uint32_t head_ = 0;
};

}  // namespace hprof
