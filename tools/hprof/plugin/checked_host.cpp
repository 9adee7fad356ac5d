// Services that check their arguments and pass them on to the mock host.
#include "tools/hprof/plugin/checked_host.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/pipeline/record_check.h"

namespace hprof::tool {

namespace {

CheckedHost* current = nullptr;  // one in a process, one thread

constexpr size_t kMessageMost = 592;  // of which the agent prints
// The memory for one trial of a unit; options may raise it.
constexpr uint64_t kMemoryMost = 64u << 20;

bool is_known(const void*, uint32_t type, uint32_t number) {
  const MockHost& mock = current->mock;
  const auto* ids =
      static_cast<const hprof_ids_service*>(mock.host()->service(mock.host(), HPROF_SERVICE_IDS));
  const auto has = [&](auto info, auto function) {
    info.size = sizeof info;
    return function(mock.host(), number, &info) != 0;
  };
  switch (type) {
    case HPROF_COLUMN_TRACE:
      return has(hprof_trace_info{}, ids->trace_info);
    case HPROF_COLUMN_CLASS:
      return has(hprof_class_info{}, ids->class_info);
    case HPROF_COLUMN_METHOD:
      return has(hprof_method_info{}, ids->method_info);
    case HPROF_COLUMN_FRAME:
      return has(hprof_frame_info{}, ids->frame_info);
    default:
      return ids->string_text(mock.host(), number).data != nullptr;
  }
}

// Each row of a ranked table has at most the value of the row before it.
bool is_ranked(const hprof_rec_table& table) {
  const uint32_t order = table.order;
  if (order == HPROF_NO_COLUMN) return true;
  const uint32_t type = hprof_column_at(table.schema, order)->type;
  for (uint64_t row = 1; row < table.row_count; row++) {
    const hprof_cell before = hprof_row_at(&table, row - 1)[order], cell = hprof_row_at(&table, row)[order];
    const bool is_larger = type == HPROF_COLUMN_REAL  ? cell.r > before.r
                           : type == HPROF_COLUMN_INT ? cell.i > before.i
                                                      : cell.u > before.u;
    if (is_larger) return false;
  }
  return true;
}

// What the agent lets pass: types of columns that a later version may know, and wrong numbers. nullptr:
// nothing.
const char* oddity_of(const hprof_rec_table& table) {
  for (uint32_t i = 0; i < table.schema->column_count; i++) {
    const hprof_column& column = *hprof_column_at(table.schema, i);
    if (column.type < HPROF_COLUMN_COUNT || column.type > HPROF_COLUMN_ID)
      return "is a table with a column of a type that does not exist";
    for (uint64_t row = 0; column.type == HPROF_COLUMN_REAL && row < table.row_count; row++) {
      if (!std::isfinite(hprof_row_at(&table, row)[i].r)) return "is a table with a cell that is no number";
    }
  }
  return is_ranked(table) ? nullptr : "is a table whose rows are not ranked by its order, largest first";
}

// Services of the mock host, by their ids.
constexpr const char* kServices[] = {HPROF_SERVICE_LOG,    HPROF_SERVICE_MEM,        HPROF_SERVICE_CLOCK,
                                     HPROF_SERVICE_IDS,    HPROF_SERVICE_EMIT,       HPROF_SERVICE_THREADS,
                                     HPROF_SERVICE_IO,     HPROF_SERVICE_ACCOUNTING, HPROF_SERVICE_PROBES,
                                     HPROF_SERVICE_JVM,    HPROF_SERVICE_LIBRARY,    HPROF_SERVICE_SAMPLING,
                                     HPROF_SERVICE_CONTEXT};

}  // namespace

struct CheckedServices {
  static bool is_sound(const hprof_record* record) {
    const char* fault = fault_of(record, current->kinds, is_known, nullptr);
    const bool is_right = fault == nullptr;
    if (is_right && record->kind == HPROF_RECORD_TABLE) {
      const auto& table = *reinterpret_cast<const hprof_rec_table*>(record);
      fault = oddity_of(table);
      if (!is_events(*record) && !is_taken(current->unit_.records, table.schema->name))
        current->findings.remark(
            std::string("writes the table ") + table.schema->name +
            ", which its records do not list: an encoder that cannot take it is not refused");
    }
    if (fault != nullptr) current->fault(std::string("a record that it hands over ") + fault);
    return is_right;
  }
  static hprof_status event(const hprof_host* host, const hprof_record* record) {
    if (current->where == Where::kWriter) current->fault("queues a record on the writer's thread");
    return is_sound(record) ? current->mock_emit_->event(host, record) : HPROF_FAILED;
  }
  static hprof_status write(const hprof_host* host, hprof_record* record) {
    if (current->where != Where::kReport) current->fault("writes a record outside of report()");
    return is_sound(record) ? current->mock_emit_->write(host, record) : HPROF_FAILED;
  }
  static uint32_t kind(const hprof_host*, const char* name) { return current->kinds.number(name); }

