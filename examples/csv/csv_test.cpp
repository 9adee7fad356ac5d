// SPDX-License-Identifier: Apache-2.0
// csv against the mock host: a table in, bytes out.
#include <hprof/mock/check.h>
#include <hprof/mock/unit_run.h>

extern "C" const hprof_module* hprof_module_csv(const hprof_offer*, const char**);

namespace {

struct Row {
  uint64_t count, owner;
  int64_t change;
};
const hprof_column kColumns[] = {
    {"count", nullptr, HPROF_COLUMN_COUNT, 0, "things", nullptr},
    {"class", nullptr, HPROF_COLUMN_CLASS, 0, nullptr, nullptr},
    {"change", nullptr, HPROF_COLUMN_INT, 0, "things", nullptr},
};
const hprof_table_schema kSchema = {
    sizeof(hprof_table_schema), 3, sizeof(hprof_column), 0, "example.things/1", "THINGS", kColumns,
};

std::string encoded(const char* header, uint32_t chunk) {
  hprof::MockHost host;
  const uint64_t owner = host.add_class("com.acme.Thing", "Lcom/acme/Thing;");
  const Row rows[] = {{3, owner, -1}, {12, 0, 5}};
  const hprof_rec_table table = hprof::table_of(kSchema, rows, 2);
  std::string bytes;
  {
    hprof::EncoderFeed feed(host, hprof::mock_unit(hprof_module_csv, "csv"), {{"csv-header", header}});
    feed.out.set_chunk(chunk);
    HPROF_CHECK(feed.created == HPROF_OK);
    HPROF_CHECK(feed.encode(table.head) == HPROF_OK);
    const auto unknown = hprof::zeroed_record<hprof_rec_definition>(HPROF_RECORD_REGISTERED + 1);
    HPROF_CHECK(feed.encode(unknown.head) == HPROF_UNSUPPORTED);
    bytes = feed.bytes();
  }
  HPROF_CHECK(host.memory_used == 0);
  return bytes;
}

void stops_when_the_output_is_gone() {
  hprof::MockHost host;
  const Row row = {1, 0, 0};
  const hprof_rec_table table = hprof::table_of(kSchema, &row, 1);
  hprof::EncoderFeed feed(host, hprof::mock_unit(hprof_module_csv, "csv"));
  feed.out.abort_after = 0;
  HPROF_CHECK(feed.encode(table.head) == HPROF_ABORTED);
}

}  // namespace

int main() {
  const std::string rows = "3,\"com.acme.Thing\",-1\r\n12,\"\",5\r\n";
  HPROF_CHECK(encoded("n", 4096) == rows);
  HPROF_CHECK(encoded("n", 1) == rows);
  HPROF_CHECK(encoded("y", 4096) == "count,class,change\r\n" + rows);
  stops_when_the_output_is_gone();
  return hprof::failed_checks() == 0 ? 0 : 1;
}
