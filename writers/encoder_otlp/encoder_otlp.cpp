// The otlp encoder: OpenTelemetry's profiles (v1development), for files and for
// url=http://<collector>:4318/v1development/profiles.
//
// Each report is a request of its own, with its tables that have stacks; nothing is written for a report
// without any. Events wait for the next report, and take the place of their sums.
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/writer.hpp>
#include <hprof/service/log.h>

#include "request.h"

namespace hprof::otlp {

namespace {

constexpr uint64_t kMostEventCells = uint64_t{1} << 20, kMostCells = uint64_t{1} << 21;

class Encoder {
 public:
  explicit Encoder(const hprof_host* host) : services_(host), has_events_(takes_events(host)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".otlp.pb";
    ops.content_type = "application/x-protobuf";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_DOCUMENTS | HPROF_ENCODER_STACKS | HPROF_ENCODER_EVENTS_ASKED;
  }
  hprof_status open(char*, uint32_t) {
    resource_.open(services_);
    if (!request_.open(services_) || !tables_.open(services_, kMostCells)) return HPROF_NO_MEMORY;
    if (has_events_ && !events_.open(services_, kMostEventCells)) return HPROF_NO_MEMORY;
    if (services_.log == nullptr) return HPROF_OK;
    lost_rows_ =
        services_.log->loss_counter(services_.host, "stacks: no memory for them in OTLP (max-memory=)");
    if (has_events_)
      lost_events_ = services_.log->loss_counter(
          services_.host, "events: no memory to hold them until a report (max-memory=)");
    return HPROF_OK;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out) {
    proto::ProtoOut to(out);
    if (record->kind == HPROF_RECORD_REPORT_BEGIN) {
      const hprof_report_info* info = as<hprof_rec_report>(record).info;
      hprof_copy_sized(&info_, sizeof info_, info, info->size);
      tables_.forget();
    } else if (record->kind == HPROF_RECORD_REPORT_END) {
      write_request(to);
    } else if (record->kind == HPROF_RECORD_TABLE) {
      hold(to, as<hprof_rec_table>(record));
    } else if (record->kind == HPROF_RECORD_THREAD_START) {  // again, if it has another name
      request_.rename_thread(as<hprof_rec_definition>(record).id);
    }
    return to.status();
  }
  bool close() {
    request_.close();
    tables_.close();
    events_.close();
    return true;
  }

 private:
  void hold(proto::ProtoOut& out, const hprof_rec_table& table) {
    const StackTable stacks(table);
    if (!stacks.has_stacks()) return out.fail(HPROF_UNSUPPORTED);
    if (!has_events_ || (table.flags & HPROF_TABLE_EVENTS) == 0)
      return count_loss(lost_rows_, tables_.add(table));
    request_.keep_thread_names(table);
    count_loss(lost_events_, events_.add(table));
  }
  void write_request(proto::ProtoOut& out) {
    const auto add = [this](const hprof_rec_table& table) { request_.add(table, events_); };
    tables_.each(add);
    events_.each(add);
    count_loss(lost_rows_, request_.write(out, info_, resource_));
    events_.clear();
  }

  Services services_;
  bool has_events_;
  Resource resource_;
  Request request_;
  HeldTables tables_;            // of the current report
  HeldTables events_;            // since the last one
  hprof_report_info info_ = {};  // of the current report
  uint64_t* lost_rows_ = nullptr;
  uint64_t* lost_events_ = nullptr;
};

constexpr const char* kRecords[] = {HPROF_KIND_REPORT_BEGIN, HPROF_KIND_REPORT_END, HPROF_KIND_TABLE,
                                    HPROF_KIND_THREAD_START, nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=otlp";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_otlp", kSelect, "OpenTelemetry profiles, for collectors", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::otlp

HPROF_MODULE(encoder_otlp, "1.0", "hprof", hprof::otlp::kUnits, 1)
