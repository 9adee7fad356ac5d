// The mock host keeps what the header says of it: other tests lean on that.
#include "tools/mock/mock_host.h"

#include <doctest/doctest.h>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/names.hpp>

#include "tools/mock/mock_table.h"

using namespace hprof;

namespace {

template <typename T>
const T* service(const MockHost& host, const char* id) {
  return static_cast<const T*>(host.host()->service(host.host(), id));
}

}  // namespace

TEST_CASE("a record of a report is kept with its rows after the caller's are gone") {
  MockHost host;
  {
    hprof_cpu_row rows[2] = {{3, 30, 7}, {1, 10, 8}}, totals = {4, 40, 0};
    hprof_rec_table table = table_of(kCpuSamples, rows, 2);
    table.totals = cells_of(&totals);
    CHECK(service<hprof_emit_service>(host, HPROF_SERVICE_EMIT)->write(host.host(), &table.head) == HPROF_OK);
    rows[0].count = rows[1].count = totals.count = 0;
  }
  REQUIRE(host.written.size() == 1);
  REQUIRE(is_table(host.written[0], HPROF_TABLE_CPU_SAMPLES));
  const auto& kept = host.written[0].as<hprof_rec_table>();
  CHECK(column_total(kept, HPROF_CPU_COUNT) == 4);
  CHECK(rows_of<hprof_cpu_row>(kept)[0].count == 3);
  CHECK(rows_of<hprof_cpu_row>(kept)[1].trace == 8);
}

TEST_CASE("equal traces get equal serials, and threads tell them apart") {
  MockHost host;
  const auto* ids = service<hprof_ids_service>(host, HPROF_SERVICE_IDS);
  const hprof_frame_id frame = ids->synthetic_frame(host.host(), "JVM", "idle");
  CHECK(ids->synthetic_frame(host.host(), "JVM", "idle") == frame);
  const hprof_trace_serial one = ids->trace(host.host(), 0, &frame, 1, 0);
  CHECK(one == 1);
  CHECK(ids->trace(host.host(), 0, &frame, 1, 0) == one);
  CHECK(ids->trace(host.host(), 1, &frame, 1, 0) == 2);
  CHECK(host.trace_text(one) == std::vector<std::string>{"JVM.idle(Unknown Source:-1)"});
  CHECK_FALSE(find_trace(ids, host.host(), 99));
}

TEST_CASE("memory is limited, zeroed, and missed when released with a wrong size") {
  MockHost host;
  host.memory_limit = 1000;
  const auto* mem = service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  auto* bytes = static_cast<uint8_t*>(mem->allocate(host.host(), 600));
  REQUIRE(bytes != nullptr);
  CHECK(bytes[599] == 0);
  CHECK(mem->allocate(host.host(), 401) == nullptr);
  mem->release(host.host(), bytes, 599);
  CHECK(host.memory_used == 600);
  mem->release(host.host(), bytes, 600);
  CHECK(host.memory_used == 0);
}

TEST_CASE("an agent thread runs the given number of turns on the calling thread, and the clock moves") {
  MockHost host;
  const auto* threads = service<hprof_threads_service>(host, HPROF_SERVICE_THREADS);
  struct Body {
    const hprof_threads_service* threads;
    int turns = 0;
  } body{threads};
  hprof_agent_thread* thread = threads->start(
      host.host(), "sampler",
      [](void* argument, void*, hprof_agent_thread* self) {
        auto* at = static_cast<Body*>(argument);
        while (at->threads->wait(self, 10) != 0) at->turns++;
      },
      &body);
  const uint64_t before = host.now_ns;
  host.run_thread(0, 5);
  CHECK(body.turns == 5);
  CHECK(host.now_ns == before + 50);
  CHECK(threads->stop(host.host(), thread) == HPROF_OK);
  CHECK(host.agent_threads.empty());
}

TEST_CASE("a loss counter is the same for the same text") {
  MockHost host;
  const auto* log = service<hprof_log_service>(host, HPROF_SERVICE_LOG);
  uint64_t* counter = log->loss_counter(host.host(), "samples: the buffer was full");
  *counter += 2;
  CHECK(log->loss_counter(host.host(), "samples: the buffer was full") == counter);
  CHECK(host.loss("samples: the buffer was full") == 2);
  CHECK(host.loss("anything else") == 0);
}

