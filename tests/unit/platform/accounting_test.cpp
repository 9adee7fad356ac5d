// Thread accounting of Linux, out of the real /proc and out of files made up.
#include <map>

#include "platform/linux/task_accounting.h"
#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

constexpr NativeThread kThread = static_cast<NativeThread>(71);

std::map<std::string, uint64_t> named(const ThreadAccounting& row) {
  size_t count = 0;
  const AccountingColumn* columns = accounting_columns(&count);
  std::map<std::string, uint64_t> values;
  for (size_t i = 0; i < count; ++i) values[columns[i].name] = row.value[i];
  return values;
}

struct MadeUp {
  TemporaryFolder folder;
  MadeUp() { std::filesystem::create_directory(folder.in("71")); }
  void put(const std::string& name, const std::string& text) { put_file(folder.in("71/" + name), text); }
  std::map<std::string, uint64_t> read(bool delays = true) {
    ThreadAccounting row;
    REQUIRE(read_task_accounting(folder.path().c_str(), kThread, delays, &row) == 0);
    return named(row);
  }
};

const char* const kStat =
    "71 (a ) b (c) S 1 2 3 4 -5 6 1001 8 1002 10 150 70 13 14 20 0 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "
    "31 "
    "32 33 34 35 36 37 38 12 43 44 45\n";

}  // namespace

TEST_CASE("accounting takes its numbers from stat, schedstat and status") {
  MadeUp task;
  task.put("stat", kStat);
  task.put("schedstat", "2200000001 340000002 99\n");
  task.put("status", "Name:\tx\nvoluntary_ctxt_switches:\t55\nnonvoluntary_ctxt_switches:\t6\n");
  auto values = task.read();
  const uint64_t tick = 1000000000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  CHECK(values["minor_faults"] == 1001);
  CHECK(values["major_faults"] == 1002);
  CHECK(values["user"] == 150 * tick);
  CHECK(values["system"] == 70 * tick);
  CHECK(values["block_io_wait"] == 12 * tick);
  CHECK(values["cpu"] == 2200000001u);
  CHECK(values["run_queue_wait"] == 340000002u);
  CHECK(values["voluntary_switches"] == 55);
  CHECK(values["involuntary_switches"] == 6);
  CHECK(task.read(false)["block_io_wait"] == kNotAccounted);
}

TEST_CASE("what the kernel does not offer is not accounted rather than zero") {
  MadeUp task;
  task.put("stat", "71 (x) S 1 2 3 4 5 6 7 8 9 10 11\n");
  auto values = task.read();
  CHECK(values["minor_faults"] == 7);
  for (const char* name : {"cpu", "run_queue_wait", "system", "block_io_wait", "voluntary_switches"}) {
    CAPTURE(name);
    CHECK(values[name] == kNotAccounted);
  }
}

TEST_CASE("texts that make no sense are survived") {
  MadeUp task;
  for (const char* text : {"", "71", "71 (unclosed S 1 2", ")", ") ) )", "71 (x) S                     "}) {
    CAPTURE(text);
    task.put("stat", text);
    task.put("schedstat", "lots of time");
    task.put("status", "\nvoluntary_ctxt_switches:");
    ThreadAccounting row;
    const int error = read_task_accounting(task.folder.path().c_str(), kThread, true, &row);
    CHECK((error == 0) == (text[0] != 0));
    CHECK(named(row)["minor_faults"] == kNotAccounted);
    CHECK(named(row)["cpu"] == kNotAccounted);
  }
}

TEST_CASE("the calling thread's books agree with its clock") {
  burn_cpu(30 * kNanosPerMilli);
  REQUIRE(start_accounting() == 0);
  ThreadAccounting row;
  REQUIRE(read_accounting(current_thread_id(), &row) == 0);
  auto values = named(row);
  CHECK(values.size() == 9);
  const uint64_t now = static_cast<uint64_t>(thread_cpu_ns());
  if (values["cpu"] != kNotAccounted) {
    CHECK(values["cpu"] <= now);
    CHECK(values["cpu"] >= now / 2);
  }
  CHECK(values["minor_faults"] > 0);
  CHECK(values["minor_faults"] != kNotAccounted);
  CHECK(values["voluntary_switches"] != kNotAccounted);
}

TEST_CASE("a thread that is not there has no books") {
  ThreadAccounting row;
  CHECK(read_accounting(static_cast<NativeThread>(0x7ffffff0), &row) != 0);
}
