// The ascii encoder: format=a, the text that people and old scripts read.
//
// Of the definitions only traces and threads have a text; all other records are written as they come. Names
// are looked up when they are printed.
#include <hprof/cpp/writer.hpp>
#include <hprof/tables.h>

#include "ascii.h"

namespace hprof::ascii {

namespace {

struct Encoder {
  explicit Encoder(const hprof_host* h)
      : host(h),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        clock(find_service<hprof_clock_service>(h, HPROF_SERVICE_CLOCK)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".txt";
    ops.content_type = "text/plain";
    ops.heap_form = HPROF_HEAP_AS_FIELDS;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out);

  const hprof_host* host;
  const hprof_ids_service* ids;
  const hprof_clock_service* clock;
  bool bare = false;  // this output is only the call list of cpu=old
};

// Parsers of the CPU sections require a line number or exactly `Unknown line`, so native frames and, with
// lineno=n, all frames have that, as in the original; without it the pattern class.method(source:line) of all
// parsers would fail.
void write_line(TextOut& out, int32_t line) {
  if (line > 0 && out.settings().line_numbers != 0) {
    out.dec(static_cast<uint64_t>(line));
  } else {
    out.lit("Unknown line");
  }
}

void write_frame(TextOut& out, hprof_frame_id id) {
  const auto frame = find_frame(&out.ids(), out.host(), id);
  const auto method = find_method(&out.ids(), out.host(), frame->method);
  const auto owner = find_class(&out.ids(), out.host(), method->owner);
  out.lit("\t").class_name(method->owner).lit(".");
  if (out.string(method->name, Safe::kWord) == 0) out.lit("<Unknown Method>");
  out.lit("(");
  if (out.string(owner->source, Safe::kWord) == 0) out.lit("<Unknown Source>");
  out.lit(":");
  write_line(out, frame ? frame->line : HPROF_LINE_UNKNOWN);
  out.lit(")\n");
}

void write_trace(TextOut& out, hprof_trace_serial serial) {
  const auto trace = find_trace(&out.ids(), out.host(), serial);
  out.lit("TRACE ").trace(serial).lit(":");
  if (out.settings().thread_in_traces != 0) {
    out.lit(" (thread=").thread(trace->thread).lit(")");
  }
  out.lit("\n");
  if (trace->frame_count == 0) {
    out.lit("\t<empty>\n");
    return;
  }
  for (uint32_t i = 0; i < trace->frame_count && out.ok(); i++) write_frame(out, trace->frames[i]);
}

void write_thread_start(TextOut& out, hprof_thread_serial serial) {
  const auto thread = find_thread(&out.ids(), out.host(), serial);
  out.lit("THREAD START (obj=").hex(thread->object).lit(", id = ").thread(serial);
  out.lit(", name=\"");
  out.string(thread->name, Safe::kQuoted);
  out.lit("\", group=\"");
  out.string(thread->group, Safe::kQuoted);
  out.lit("\")\n");
}

void write_note(TextOut& out, const hprof_rec_note& note) {
  out.lit("HPROF NOTE: ");
  out.safe(note.text, Safe::kLine);
  out.lit("\n");
}

// True: the output of cpu=old, which has no prelude.
bool is_for_calls(const hprof_rec_file_begin& begin) {
  return begin.alone != nullptr && std::strcmp(begin.alone, HPROF_TABLE_CPU_OLD) == 0;
}

// Records that no unit of the build emits are left out (hprof_has in core/cmake/HprofModule.cmake).
void write_record(TextOut& out, const hprof_record* record) {
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN:
      if (!is_for_calls(as<hprof_rec_file_begin>(record)))
        write_prelude(out, as<hprof_rec_file_begin>(record));
      break;
    // No text for these.
    case HPROF_RECORD_FILE_END:
    case HPROF_RECORD_CONTROL_SETTINGS:
      break;
    case HPROF_RECORD_TRACE:
      write_trace(out, as<hprof_rec_definition>(record).id);
      break;
    case HPROF_RECORD_THREAD_START:
      write_thread_start(out, as<hprof_rec_definition>(record).id);
      break;
    case HPROF_RECORD_THREAD_END:
      out.lit("THREAD END (id = ").thread(as<hprof_rec_definition>(record).id).lit(")\n");
      break;
    case HPROF_RECORD_NOTE:
      write_note(out, as<hprof_rec_note>(record));
      break;
    case HPROF_RECORD_TABLE:
      write_table(out, as<hprof_rec_table>(record));
      break;
#ifndef HPROF_NO_MONITOR_RECORDS
    case HPROF_RECORD_MONITOR_WAIT:
    case HPROF_RECORD_MONITOR_WAITED:
      write_monitor_event(out, as<hprof_rec_monitor_event>(record));
      break;
    case HPROF_RECORD_MONITOR_DUMP:
      write_monitor_dump(out, as<hprof_rec_monitor_dump>(record));
      break;
#endif
#ifndef HPROF_NO_HEAP_RECORDS
    case HPROF_RECORD_HEAP_DUMP_BEGIN:
      write_heap_begin(out, as<hprof_rec_heap_dump>(record));
      break;
    case HPROF_RECORD_HEAP_DUMP_END:
      out.lit("HEAP DUMP END\n");
      break;
    case HPROF_RECORD_HEAP_ROOT:
      write_heap_root(out, as<hprof_rec_heap_root>(record));
      break;
    case HPROF_RECORD_HEAP_CLASS:
      write_heap_class(out, as<hprof_rec_heap_class>(record));
      break;
    case HPROF_RECORD_HEAP_INSTANCE:
      write_heap_instance(out, as<hprof_rec_heap_instance>(record));
      break;
    case HPROF_RECORD_HEAP_OBJECT_ARRAY:
    case HPROF_RECORD_HEAP_PRIMITIVE_ARRAY:
      write_heap_array(out, as<hprof_rec_heap_array>(record));
      break;
#endif
    default:
      out.fail(HPROF_UNSUPPORTED);
  }
}

bool is_call_list(const hprof_record* record) {
  return record->kind == HPROF_RECORD_TABLE &&
         std::strcmp(as<hprof_rec_table>(record).schema->name, HPROF_TABLE_CPU_OLD) == 0;
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* out) {
  if (record->kind == HPROF_RECORD_FILE_BEGIN) bare = is_for_calls(as<hprof_rec_file_begin>(record));
  if (bare && !is_call_list(record)) return record->kind == HPROF_RECORD_NOTE ? HPROF_UNSUPPORTED : HPROF_OK;
  TextOut text(out, host, ids, clock);
  write_record(text, record);
  return text.status();
}

// Names are written where they are used, so most definitions are not taken; nor are unloaded classes.
constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN,
                                    HPROF_KIND_FILE_END,
                                    HPROF_KIND_TRACE,
                                    HPROF_KIND_THREAD_START,
                                    HPROF_KIND_THREAD_END,
                                    HPROF_KIND_CONTROL_SETTINGS,
                                    HPROF_KIND_NOTE,
                                    HPROF_KIND_TABLE,
                                    HPROF_KIND_MONITOR_WAIT,
                                    HPROF_KIND_MONITOR_WAITED,
                                    HPROF_KIND_MONITOR_DUMP,
                                    HPROF_KINDS_OF_HEAP_DUMP,
                                    nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=a";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_ascii", kSelect, "text, as people and scripts read it", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::ascii

HPROF_MODULE(encoder_ascii, "1.0", "hprof", hprof::ascii::kUnits, 1)
