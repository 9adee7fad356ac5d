// my_unit=y: how many threads have started and ended. A collector: hprof/collector.h says when each function
// runs, on which threads, and what is forbidden there; hprof/cpp/collector.hpp makes the tables of this
// class.
#include <atomic>

#include <hprof/cpp/collector.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/cpp/table.hpp>

namespace {

// Filled in by the agent from the option rows below; lives as long as the session.
struct Config {
  uint32_t agent_threads;
};

// A row of the table: its cells in the columns' order.
struct Row {
  uint64_t started, ended;
};
const hprof_column kColumns[] = {
    {"started", nullptr, HPROF_COLUMN_COUNT, 0, "threads", "started while it ran"},
    {"ended", nullptr, HPROF_COLUMN_COUNT, 0, "threads", "ended while it ran"},
};
const hprof_table_schema kSchema = {
    sizeof(hprof_table_schema), 2, sizeof(hprof_column), 0, "example.my_unit/1", "MY_UNIT", kColumns,
};

class MyUnit {
 public:
  MyUnit(const hprof_host* host, const Config& config) : services_(host), config_(config) {}

  hprof_status report(const hprof_report&) {
    const Row row = {started_.load(std::memory_order_relaxed), ended_.load(std::memory_order_relaxed)};
    hprof_rec_table table = hprof::table_of(kSchema, &row, 1);
    table.created_ms = services_.clock->wall_ms(services_.host);
    return services_.emit->write(services_.host, &table.head);
  }
  void reset() {
    started_.store(0, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
  }

  // [app]: no lock that others hold for long, no allocation, no waiting.
  void thread_start(void*, hprof_thread* thread) {
    if (is_counted(*thread)) started_.fetch_add(1, std::memory_order_relaxed);
  }
  void thread_end(void*, hprof_thread* thread) {
    if (is_counted(*thread)) ended_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  bool is_counted(const hprof_thread& thread) const {
    return config_.agent_threads != 0 || (thread.flags & HPROF_THREAD_AGENT) == 0;
  }

  hprof::Services services_;
  const Config& config_;
  std::atomic<uint64_t> started_{0}, ended_{0};
};

// One row for each option: its name, where its value goes, and what help says of it.
const hprof_option kOptions[] = {
    {"my_unit-agent", HPROF_OPTION_FLAG, offsetof(Config, agent_threads), "n", nullptr, 0, 0, nullptr,
     "count the agent's own threads, too"},
};
// What it emits, so that an encoder that cannot take it is refused before the VM starts.
const char* const kRecords[] = {"example.my_unit/1", nullptr};

constexpr hprof_unit make_unit() {
  hprof_unit unit =
      hprof::collector_unit<MyUnit, Config>("my_unit", "my_unit=y", "number of threads started and ended");
  hprof::set_options(unit, kOptions);
  unit.records = kRecords;
  return unit;
}
const hprof_unit kUnit = make_unit();
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

HPROF_MODULE(my_unit, "1.0", "example vendor", kUnits, 1)
