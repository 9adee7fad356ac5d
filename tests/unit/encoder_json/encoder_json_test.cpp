// The json encoder: every line is a JSON object, whatever is in the names.
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <sstream>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_json, "encoder_json"); }

std::string encode_one(MockHost& host, const hprof_record* record) {
  EncoderRun run(host, unit());
  CHECK(run.encode_any(record) == HPROF_OK);
  return run.bytes();
}

// A reader of JSON that only says whether it is any: strict, UTF-8 included.
class Json {
 public:
  explicit Json(const std::string& text) : at_(text.c_str()), end_(at_ + text.size()) {}
  bool is_object() { return peek() == '{' && value() && at_ == end_; }

 private:
  int peek() const { return at_ < end_ ? static_cast<unsigned char>(*at_) : -1; }
  bool take(char c) { return peek() == c && ++at_; }
  bool word(const char* text) {
    while (*text != 0)
      if (!take(*text++)) return false;
    return true;
  }
  bool digits() {
    const char* begin = at_;
    while (peek() >= '0' && peek() <= '9') at_++;
    return at_ != begin;
  }
  bool number() {
    take('-');
    if (!digits() || (take('.') && !digits())) return false;
    if (!take('e')) return true;
    take('-');
    return digits();
  }
  bool code() {
    const int first = peek();
    const int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
    if (first < 0x20 || more < 0 || first > 0xf4) return false;
    if (first == 0xed && end_ - at_ > 1 && (at_[1] & 0x20) != 0) return false;  // half a surrogate pair
    at_++;
    for (int i = 0; i < more; i++)
      if ((peek() & 0xc0) != 0x80 || at_++ == end_) return false;
    return true;
  }
  bool escape() {
    if (take('"') || take('\\')) return true;
    if (!take('u')) return false;
    for (int i = 0; i < 4; i++)
      if (std::strchr("0123456789abcdef", peek()) == nullptr || at_++ == end_) return false;
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (!take('"'))
      if (!(take('\\') ? escape() : code())) return false;
    return true;
  }
  bool list(char last, bool named) {
    at_++;
    if (take(last)) return true;
    do {
      if (named && !(string() && take(':'))) return false;
      if (!value()) return false;
    } while (take(','));
    return take(last);
  }
  bool value() {
    switch (peek()) {
      case '{':
        return list('}', true);
      case '[':
        return list(']', false);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  const char* at_;
  const char* end_;
};

std::string cell_line(uint32_t type, hprof_cell cell) {
  MockHost host;
  const hprof_column column = {"a \"b\"", nullptr, type, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema, 1, sizeof column, 0, "com.acme.x/1", "X", &column};
  struct Row {
    hprof_cell cell;
  };
  const Row row = {cell};
  const hprof_rec_table table = table_of(schema, &row, 1);
  const std::string text = encode_one(host, &table.head);
  return text.substr(text.find('\n') + 1);
}

std::string real_line(double v) {
  hprof_cell cell;
  cell.r = v;
  return cell_line(HPROF_COLUMN_REAL, cell);
}

std::string row_of(const std::string& value) {
  return "{\"record\":\"row\",\"table\":\"com.acme.x/1\",\"cells\":{\"a \\\"b\\\"\":" + value + "}}\n";
}

}  // namespace

TEST_CASE("room, outputs that go, and what it cannot do without") {
  check_any_room(unit());
  check_output_that_goes(unit());
  check_not_made(unit());
}

TEST_CASE("every record of the recorded session is a line with one object") {
  Recording recording;
  std::istringstream lines(encode_recording(recording, unit()));
  std::string line, last;
  while (std::getline(lines, line)) {
    CHECK_MESSAGE(Json(line).is_object(), line);
    CHECK(line.rfind("{\"record\":\"", 0) == 0);
    last = line;
  }
  CHECK(last.rfind("{\"record\":\"end\",", 0) == 0);
}

TEST_CASE("cells of each type") {
  hprof_cell cell;
  cell.u = UINT64_MAX;
  CHECK(cell_line(HPROF_COLUMN_COUNT, cell) == row_of("18446744073709551615"));
  CHECK(cell_line(HPROF_COLUMN_INT, cell) == row_of("-1"));
  cell.u = 0;
  for (uint32_t type : {HPROF_COLUMN_THREAD, HPROF_COLUMN_CLASS, HPROF_COLUMN_METHOD, HPROF_COLUMN_TEXT})
    CHECK(cell_line(type, cell) == row_of("null"));
  cell.u = 99;
  CHECK(cell_line(HPROF_COLUMN_CLASS, cell) == row_of("{\"id\":99,\"name\":null}"));
  CHECK(cell_line(HPROF_COLUMN_METHOD, cell) == row_of("{\"id\":99,\"name\":\".\"}"));
  CHECK(cell_line(HPROF_COLUMN_TEXT, cell) == row_of("null"));
  CHECK(real_line(-0.5) == row_of("-0.5"));
  CHECK(real_line(1.25e-7) == row_of("1.25e-7"));
  for (double v : {std::nan(""), HUGE_VAL, -HUGE_VAL}) CHECK(real_line(v) == row_of("null"));
}

TEST_CASE("events are lines of a table, and the beginning has both clocks") {
  MockHost host;
  CHECK(static_cast<const hprof_encoder_ops*>(unit().ops)->flags == HPROF_ENCODER_EVENTS_ASKED);
  host.settings.events = 1;
  const hprof_column columns[] = {
      {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
      {"took", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_DURATION, nullptr, nullptr},
      {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 3, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t at, took, state;
  };
  const Row rows[] = {{1000, 3, HPROF_STATE_BLOCKED}, {1001, 4, 99}};
  hprof_rec_table table = table_of(schema, rows, 2);
  table.flags = HPROF_TABLE_EVENTS;
  EncoderRun run(host, unit());
  CHECK(run.encode(&table.head) == HPROF_OK);
  auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.created_ns = 77;
  CHECK(run.encode(&begin.head) == HPROF_OK);
  std::istringstream lines(run.bytes());
  std::string line;
  std::getline(lines, line);
  CHECK(Json(line).is_object());
  CHECK(line.find("\"flags\":[\"events\"]") != std::string::npos);
  CHECK(line.find("{\"name\":\"at\",\"title\":\"at\",\"type\":\"time\",\"unit\":\"nanoseconds\"") !=
        std::string::npos);
  CHECK(line.find("\"flags\":[\"duration\"]}") != std::string::npos);
  CHECK(line.find("\"type\":\"thread_state\",\"unit\":null") != std::string::npos);
  const std::string row = "{\"record\":\"row\",\"table\":\"com.acme.x/1\",\"cells\":{\"at\":";
  std::getline(lines, line);
  CHECK(line == row + "1000,\"took\":3,\"state\":\"blocked\"}}");
  std::getline(lines, line);
  CHECK(line == row + "1001,\"took\":4,\"state\":\"unknown\"}}");
  std::getline(lines, line);
  CHECK(line.find(",\"created_ns\":77}") != std::string::npos);
  begin.head.size = HPROF_SIZE_TO(hprof_rec_file_begin, alone);
  EncoderRun older(host, unit());
  CHECK(older.encode(&begin.head) == HPROF_OK);
  CHECK(older.bytes().find("created_ns") == std::string::npos);
  host.settings.events = 0;
  begin.head.size = sizeof begin;
  CHECK(encode_one(host, &begin.head).find("created_ns") == std::string::npos);
}

TEST_CASE("an id of 16 bytes is one text of two columns") {
  MockHost host;
  const hprof_column columns[] = {
      {"trace_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
      {"rest", nullptr, HPROF_COLUMN_ID, HPROF_COLUMN_CONTINUED, nullptr, nullptr},
      {"span_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 3, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t trace, rest, span;
  };
  const Row rows[] = {{0, 0x89abcdef, 0xf000000000000001}, {0, 0, 0}};
  const hprof_rec_table table = table_of(schema, rows, 2);
  const std::string text = encode_one(host, &table.head);
  CHECK(text.find("\"trace_id\":\"00000000000000000000000089abcdef\",\"span_id\":\"f000000000000001\"}}") !=
        std::string::npos);
  CHECK(text.find("{\"trace_id\":null,\"span_id\":null}") != std::string::npos);
}

TEST_CASE("a thread's name is one string, in UTF-8") {
  MockHost host;
  auto record = make_record<hprof_rec_definition>(HPROF_RECORD_THREAD_START);
  record.id = host.add_thread("a\"\\\n\x7f\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd\xff/", "g", "p");
  const std::string line = encode_one(host, &record.head);
  CHECK(line.find("\"a\\\"\\\\\\u000a\\u007f\\u0000\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd/\"") !=
        std::string::npos);
  CHECK(Json(line.substr(0, line.size() - 1)).is_object());
}

TEST_CASE("kinds that nobody has defined are refused and write nothing") {
  MockHost host;
  for (uint32_t kind : {0u, 31u, 32u, 64u, 4000000000u}) {
    auto record = make_record<hprof_rec_definition>(kind);
    EncoderRun run(host, unit());
    CHECK(run.encode_any(&record.head) == HPROF_UNSUPPORTED);
    CHECK(run.bytes().empty());
  }
}
