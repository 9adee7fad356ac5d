// Sums by thread and trace: of ended threads' graphs, and for a report of all graphs. No VM; [control].
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>

namespace hprof::times {

struct TallyRow {
  uint64_t count;
  uint64_t time_ns;
  uint32_t thread;  // 0: not split by thread
  uint32_t length;
  const uint32_t* trace() const { return reinterpret_cast<const uint32_t*>(this + 1); }
  uint32_t* trace() { return reinterpret_cast<uint32_t*>(this + 1); }
};

class Tally {
 public:
  void open(const Services& services, uint32_t depth);
  // Makes room for so many rows in all, so that add() allocates nothing. Optional. False: no memory.
  bool make_room(uint64_t rows);
  // False: no memory, nothing was added.
  bool add(uint32_t thread, const uint32_t* trace, uint32_t length, uint64_t count, uint64_t time_ns);
  bool add_all(const Tally& other);
  // Turns times in ticks of a counter into nanoseconds. The counter is read unordered, so a short time may be
  // below 0; that becomes 0.
  void turn_ticks(double ns_per_tick);
  void clear();  // also frees the memory
  uint64_t size() const { return size_; }
  // Bytes that make_room() takes for each row.
  static uint64_t bytes_of_row(uint32_t depth);
  // Room for the addresses of all rows, for sorting them.
  TallyRow** order() const { return reinterpret_cast<TallyRow**>(rows_ + room_ * stride_); }
  TallyRow* row(uint64_t i) const { return reinterpret_cast<TallyRow*>(rows_ + i * stride_); }

 private:
  bool grow(uint64_t room);
  uint64_t bytes_of(uint64_t room) const { return room * (stride_ + sizeof(TallyRow*)); }

  Services services_;
  uint32_t stride_ = 0;
  uint8_t* rows_ = nullptr;
  uint64_t room_ = 0;
  uint64_t size_ = 0;
  HashTable<uint32_t, Growth::kMoves> index_;  // of rows, plus 1; by the hash of thread and trace
};

}  // namespace hprof::times
