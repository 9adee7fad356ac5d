// The ascii encoder beyond what the golden files show: buffers of every size, outputs that go away, odd
// numbers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <sstream>

#include <hprof/cpp/core_tables.hpp>

#include "tests/unit/golden/encoder_run.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_ascii, "encoder_ascii"); }

std::string encode_one(MockHost& host, const hprof_record* record) {
  EncoderRun run(host, unit());
  CHECK(run.encode_any(record) == HPROF_OK);
  return run.bytes();
}

std::string thread_line(MockHost& host, const std::string& name) {
  auto record = make_record<hprof_rec_definition>(HPROF_RECORD_THREAD_START);
  record.id = host.add_thread(name, "main", "system", 0xabc);
  return encode_one(host, &record.head);
}

// The row of a CPU section for one trace whose method has this name.
std::string method_row(const std::string& name) {
  MockHost host;
  const auto method = host.add_method(host.add_class("A", "LA;", "A.java"), name, "()V");
  const hprof_cpu_row row = {1, 0, host.add_trace({host.add_frame(method, 1)})};
  hprof_rec_table table = table_of(kCpuSamples, &row, 1);
  std::istringstream lines(encode_one(host, &table.head));
  std::string line;
  for (int i = 0; i < 3; i++) std::getline(lines, line);
  return line;
}

struct OneCell {
  hprof_cell cell;
};

std::string vendor_line(uint32_t type, hprof_cell cell) {
  MockHost host;
  const hprof_column column = {"a b", nullptr, type, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema,     1,         sizeof column, 0,
                                     "com.acme.kind/1", "MY KIND", &column};
  const OneCell row = {cell};
  hprof_rec_table table = table_of(schema, &row, 1);
  return encode_one(host, &table.head);
}

std::string real_line(double v) {
  hprof_cell cell;
  cell.r = v;
  return vendor_line(HPROF_COLUMN_REAL, cell);
}

}  // namespace

TEST_CASE("the bytes do not depend on how much room the output gives at a time") { check_any_room(unit()); }

TEST_CASE("an output that goes away ends a record at once, wherever it happens") {
  check_output_that_goes(unit());
}

TEST_CASE("an aborted record of a million rows does not go through all of them") {
  MockHost host;
  std::vector<hprof_cpu_row> rows(1000000, hprof_cpu_row{1, 0, 0});
  hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
  EncoderRun run(host, unit(), {}, 256);
  run.out.abort_after = 512;
  CHECK(run.encode(&table.head) == HPROF_ABORTED);
  run.bytes();
  CHECK(run.out.total < 2048);
}

TEST_CASE("a method name is one word of a row, whatever is in it") {
  CHECK(method_row("run") == "   1 100.00% 100.00%       1 300001 A.run");
  CHECK(method_row("a b") == "   1 100.00% 100.00%       1 300001 A.a_b");
  CHECK(method_row("a\tb\rc\x7f") == "   1 100.00% 100.00%       1 300001 A.a_b_c_");
  CHECK(method_row("a\xc2\xa0"
                   "b\xe3\x80\x80"
                   "c\xc2\x85"
                   "d") == "   1 100.00% 100.00%       1 300001 A.a_b_c_d");
  CHECK(method_row("\xe2\x80\xae"
                   "x\xe2\x80\x8b"
                   "y") == "   1 100.00% 100.00%       1 300001 A._x_y");
  CHECK(method_row("") == "   1 100.00% 100.00%       1 300001 A.<Unknown_Method>");
  CHECK(method_row("\xc3\xa4\xe6\xbc\xa2") == "   1 100.00% 100.00%       1 300001 A.\xc3\xa4\xe6\xbc\xa2");
}

