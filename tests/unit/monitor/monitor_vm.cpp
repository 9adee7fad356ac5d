#include "tests/unit/monitor/monitor_vm.h"

#include <deque>

#include <hprof/cpp/names.hpp>

#include "plugins/monitor/blame.h"

extern "C" const hprof_module* hprof_module_monitor(const hprof_offer*, const char**);

namespace hprof {

MonitorVm::MonitorVm() {
  on_loaded_classes = [this] {
    if (collections_while_holding-- > 0) collect();
  };
}

FakeVm::Thread* MonitorVm::add_thread(hprof_thread_serial serial, const std::string& method, uint32_t flags) {
  Thread& thread = UnitVm::add_thread(serial, 100 + serial, method, flags);
  if (!thread.is_virtual) return &thread;
  static std::deque<hprof_thread> views;
  views.push_back(*thread.view);
  thread.view = &views.back();
  mock.app_threads.pop_back();
  return &thread;
}

void MonitorVm::create(const std::map<std::string, std::string>& options) {
  UnitVm::create(hprof_module_monitor, "monitor", options);
}

std::string MonitorVm::class_text(hprof_class_serial serial) const {
  const auto info = find_class(mock_ids_service(), mock.host(), serial);
  return info ? mock.text(info->name) : "?";
}

std::vector<MonitorVm::Row> MonitorVm::rows() const {
  std::vector<Row> rows;
  for (auto& record : mock.written) {
    if (!is_table(record, HPROF_TABLE_MONITOR_TIME)) continue;
    for (const hprof_monitor_row& row : rows_of<hprof_monitor_row>(record.as<hprof_rec_table>())) {
      auto lines = mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
      std::string label = row.label == 0 ? "" : " " + mock.text(static_cast<hprof_string_id>(row.label));
      rows.push_back({row.count, row.time_ns / 1000000,
                      lines.empty() ? "" : lines[0].substr(0, lines[0].find('(')),
                      class_text(static_cast<hprof_class_serial>(row.monitor)) + label});
    }
  }
  return rows;
}

std::vector<MonitorVm::Row> MonitorVm::blame() const {
  std::vector<Row> rows;
  for (auto& record : mock.written) {
    if (!is_table(record, monitor::kBlameTable)) continue;
    for (const monitor::BlameRow& row : rows_of<monitor::BlameRow>(record.as<hprof_rec_table>())) {
      auto lines = mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
      rows.push_back({row.waiters, row.blamed_ns / 1000000, lines.at(0).substr(0, lines[0].find('(')),
                      class_text(static_cast<hprof_class_serial>(row.monitor))});
    }
  }
  return rows;
}

const hprof_rec_monitor_dump* MonitorVm::dump() const {
  for (auto& record : mock.written) {
    if (record.kind() == HPROF_RECORD_MONITOR_DUMP) return &record.as<hprof_rec_monitor_dump>();
  }
  return nullptr;
}

std::vector<std::string> MonitorVm::events() const {
  std::vector<std::string> found;
  for (auto& record : mock.events) {
    auto& event = record.as<hprof_rec_monitor_event>();
    found.push_back(std::string(record.kind() == HPROF_RECORD_MONITOR_WAIT ? "WAIT " : "WAITED ") +
                    std::to_string(event.thread) + " " + class_text(event.monitor) + " " +
                    std::to_string(event.time_ms));
  }
  return found;
}

}  // namespace hprof
