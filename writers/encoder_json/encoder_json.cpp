// The json encoder: every record as a line of JSON (docs/pictures.md); and the rows encoder (rows.h).
//
// Classes, frames and traces are defined before the records that refer to them; strings are written where
// they are used. The only state is the host.
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/writer.hpp>

#include "json_out.h"
#include "rows.h"

namespace hprof::json {

namespace {

constexpr uint32_t kVersion = 1;  // of the lines, see docs/pictures.md

void write_begin(JsonOut& out, const hprof_rec_file_begin& begin) {
  out.begin("begin").number("version", kVersion).number("created_ms", begin.created_ms);
  out.number("id_size", begin.id_size);
  if (takes_events(out.host()) && begin.head.size >= HPROF_SIZE_TO(hprof_rec_file_begin, created_ns))
    out.number("created_ns", begin.created_ns);
  out.end();
}

void write_settings(JsonOut& out, const hprof_rec_control_settings& settings) {
  out.begin("settings").number("alloc_traces", settings.alloc_traces);
  out.number("cpu_sampling", settings.cpu_sampling).number("depth", settings.depth);
  out.end();
}

void write_class(JsonOut& out, hprof_class_serial serial) {
  const auto info = find_class(&out.ids(), out.host(), serial);
  out.begin("class").number("id", serial).string("name", info->name).string("signature", info->signature);
  out.string("source", info->source).end();
}

void write_frame(JsonOut& out, hprof_frame_id id) {
  const auto frame = find_frame(&out.ids(), out.host(), id);
  const auto method = find_method(&out.ids(), out.host(), frame->method);
  const auto owner = find_class(&out.ids(), out.host(), method->owner);
  out.begin("frame").number("id", id).number("class_id", method->owner).string("class", owner->name);
  out.number("method_id", frame->method).string("method", method->name);
  out.string("signature", method->signature).string("source", owner->source).key("line");
  if (frame->line > 0) {
    out.signed_dec(frame->line);
  } else {
    out.lit("null");
  }
  out.end();
}

void write_trace(JsonOut& out, hprof_trace_serial serial) {
  const auto trace = find_trace(&out.ids(), out.host(), serial);
  out.begin("trace").number("id", serial).key("thread").thread_of(trace->thread).key("frames").lit("[");
  for (uint32_t i = 0; i < trace->frame_count && out.ok(); i++) {
    if (i != 0) out.lit(",");
    out.dec(trace->frames[i]);
  }
  out.lit("]");
  out.truth("cut", (trace->flags & HPROF_TRACE_CUT) != 0);
  out.end();
}

void write_thread_start(JsonOut& out, const hprof_rec_definition& record) {
  const auto thread = find_thread(&out.ids(), out.host(), record.id);
  out.begin("thread_start").number("time_us", record.head.time_us).number("id", record.id);
  out.string("name", thread->name).string("group", thread->group);
  out.string("parent_group", thread->parent_group).number("trace", thread->trace);
  out.number("object", thread->object).end();
}

void write_note(JsonOut& out, const hprof_rec_note& note) {
  out.begin("note").number("time_us", note.head.time_us).text("text", note.text).end();
}

const char* reason_name(uint32_t reason) {
  switch (reason) {
    case HPROF_REPORT_EXIT:
      return "exit";
    case HPROF_REPORT_REQUEST:
      return "request";
    case HPROF_REPORT_COMMAND:
      return "command";
    case HPROF_REPORT_WINDOW:
      return "window";
    default:
      return "unknown";
  }
}

void write_report(JsonOut& out, const hprof_rec_report& report) {
  const hprof_report_info& info = *report.info;
  const bool ends = report.head.kind == HPROF_RECORD_REPORT_END;
  ends ? out.begin("report_end") : out.begin("report_begin");
  out.number("time_us", report.head.time_us).number("sequence", info.sequence);
  out.key("unit").text(info.unit);
  if (ends) {
    out.truth("whole", report.status == HPROF_OK);
  } else {
    out.key("reason").text(reason_name(info.reason));
    out.truth("cumulative", info.cumulative != 0);
    out.number("begin_wall_ns", info.begin_wall_ns).number("end_wall_ns", info.end_wall_ns);
    out.number("begin_ns", info.begin_ns).number("end_ns", info.end_ns);
    out.key("labels").text(info.labels);
  }
  out.end();
}

void write_record(JsonOut& out, const hprof_record* record) {
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN:
      return write_begin(out, as<hprof_rec_file_begin>(record));
    case HPROF_RECORD_FILE_END:
      return out.begin("end").number("time_us", record->time_us).end();
    case HPROF_RECORD_CLASS:
      return write_class(out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_FRAME:
      return write_frame(out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_TRACE:
      return write_trace(out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_THREAD_START:
      return write_thread_start(out, as<hprof_rec_definition>(record));
    case HPROF_RECORD_THREAD_END:
      return out.begin("thread_end")
          .number("time_us", record->time_us)
          .number("id", as<hprof_rec_definition>(record).id)
          .end();
    case HPROF_RECORD_CONTROL_SETTINGS:
      return write_settings(out, as<hprof_rec_control_settings>(record));
    case HPROF_RECORD_NOTE:
      return write_note(out, as<hprof_rec_note>(record));
    case HPROF_RECORD_REPORT_BEGIN:
    case HPROF_RECORD_REPORT_END:
      return write_report(out, as<hprof_rec_report>(record));
    case HPROF_RECORD_TABLE:
      return write_table(out, as<hprof_rec_table>(record));
    case HPROF_RECORD_MONITOR_WAIT:
    case HPROF_RECORD_MONITOR_WAITED:
      return write_monitor_event(out, as<hprof_rec_monitor_event>(record));
    case HPROF_RECORD_MONITOR_DUMP:
      return write_monitor_dump(out, as<hprof_rec_monitor_dump>(record));
    case HPROF_RECORD_HEAP_DUMP_BEGIN:
      return write_heap_begin(out, as<hprof_rec_heap_dump>(record));
    case HPROF_RECORD_HEAP_DUMP_END:
      return out.begin("heap_dump_end").end();
    case HPROF_RECORD_HEAP_ROOT:
      return write_heap_root(out, as<hprof_rec_heap_root>(record));
    case HPROF_RECORD_HEAP_CLASS:
      return write_heap_class(out, as<hprof_rec_heap_class>(record));
    case HPROF_RECORD_HEAP_INSTANCE:
      return write_heap_instance(out, as<hprof_rec_heap_instance>(record));
    case HPROF_RECORD_HEAP_OBJECT_ARRAY:
    case HPROF_RECORD_HEAP_PRIMITIVE_ARRAY:
      return write_heap_array(out, as<hprof_rec_heap_array>(record));
    default:
      out.fail(HPROF_UNSUPPORTED);
  }
}

class Encoder {
 public:
  explicit Encoder(const hprof_host* host)
      : host_(host), ids_(find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".json";
    ops.content_type = "application/x-ndjson";
    ops.heap_form = HPROF_HEAP_AS_FIELDS;
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_EVENTS_ASKED;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out) {
    JsonOut json(out, host_, ids_);
    write_record(json, record);
    return json.status();
  }

 private:
  const hprof_host* host_;
  const hprof_ids_service* ids_;
};

// Unloaded classes are not taken.
constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN,
                                    HPROF_KIND_FILE_END,
                                    HPROF_KIND_CLASS,
                                    HPROF_KIND_FRAME,
                                    HPROF_KIND_TRACE,
                                    HPROF_KIND_THREAD_START,
                                    HPROF_KIND_THREAD_END,
                                    HPROF_KIND_CONTROL_SETTINGS,
                                    HPROF_KIND_NOTE,
                                    HPROF_KIND_REPORT_BEGIN,
                                    HPROF_KIND_REPORT_END,
                                    HPROF_KIND_TABLE,
                                    HPROF_KIND_MONITOR_WAIT,
                                    HPROF_KIND_MONITOR_WAITED,
                                    HPROF_KIND_MONITOR_DUMP,
                                    HPROF_KINDS_OF_HEAP_DUMP,
                                    nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=json";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_json", kSelect, "JSON, a line for each record", kRecords);
constexpr const char* kRowsRecords[] = {HPROF_KIND_REPORT_BEGIN, HPROF_KIND_NOTE, HPROF_KIND_TABLE, nullptr};
constexpr const char* kSelectRows = "format=rows";
const hprof_option kRowsOptions[] = {
    {"rows-lines", HPROF_OPTION_FLAG, offsetof(RowsConfig, lines), "n", nullptr, 0, 0, nullptr,
     "write the line numbers of format=rows, too"},
};
const hprof_unit kRowsUnit = encoder_unit<RowsEncoder, RowsConfig>(
    "encoder_rows", kSelectRows, "JSON, a line for each stack, for ClickHouse, DuckDB and Elasticsearch",
    kRowsRecords, kRowsOptions);
const hprof_unit* const kUnits[] = {&kUnit, &kRowsUnit};

}  // namespace

}  // namespace hprof::json

HPROF_MODULE(encoder_json, "1.0", "hprof", hprof::json::kUnits, 2)