TEST_CASE("text of the VM's comes out as valid UTF-8") {
  CHECK(method_row("\xed\xa0\xbd\xed\xb8\x80") == "   1 100.00% 100.00%       1 300001 A.\xf0\x9f\x98\x80");
  CHECK(method_row("\xed\xa0\xbd") == "   1 100.00% 100.00%       1 300001 A.\xef\xbf\xbd");
  CHECK(method_row("\xed\xb8\x80x") == "   1 100.00% 100.00%       1 300001 A.\xef\xbf\xbdx");
  CHECK(method_row("\xe6\xbc") == "   1 100.00% 100.00%       1 300001 A.\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(method_row("\xf0\x9f\x98\x80") == "   1 100.00% 100.00%       1 300001 A.\xf0\x9f\x98\x80");
  CHECK(method_row("\xf7\xbf\xbf\xbf") == "   1 100.00% 100.00%       1 300001 A.\xef\xbf\xbd");
}

TEST_CASE("thread names keep their blanks, and end at the closing quote") {
  MockHost host;
  CHECK(thread_line(host, "pool 1") ==
        "THREAD START (obj=abc, id = 200001, name=\"pool 1\", group=\"main\")\n");
  CHECK(thread_line(host, "a\", group=\"b") ==
        "THREAD START (obj=abc, id = 200002, name=\"a\\\", group=\\\"b\", group=\"main\")\n");
  CHECK(thread_line(host, "a\\\n\x1b[2J") ==
        "THREAD START (obj=abc, id = 200003, name=\"a\\\\\\u000a\\u001b[2J\", group=\"main\")\n");
}

TEST_CASE("a thread that nobody knows still has a line") {
  MockHost host;
  auto record = make_record<hprof_rec_definition>(HPROF_RECORD_THREAD_START);
  record.id = 5;
  CHECK(encode_one(host, &record.head) == "THREAD START (obj=0, id = 200005, name=\"\", group=\"\")\n");
}

TEST_CASE("shares of a total of zero are zero, and too large ones stay numbers") {
  MockHost host;
  const hprof_cpu_row row = {UINT64_MAX, 0, 0};
  hprof_cpu_row totals = {0, 0, 0};
  hprof_rec_table table = table_of(kCpuSamples, &row, 1);
  table.totals = cells_of(&totals);
  CHECK(
      encode_one(host, &table.head).find("   1  0.00%  0.00% 18446744073709551615 300000 <empty trace>\n") !=
      std::string::npos);
  totals.count = 1;
  CHECK(encode_one(host, &table.head).find("   1 1000000000000000.00% ") != std::string::npos);
}

TEST_CASE("percentages are rounded as printf rounds them") {
  MockHost host;
  for (uint64_t total : {3ull, 7ull, 16ull, 32ull, 64ull, 1000ull, 12345ull, 99999ull}) {
    for (uint64_t count = 0; count <= total; count += 1 + total / 97) {
      const hprof_cpu_row row = {count, 0, 0}, totals = {total, 0, 0};
      hprof_rec_table table = table_of(kCpuSamples, &row, 1);
      table.totals = cells_of(&totals);
      char want[128];
      const double share = static_cast<double>(count) * 100.0 / static_cast<double>(total);
      std::snprintf(want, sizeof want, "\n%4u %5.2f%% %5.2f%% %7u %5u <empty trace>\n", 1u, share, share,
                    static_cast<unsigned>(count), 300000u);
      REQUIRE_MESSAGE(encode_one(host, &table.head).find(want) != std::string::npos, want);
    }
  }
}

TEST_CASE("a vendor's numbers print short, exact enough, and whatever they are") {
  CHECK(real_line(0) == "MY_KIND: a_b=0\n");
  CHECK(real_line(-1.5) == "MY_KIND: a_b=-1.5\n");
  CHECK(real_line(0.1) == "MY_KIND: a_b=0.1\n");
  CHECK(real_line(123456.789) == "MY_KIND: a_b=123456.789\n");
  CHECK(real_line(0.9999999) == "MY_KIND: a_b=1\n");
  CHECK(real_line(2.5e-7) == "MY_KIND: a_b=2.5e-7\n");
  CHECK(real_line(1e300) == "MY_KIND: a_b=1e300\n");
  CHECK(real_line(NAN) == "MY_KIND: a_b=nan\n");
  CHECK(real_line(-INFINITY) == "MY_KIND: a_b=-inf\n");
  hprof_cell value;
  value.i = -5;
  CHECK(vendor_line(HPROF_COLUMN_INT, value) == "MY_KIND: a_b=-5\n");
  value.u = 0xffffffff;
  CHECK(vendor_line(HPROF_COLUMN_THREAD, value) == "MY_KIND: a_b=4295167295\n");
  CHECK(vendor_line(99, value) == "MY_KIND: a_b=4294967295\n");
}

TEST_CASE("a table of any collector has a line for each row, of words") {
  MockHost host;
  const auto owner = host.add_class("my pkg.A", "Lmy pkg/A;", "A.java");
  const auto method = host.add_method(owner, "do it", "()V");
  struct Row {
    uint64_t count, bytes, at, in, what, frame, by;
  };
  const hprof_column columns[] = {
      {"count", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
      {"bytes", nullptr, HPROF_COLUMN_BYTES, HPROF_COLUMN_WEIGHT, nullptr, nullptr},
      {"at", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
      {"in", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
      {"what", nullptr, HPROF_COLUMN_CLASS, 0, nullptr, nullptr},
      {"frame", nullptr, HPROF_COLUMN_FRAME, 0, nullptr, nullptr},
  };
  // A schema that was built with a larger column, and rows with more in them than columns.
  struct LargeColumn {
    hprof_column column;
    uint64_t more;
  } large[6];
  for (int i = 0; i < 6; i++) large[i] = {columns[i], 0};
  const hprof_table_schema schema = {sizeof schema,  6,         sizeof(LargeColumn), 0,
                                     "com.acme.x/1", "MY ROWS", &large[0].column};
  const auto frame = host.add_frame(method, 7);
  const Row rows[] = {{2, 30, host.add_trace({frame}), method, owner, frame, 1},
                      {1, 10, 0, 99, 99, host.add_frame(method, HPROF_LINE_UNKNOWN), 1}};
  hprof_rec_table table = table_of(schema, rows, 2);
  CHECK(encode_one(host, &table.head) ==
        "MY_ROWS: count=2 bytes=30 at=300001 in=my_pkg.A.do_it what=my_pkg.A frame=my_pkg.A.do_it:7\n"
        "MY_ROWS: count=1 bytes=10 at=300000 in=<Unknown_Class>.<Unknown_Method> what=<Unknown_Class> "
        "frame=my_pkg.A.do_it\n");
  table.order = 1;
  CHECK(encode_one(host, &table.head) ==
        "MY_ROWS: rank=1 self=75.00% accum=75.00% count=2 bytes=30 at=300001 method=my_pkg.A.do_it "
        "in=my_pkg.A.do_it what=my_pkg.A frame=my_pkg.A.do_it:7\n"
        "MY_ROWS: rank=2 self=25.00% accum=100.00% count=1 bytes=10 at=300000 "
        "in=<Unknown_Class>.<Unknown_Method> what=<Unknown_Class> frame=my_pkg.A.do_it\n");
  // No blank pads a share below 10 %: lines are split at blanks.
  const Row small[] = {{20, 100, 0, 99, 99, 0, 1}, {1, 10, 0, 99, 99, 0, 1}};
  table = table_of(schema, small, 2);
  table.order = 1;
  const std::string text = encode_one(host, &table.head);
  CHECK(text.find(" rank=1 self=90.91% accum=90.91% count=20 ") != std::string::npos);
  CHECK(text.find(" rank=2 self=9.09% accum=100.00% count=1 ") != std::string::npos);
}

TEST_CASE("methods of one name in a table have their descriptors") {
  MockHost host;
  const auto owner = host.add_class("A", "LA;", "A.java");
  const hprof_column columns[] = {{"in", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 1,      sizeof(hprof_column), 0, "com.acme.x/1",
                                     "ROWS",        columns};
  const uint64_t rows[] = {host.add_method(owner, "f", "(I)V"), host.add_method(owner, "f", "(J)V"),
                           host.add_method(owner, "g", "()V"),
                           host.add_method(host.add_class("B", "LB;", "B.java"), "f", "()V")};
  const hprof_rec_table table = table_of(schema, rows, 4);
  CHECK(encode_one(host, &table.head) == "ROWS: in=A.f(I)V\nROWS: in=A.f(J)V\nROWS: in=A.g\nROWS: in=B.f\n");
}

TEST_CASE("a thread's state is spelt as the manual does, what marks it first") {
  MockHost host;
  const auto status = [&](uint32_t state, uint32_t flags) {
    const hprof_dump_thread thread = {1, 0, state, flags};
    auto dump = make_record<hprof_rec_monitor_dump>(HPROF_RECORD_MONITOR_DUMP);
    dump.thread_count = 1;
    dump.threads = &thread;
    dump.thread_stride = sizeof thread;
    const std::string text = encode_one(host, &dump.head);
    const size_t at = text.find("status: ") + 8;
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(status(HPROF_STATE_NOT_STARTED, 0) == "NS");
  CHECK(status(HPROF_STATE_RUNNABLE, 0) == "R");
  CHECK(status(HPROF_STATE_BLOCKED, 0) == "MW");
  CHECK(status(HPROF_STATE_WAITING, 0) == "CW");
  CHECK(status(HPROF_STATE_SLEEPING, 0) == "SL");
  CHECK(status(HPROF_STATE_ENDED, 0) == "ZO");
  CHECK(status(HPROF_STATE_UNKNOWN, 0) == "UN");
  CHECK(status(4711, 0) == "UN");
  CHECK(status(HPROF_STATE_RUNNABLE, HPROF_STATE_NATIVE) == "native|R");
  CHECK(status(HPROF_STATE_SLEEPING, HPROF_STATE_SUSPENDED | HPROF_STATE_INTERRUPTED | HPROF_STATE_NATIVE) ==
        "S|intr|native|SL");
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

TEST_CASE("the prelude cannot be mistaken for its end, or for a record") {
  MockHost host;
  auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  const std::string text = encode_one(host, &begin.head);
  CHECK(text.rfind("JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n", 0) == 0);
  CHECK(text.substr(text.size() - 12) == "\n\n--------\n\n");
  CHECK(text.find("\n---") == text.size() - 11);
  CHECK(text.find("\nTRACE ") == std::string::npos);
  CHECK(text.find(" BEGIN") == std::string::npos);
  begin.alone = HPROF_TABLE_CPU_OLD;
  CHECK(encode_one(host, &begin.head).empty());
}

TEST_CASE("a bare output holds the call list and nothing else") {
  MockHost host;
  auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
  begin.alone = HPROF_TABLE_CPU_OLD;
  auto thread = make_record<hprof_rec_definition>(HPROF_RECORD_THREAD_START);
  thread.id = host.add_thread("main", "main", "");
  auto note = make_record<hprof_rec_note>(HPROF_RECORD_NOTE);
  note.text = {"x", 1};
  const hprof_call_row row = {};
  hprof_rec_table calls = table_of(kCpuOld, &row, 0), samples = table_of(kCpuSamples, &row, 0);
  EncoderRun run(host, unit());
  CHECK(run.encode(&begin.head) == HPROF_OK);
  CHECK(run.encode(&thread.head) == HPROF_OK);
  CHECK(run.encode(&note.head) == HPROF_UNSUPPORTED);
  CHECK(run.encode(&samples.head) == HPROF_OK);
  CHECK(run.encode(&calls.head) == HPROF_OK);
  CHECK(run.bytes() == "count callee caller time\n");
}

TEST_CASE("without memory or services an encoder is not made") { check_not_made(unit()); }
