// A recording that a test has the encoder write.
#pragma once

#include <doctest/doctest.h>

#include "tests/unit/encoder_jfr/jfr_reader.h"
#include "tests/unit/golden/encoder_run.h"

namespace hprof::test {

constexpr uint64_t kCreatedNs = 5'000'000'000, kCreatedMs = 1'700'000'000'000;

inline const hprof_unit& unit() { return mock_unit(hprof_module_encoder_jfr, "encoder_jfr"); }

// A file: its begin, the records that a test adds, its end.
class File {
 public:
  explicit File(MockHost& mock) : host(mock), run(mock, unit()) {
    auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    begin.created_ms = kCreatedMs;
    begin.created_ns = kCreatedNs;
    CHECK(run.encode(&begin.head) == HPROF_OK);
  }

  template <class Row>
  void events(const hprof_table_schema& schema, const std::vector<Row>& rows, hprof_status want = HPROF_OK) {
    hprof_rec_table table = table_of(schema, rows.data(), rows.size());
    table.flags = HPROF_TABLE_EVENTS;
    table.head.time_us = now_us;
    CHECK(run.encode_any(&table.head) == want);
  }
  void note(const std::string& text) {
    auto note = make_record<hprof_rec_note>(HPROF_RECORD_NOTE);
    note.head.time_us = now_us;
    note.text = {text.data(), text.size()};
    CHECK(run.encode(&note.head) == HPROF_OK);
  }
  template <class Row>
  void table(const hprof_table_schema& schema, const std::vector<Row>& rows) {
    const hprof_rec_table table = table_of(schema, rows.data(), rows.size());
    CHECK(run.encode(&table.head) == HPROF_OK);
  }
  void border(uint32_t kind) {
    auto record = make_record<hprof_rec_report>(kind);
    record.info = &info;
    record.head.time_us = now_us;
    CHECK(run.encode(&record.head) == HPROF_OK);
  }
  std::vector<JfrChunk> chunks() {
    std::vector<JfrChunk> found;
    CHECK(read_jfr(run.bytes(), &found) == "");
    return found;
  }
  std::vector<JfrChunk> end() {
    border(HPROF_RECORD_FILE_END);
    return chunks();
  }

  MockHost& host;
  EncoderRun run;
  uint64_t now_us = 0;
  hprof_report_info info = {};
};

}  // namespace hprof::test
