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
  // A table, as this core knows it, with its rows: the largest record that is queued.
  static constexpr uint32_t kRowBytes = HPROF_ROW_CELLS * sizeof(hprof_cell);
  static constexpr uint32_t kPayloadBytes = sizeof(hprof_rec_table) + kRowBytes;

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

  // Copies the record, a table with its rows. False: full, or it does not fit. *fills_quarter: another
  // quarter of the queue is full. Lock-free. [app][gc]
  bool push(const hprof_record* record, bool* fills_quarter = nullptr) {
    if (slots_ == nullptr || !fits(record)) return false;
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
        copy(slot.payload, record);
        if (fills_quarter != nullptr) *fills_quarter = ticket % (count_ / 4) == count_ / 4 - 1;
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
  static bool fits(const hprof_record* record) {
    if (record->kind != HPROF_RECORD_TABLE) return record->size <= kPayloadBytes;
    auto* table = reinterpret_cast<const hprof_rec_table*>(record);
    return table->totals == nullptr &&
           (table->row_count == 0 || table->row_stride <= kRowBytes / table->row_count);
  }
  static void copy(unsigned char* to, const hprof_record* record) {
    if (record->kind != HPROF_RECORD_TABLE) {
      memcpy(to, record, record->size);
      return;
    }
    hprof_copy_sized(to, sizeof(hprof_rec_table), record, record->size);
    auto* table = reinterpret_cast<hprof_rec_table*>(to);
    if (table->row_count == 0) return;
    unsigned char* rows = to + sizeof(hprof_rec_table);
    memcpy(rows, table->rows, table->row_count * table->row_stride);
    table->rows = reinterpret_cast<const hprof_cell*>(rows);
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