TEST_CASE("the allocation that is asked to fail does, and a wrong release is remembered") {
  MockHost host;
  const auto* mem = service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  host.fail_allocation = 1;
  void* first = mem->allocate(host.host(), 8);
  CHECK(first != nullptr);
  CHECK(mem->allocate(host.host(), 8) == nullptr);
  void* third = mem->allocate(host.host(), 8);
  CHECK(host.allocations == 3);
  mem->release(host.host(), first, 9);
  CHECK(host.wrong_releases.count(first) == 1);
  mem->release(host.host(), first, 8);
  mem->release(host.host(), third, 8);
  CHECK(host.memory_used == 0);
}

TEST_CASE("probes are asked for, switched, and told by the test") {
  MockHost host;
  const auto* probes = service<hprof_probes_service>(host, HPROF_SERVICE_PROBES);
  using Made = void (*)(void* jni, void* of, int64_t self, void* exception);
  static int seen;
  seen = 0;
  const Made made = [](void*, void*, int64_t self, void*) { seen += static_cast<int>(self); };
  const hprof_target targets[] = {{HPROF_POINT_MADE, 0, nullptr, reinterpret_cast<void (*)()>(made)}};
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.targets = targets;
  user.target_count = 1;
  uint32_t number = 7;
  CHECK(probes->start(host.host(), 1) == HPROF_FAILED);
  REQUIRE(probes->ask(host.host(), &user, &number) == HPROF_OK);
  CHECK(number == 1);
  probes->start(host.host(), number);
  CHECK(host.probes_started.count(1) == 1);
  reinterpret_cast<Made>(host.probe_target(number, HPROF_POINT_MADE))(nullptr, nullptr, 3, nullptr);
  CHECK(seen == 3);
  const bool has_begin = host.probe_target(number, HPROF_POINT_BEGIN) != nullptr;
  CHECK_FALSE(has_begin);
  probes->stop(host.host(), number);
  CHECK(host.probes_started.empty());
  host.probe_status = HPROF_UNSUPPORTED;
  CHECK(probes->ask(host.host(), &user, &number) == HPROF_UNSUPPORTED);
  CHECK(number == 0);
}

TEST_CASE("a timer's tick reaches the handler with the argument of its thread") {
  MockHost host;
  const auto* sampling = service<hprof_sampling_service>(host, HPROF_SERVICE_SAMPLING);
  uint32_t sum = 0, mine = 7;
  sampling->install(
      host.host(),
      [](void* argument, void* timer, void*, uint32_t ticks) {
        *static_cast<uint32_t*>(argument) += *static_cast<uint32_t*>(timer) * ticks;
      },
      &sum);
  hprof_status why = HPROF_OK;
  hprof_cpu_timer* timer = sampling->start(host.host(), 11, 1000, &mine, &why);
  host.tick(11, 2);
  host.tick(12);
  CHECK(sum == 14);
  sampling->stop(host.host(), timer);
  host.tick(11);
  CHECK(sum == 14);
}

TEST_CASE("files are renamed and written again in the middle, sockets are not") {
  MockHost host;
  host.working_folder = "/profiles";
  const auto* io = service<hprof_io_service>(host, HPROF_SERVICE_IO);
  char error[80], path[80];
  const int64_t file = io->create_file(host.host(), "a", 0, error, sizeof error);
  io->write(host.host(), file, "12345", 5, 0, error, sizeof error);
  CHECK(io->write_at(host.host(), file, 1, "xy", 2, error, sizeof error) == 0);
  CHECK(io->write_at(host.host(), file, 4, "xy", 2, error, sizeof error) == -1);
  CHECK(io->rename(host.host(), "a", "b") == 0);
  io->write(host.host(), file, "6", 1, 0, error, sizeof error);
  CHECK(host.files.at("b").bytes == "1xy456");
  CHECK(io->absolute_path(host.host(), "b", path, sizeof path) == 11);
  CHECK(std::string(path) == "/profiles/b");
  CHECK(io->absolute_path(host.host(), "b", path, 11) == 0);
}

namespace {
struct OnlyMessages {
  static void message(const hprof_host*, const char*) {}
};
}  // namespace

TEST_CASE("a function that the mock does not have is NULL, and those it has are set by their names") {
  const hprof_log_service* log = mock_table<hprof_log_service, OnlyMessages>();
  CHECK(log->size == sizeof *log);
  CHECK((log->message == &OnlyMessages::message));
  CHECK((log->detail == nullptr && log->loss_counter == nullptr));
  MockHost host;
  const auto* threads = service<hprof_threads_service>(host, HPROF_SERVICE_THREADS);
  CHECK((threads->start != nullptr && threads->pause != nullptr && threads->wake != nullptr));
}
