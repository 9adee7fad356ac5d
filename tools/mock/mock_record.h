// Records kept beyond the call that brought them, and a buffer for the bytes of encoders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hprof/cpp/table.hpp>
#include <hprof/encoder.h>

namespace hprof {

// A deep copy of a record: rows, lists and texts included.
class MockRecord {
 public:
  explicit MockRecord(const hprof_record* record);

  uint32_t kind() const { return head()->kind; }
  const hprof_record* head() const { return reinterpret_cast<const hprof_record*>(bytes_.get()); }
  template <typename T>
  const T& as() const {
    return *reinterpret_cast<const T*>(bytes_.get());
  }

 private:
  template <typename T>
  void keep(const T*& items, uint64_t count, uint64_t stride = sizeof(T));
  template <typename T>
  T& edit() {
    return *reinterpret_cast<T*>(bytes_.get());
  }

  std::shared_ptr<uint64_t[]> bytes_;
  std::vector<std::shared_ptr<uint64_t[]>> parts_;
};

// True: the table of that name.
inline bool is_table(const MockRecord& record, const char* name) {
  return record.kind() == HPROF_RECORD_TABLE && is_table(record.as<hprof_rec_table>(), name, 1);
}

// The rows of a table as structs of cells.
template <typename Row>
std::vector<Row> rows_of(const hprof_rec_table& table) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < table.row_count; i++) rows.push_back(row_at<Row>(table, i));
  return rows;
}

// An encoder's output. Hands out `chunk` bytes at a time, or what the encoder needs if that is more, in a
// block of exactly that size, so that a sanitizer sees a write beyond it.
class MockOut {
 public:
  explicit MockOut(uint32_t chunk = 65536);
  hprof_out* out() { return &table_.base; }
  void set_chunk(uint32_t chunk) { chunk_ = chunk; }  // from the next block on
  // Allows patch() from now on; keep_bytes must not change any more.
  void let_patch();
  // Everything written so far.
  std::string bytes();

  uint64_t abort_after = UINT64_MAX;  // bytes handed over; then more() answers HPROF_ABORTED
  uint32_t most_needed = 0;           // the largest `need` so far
  bool keep_bytes = true;             // false: only counts them
  uint64_t total = 0;                 // handed over

 private:
  struct Table {
    hprof_out base;
    MockOut* self;
  };
  static hprof_status more(hprof_out* out, uint32_t need);
  static uint64_t position(hprof_out* out);
  static hprof_status patch(hprof_out* out, uint64_t position, const void* bytes, uint64_t size);
  void hand_over();

  Table table_ = {};
  uint32_t chunk_;
  std::unique_ptr<uint8_t[]> block_;
  std::string bytes_;
};

}  // namespace hprof
