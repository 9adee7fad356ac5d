// SPDX-License-Identifier: Apache-2.0
// The rows of a report's table. Where max-memory= has no room for all of them, those that come first in their order are
// kept.
#pragma once

#include <algorithm>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// IsBefore: bool operator()(const Row&, const Row&) const, of rows that differ. One thread at a time. [control]
template <class Row, class IsBefore>
class ReportRows {
 public:
  static constexpr uint64_t kFewest = 64;

  explicit ReportRows(const UnitMemory& memory, const IsBefore& is_before = IsBefore())
      : memory_(memory), is_before_(is_before) {}
  ~ReportRows() { memory_.release(rows_, room_); }
  ReportRows(const ReportRows&) = delete;
  ReportRows& operator=(const ReportRows&) = delete;

  // Takes room for `most` rows, or for half as many, and so on. False: there is none for kFewest.
  bool open(uint64_t most) {
    room_ = most;
    rows_ = memory_.allocate_most<Row>(&room_, kFewest);
    if (rows_ == nullptr) room_ = 0;
    return rows_ != nullptr || most == 0;
  }
  // Rows keep the order in which they are added until one has no room.
  void add(const Row& row) {
    if (count_ < room_) {
      rows_[count_++] = row;
      return;
    }
    left_out_++;
    if (room_ == 0) return;
    make_heap();
    if (!is_before_(row, rows_[0])) return;
    std::pop_heap(rows_, rows_ + count_, is_before_);
    rows_[count_ - 1] = row;
    std::push_heap(rows_, rows_ + count_, is_before_);
  }
  // Removes the row that comes last. There is one.
  Row take_last() {
    make_heap();
    std::pop_heap(rows_, rows_ + count_, is_before_);
    return rows_[--count_];
  }
  void sort() {
    make_heap();
    // A heap sort is half the code of std::sort, and runs once per report.
    std::sort_heap(rows_, rows_ + count_, is_before_);
    is_heap_ = false;
  }

  Row* data() const { return rows_; }
  uint64_t size() const { return count_; }
  bool is_full() const { return count_ == room_; }
  uint64_t left_out() const { return left_out_; }

 private:
  // The first row is then the one that comes last.
  void make_heap() {
    if (!is_heap_) std::make_heap(rows_, rows_ + count_, is_before_);
    is_heap_ = true;
  }

  UnitMemory memory_;
  IsBefore is_before_;
  Row* rows_ = nullptr;
  uint64_t room_ = 0, count_ = 0, left_out_ = 0;
  bool is_heap_ = false;
};

}  // namespace hprof