  static bool is_line(const char* text) {
    const bool is_one = text != nullptr && std::strpbrk(text, "\n\r\033") == nullptr;
    if (!is_one)
      current->fault(text == nullptr ? "gives a message that is NULL"
                                     : "gives a message of more than one line");
    if (is_one && std::strlen(text) > kMessageMost) current->fault("gives a message that is too long");
    if (current->where == Where::kGc) current->fault("gives a message in a [gc] handler");
    if (current->where == Where::kSignal) current->fault("gives a message in a signal handler");
    return is_one;
  }
  static void message(const hprof_host* host, const char* text) {
    if (is_line(text)) current->mock_log_->message(host, text);
  }
  static void detail(const hprof_host* host, const char* text) {
    if (is_line(text)) current->mock_log_->detail(host, text);
  }
};

CheckedHost::CheckedHost(Findings found, const hprof_unit& unit) : findings(std::move(found)), unit_(unit) {
  current = this;
  const auto service = [&](const char* id) { return mock.host()->service(mock.host(), id); };
  mock_emit_ = static_cast<const hprof_emit_service*>(service(HPROF_SERVICE_EMIT));
  mock_log_ = static_cast<const hprof_log_service*>(service(HPROF_SERVICE_LOG));
  emit_ = *mock_emit_;
  emit_.event = CheckedServices::event;
  emit_.write = CheckedServices::write;
  emit_.kind = CheckedServices::kind;
  log_ = *mock_log_;
  log_.message = CheckedServices::message;
  log_.detail = CheckedServices::detail;
  mock.set_service(HPROF_SERVICE_EMIT, &emit_);
  mock.set_service(HPROF_SERVICE_LOG, &log_);
  mock.memory_limit = kMemoryMost;
  mock.on_allocate = [this] {
    if (where == Where::kGc) fault("allocates memory in a [gc] handler");
    if (where == Where::kSignal) fault("allocates memory in a signal handler");
    if (where == Where::kWriter) fault("allocates memory after create");
  };
}

CheckedHost::~CheckedHost() { current = nullptr; }

void CheckedHost::fault(const std::string& text) {
  if (said_.insert(text).second) findings.fault(text);
}

// Every table starts with its size; no service of the host has a table as large as kTableMost.
constexpr uint32_t kTableMost = 1u << 16;
void CheckedHost::become_newer() {
  is_newer_ = true;
  auto* host = const_cast<hprof_host*>(mock.host());
  for (const char* id : kServices) {
    const void* table = host->service(host, id);
    if (table == nullptr) continue;
    uint32_t size = 0;
    std::memcpy(&size, table, sizeof size);
    if (size > kTableMost) continue;
    std::vector<uint64_t> newer((size + kLater) / sizeof(uint64_t), 0xa5a5a5a5a5a5a5a5ull);
    std::memcpy(newer.data(), table, size);
    const uint32_t more = size + kLater;
    std::memcpy(newer.data(), &more, sizeof more);
    newer_tables_.push_back(std::move(newer));
    mock.set_service(id, newer_tables_.back().data());
  }
  // Other members of the mock host follow them.
  host->size += kLater;
  mock.settings.size += kLater;
}

void* CheckedHost::jni() const {
  const auto* jvm =
      static_cast<const hprof_jvm_service*>(mock.host()->service(mock.host(), HPROF_SERVICE_JVM));
  return jvm != nullptr ? jvm->jni(mock.host()) : nullptr;
}

void CheckedHost::check_status(const char* function, hprof_status status) {
  if (status < HPROF_OK || status > HPROF_ABORTED)
    fault(std::string(function) + " answers " + status_name(status) + ", which is no status");
}

void CheckedHost::check_refusal(hprof_status status, const char* error, const char* what) {
  refusal = *error != 0 ? error : status_name(status);
  if (status < HPROF_OK || status > HPROF_ABORTED)
    fault("answers " + status_name(status) + ", which is no status");
  if (*error == 0 && status != HPROF_NO_MEMORY)
    fault("refuses without an error text (" + status_name(status) + ")");
  if (std::strpbrk(error, "\n\r") != nullptr) fault("refuses with a text of more than one line");
  if (what != nullptr && mock.fail_allocation == UINT64_MAX) findings.remark(std::string(what) + error);
}

void CheckedHost::check_stopped() {
  if (!mock.agent_threads.empty()) fault("has a thread that still runs after stop");
  if (mock.is_sampling()) fault("has a timer or a signal handler after stop");
  if (!mock.probes_started.empty()) fault("leaves probes switched on after stop");
}

void CheckedHost::check_balance() {
  // Probes that have begun may still run, so their memory is kept.
  const bool has_probes = !mock.probe_users.empty();
  const bool stays = has_probes && mock.memory_used != 0;
  if (stays) findings.remark("keeps " + std::to_string(mock.memory_used) + " bytes, as users of probes may");
  if (mock.memory_used != 0 && !stays) fault("keeps " + std::to_string(mock.memory_used) + " bytes");
  if (mock.memory_charged != 0 && !stays)
    fault("keeps " + std::to_string(mock.memory_charged) + " charged bytes");
  if (!mock.wrong_releases.empty()) fault("releases memory that it does not have, or with another size");
  if (!mock.agent_threads.empty()) fault("leaves a thread of its own running");
  if (!mock.probes_started.empty()) fault("leaves probes switched on");
  for (const auto& file : mock.files) {
    if (file.second.open && file.first != taken_file) fault("leaves a file open");
  }
}

std::string status_name(int64_t status) {
  static const char* const names[] = {"HPROF_OK",      "HPROF_UNSUPPORTED", "HPROF_NO_MEMORY",
                                      "HPROF_DROPPED", "HPROF_FAILED",      "HPROF_ABORTED"};
  return status >= 0 && status <= HPROF_ABORTED ? names[status] : std::to_string(status);
}

namespace {

std::string number_text(double value, int decimals) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::vector<std::string> values_of(const hprof_option& row) {
  const bool is_decimal = row.type == HPROF_OPTION_REAL || row.type == HPROF_OPTION_MILLIS;
  const bool is_number = is_decimal || row.type == HPROF_OPTION_INT || row.type == HPROF_OPTION_SIZE;
  if (is_number && (row.min != 0 || row.max != 0))
    return {number_text(row.min, is_decimal ? 6 : 0), number_text(row.max, is_decimal ? 6 : 0)};
  switch (row.type) {
    case HPROF_OPTION_FLAG:
      return {"y", "n"};
    case HPROF_OPTION_CHOICE: {
      std::vector<std::string> all;
      const std::string choices = row.choices;
      for (size_t at = 0; at <= choices.size();) {
        const size_t end = std::min(choices.find('|', at), choices.size());
        all.push_back(choices.substr(at, end - at));
        at = end + 1;
      }
      return all;
    }
    case HPROF_OPTION_INT:
      return {"0", "-9223372036854775807", "9223372036854775807"};
    case HPROF_OPTION_REAL:
      return {"0", "-1e300", "1e300"};
    case HPROF_OPTION_SIZE:
      return {"0", "9223372036854775807"};
    case HPROF_OPTION_MILLIS:
      return {"0", "9000000000000"};
    default:
      return {"", "x", std::string(4096, 'x'), "%s%n/\t\xff"};
  }
}

}  // namespace

std::vector<Options> option_trials(const hprof_unit& unit) {
  std::vector<Options> trials = {{}};
  for (uint32_t i = 0; i < unit.option_count; i++) {
    const auto& row = *reinterpret_cast<const hprof_option*>(reinterpret_cast<const char*>(unit.options) +
                                                             size_t{i} * unit.option_stride);
    for (const std::string& value : values_of(row)) trials.push_back({{row.name, value}});
  }
  return trials;
}

std::string trial_name(const Options& trial) {
  if (trial.empty()) return "the defaults";
  const std::string& value = trial.begin()->second;
  std::string text;
  for (char c : value.substr(0, 24)) text += c >= ' ' && c <= '~' ? c : '?';
  return trial.begin()->first + "=" + text + (value.size() > 24 ? "..." : "");
}

Findings without_remarks(const Findings& findings) {
  return {findings.fault, [](const std::string&) {}, findings.doing};
}

Findings with_trial(const Findings& findings, const Options& trial) {
  const std::string name = trial_name(trial);
  return {[&findings, name](const std::string& text) { findings.fault(text + " (" + name + ")"); },
          [](const std::string&) {},
          [&findings, name](const std::string& text) { findings.doing(text + ", " + name); }};
}

}  // namespace hprof::tool
