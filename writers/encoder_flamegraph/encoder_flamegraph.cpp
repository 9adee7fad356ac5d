// The flamegraph encoder: one HTML page that draws all tables with stacks and loads nothing from elsewhere;
// from events also when things happened.
//
// The page comes first, then its data, a line for each definition, row and note; their grammar is at the top
// of page/data.js. Strings, classes, frames and traces have the core's numbers.
#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/plain_out.hpp>
#include <hprof/cpp/utf8.hpp>
#include <hprof/cpp/writer.hpp>
#include <hprof/service/io.h>

#include "page_text.h"

namespace hprof::flamegraph {

namespace {

struct Encoder {
  explicit Encoder(const hprof_host* h)
      : host(h),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        clock(find_service<hprof_clock_service>(h, HPROF_SERVICE_CLOCK)),
        io(find_service<hprof_io_service>(h, HPROF_SERVICE_IO)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".html";
    ops.content_type = "text/html";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_STACKS | HPROF_ENCODER_EVENTS_ASKED;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out);

  const hprof_host* host;
  const hprof_ids_service* ids;
  const hprof_clock_service* clock;   // nullptr: dates are in UTC
  const hprof_io_service* io;         // nullptr: the page does not name the process
  hprof_trace_serial last_trace = 0;  // of this file
  uint64_t created_ns = 0;            // of this file: times of events count from here
};

constexpr uint64_t kNsPerUs = 1000, kNsPerMs = 1000000;

// No character may end the line, the field or the script element.
bool is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f && c != '\\' && c != '<'; }
uint32_t put_code(char* to, uint32_t code) {
  if (code == '<') return format_escape(to, code);
  if (code != '\\') return to_utf8(to, is_control(code) ? ' ' : code);
  std::memcpy(to, "\\\\", 2);
  return 2;
}

// Lives for one record.
class PageOut : public PlainOut {
 public:
  using PlainOut::PlainOut;

  // Fields of a line: a number to base 36, a decimal number, a text.
  PageOut& id(uint64_t number) {
    char digits[16];
    uint32_t at = sizeof digits;
    do {
      digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
      number /= 36;
    } while (number != 0);
    lit("\t").bytes(digits + at, sizeof digits - at);
    return *this;
  }
  PageOut& number(uint64_t value) {
    lit("\t").dec(value);
    return *this;
  }
  PageOut& text(hprof_text value) {
    lit("\t");
    write_utf8(*this, value, is_plain, put_code);
    return *this;
  }
  PageOut& text(const char* value) { return text(hprof_text{value, std::strlen(value)}); }
  void end() { lit("\n"); }
};

void write_fact(PageOut& out, const char* key, int64_t value) {
  out.lit("i");
  out.text(key).lit("\t").signed_dec(value);
  out.end();
}

void write_begin(Encoder& encoder, PageOut& out, const hprof_rec_file_begin& begin) {
  const hprof_host* host = encoder.host;
  encoder.last_trace = 0;
  encoder.created_ns = HPROF_REACHES(&begin.head, hprof_rec_file_begin, created_ns) ? begin.created_ns : 0;
  out.words(kPageBegin).lit("i");
  out.text("created").text(local_ctime_text(host, encoder.clock, begin.created_ms).text).end();
  write_fact(out, "created_ms", static_cast<int64_t>(begin.created_ms));
  if (HPROF_HAS(encoder.clock, hprof_clock_service, utc_offset))
    write_fact(out, "utc_offset", encoder.clock->utc_offset(host, begin.created_ms));
  if (encoder.io != nullptr) write_fact(out, "pid", static_cast<int64_t>(encoder.io->process_id(host)));
  if (host->settings->java_version != 0) write_fact(out, "java", host->settings->java_version);
}

void write_string(const Encoder& encoder, PageOut& out, hprof_string_id id) {
  out.lit("s");
  out.id(id).text(encoder.ids->string_text(encoder.host, id)).end();
}

void write_class(const Encoder& encoder, PageOut& out, hprof_class_serial serial) {
  out.lit("c");
  out.id(serial).id(find_class(encoder.ids, encoder.host, serial)->name).end();
}

void write_frame(const Encoder& encoder, PageOut& out, hprof_frame_id id) {
  const auto frame = find_frame(encoder.ids, encoder.host, id);
  const auto method = find_method(encoder.ids, encoder.host, frame->method);
  const auto owner = find_class(encoder.ids, encoder.host, method->owner);
  out.lit("f");
  out.id(id).id(method->owner).id(method->name).id(owner->source);
  out.number(frame->line > 0 ? static_cast<uint64_t>(frame->line) : 0).end();
}

void write_thread(const Encoder& encoder, PageOut& out, hprof_thread_serial serial) {
  out.lit("u");
  out.id(serial).text(
      encoder.ids->string_text(encoder.host, find_thread(encoder.ids, encoder.host, serial)->name));
  out.end();
}

// The number of outermost frames that two stacks have in common.
uint32_t common_frames(const hprof_trace_info& a, const hprof_trace_info& b) {
  uint32_t n = 0;
  while (n < a.frame_count && n < b.frame_count &&
         a.frames[a.frame_count - 1 - n] == b.frames[b.frame_count - 1 - n]) {
    n++;
  }
  return n;
}

void write_trace(Encoder& encoder, PageOut& out, hprof_trace_serial serial) {
  const auto trace = find_trace(encoder.ids, encoder.host, serial);
  const auto last = find_trace(encoder.ids, encoder.host, encoder.last_trace);
  const uint32_t common = encoder.last_trace != 0 ? common_frames(*trace, *last) : 0;
  out.lit("t");
  out.id(serial).id(trace->thread).number((trace->flags & HPROF_TRACE_CUT) != 0 ? 1 : 0);
  if (common != 0) out.lit("\t=").dec(common);
  for (uint32_t i = trace->frame_count - common; i > 0 && out.ok(); i--) out.id(trace->frames[i - 1]);
  out.end();
  encoder.last_trace = serial;
}

const char* reason_name(uint32_t reason) {
  return reason == HPROF_REPORT_EXIT      ? "end of the program"
         : reason == HPROF_REPORT_REQUEST ? "request"
         : reason == HPROF_REPORT_WINDOW  ? "window"
                                          : "command";
}

void write_report(PageOut& out, const hprof_report_info* info) {
  out.lit("r\t").dec(info->sequence);
  out.text(reason_name(info->reason)).text(info->unit);
  out.number(info->begin_wall_ns / kNsPerMs).number(info->end_wall_ns / kNsPerMs);
  out.number(info->cumulative).text(HPROF_HAS(info, hprof_report_info, program) ? info->program : "");
  out.end();
}

// Types and flags of columns, by the page's numbers.
constexpr uint32_t kPageReal = 4, kPageTrace = 5, kPageClass = 6, kPageText = 7, kPageTime = 8,
                   kPageThread = 9, kPageThreadState = 10;
constexpr uint32_t kPageWeight = 1, kPageDefault = 8, kPageState = 16, kPageLeaf = 32, kPageDuration = 64;

// The columns of a table that the page takes.
class PageTable {
 public:
  explicit PageTable(const hprof_rec_table& table) : stacks_(table) {
    const bool is_events = (table.flags & HPROF_TABLE_EVENTS) != 0;
    for (uint32_t i = 0; i < table.schema->column_count && i < HPROF_TABLE_COLUMNS; i++) {
      const Taken taken = take(i, is_events);
      if (taken.type != 0) taken_[count_++] = taken;
    }
  }
  bool has_stacks() const { return stacks_.has_stacks(); }

  void write(const Encoder& encoder, PageOut& out) const {
    const hprof_rec_table& table = stacks_.table();
    out.lit("T");
    out.text(table.schema->name).text(table.schema->title).number(table.flags).end();
    for (uint32_t i = 0; i < count_; i++) write_head(out, taken_[i]);
    for (uint64_t row = 0; row < table.row_count && out.ok(); row++) {
      out.lit("d");
      for (uint32_t i = 0; i < count_; i++)
        write_cell(encoder, out, taken_[i], hprof_row_at(&table, row)[taken_[i].index]);
      out.end();
    }
    out.lit("E\t\n");
  }

 private:
  struct Taken {
    uint32_t index, type, flags;  // type: 0: not taken
  };
  const hprof_column& column(uint32_t index) const { return *hprof_column_at(stacks_.table().schema, index); }

  // Of a table with stacks the weights that can be added up, the trace and the leaf; of events also when,
  // how long, and which thread.
  Taken take(uint32_t index, bool is_events) const {
    const hprof_column& of = column(index);
    const uint32_t duration = (of.flags & HPROF_COLUMN_DURATION) != 0 && is_events ? kPageDuration : 0;
    if (has_stacks()) {
      if ((of.flags & HPROF_COLUMN_WEIGHT) != 0) return take_weight(index, duration);
      if (index == stacks_.trace_column()) return {index, kPageTrace, 0};
      if (index == stacks_.leaf_column())
        return {index, of.type == HPROF_COLUMN_CLASS ? kPageClass : kPageText, kPageLeaf};
    }
    if (!is_events) return {};
    const uint32_t type = of.type == HPROF_COLUMN_TIME           ? kPageTime
                          : of.type == HPROF_COLUMN_THREAD       ? kPageThread
                          : of.type == HPROF_COLUMN_THREAD_STATE ? kPageThreadState
                          : duration != 0                        ? of.type
                                                                 : 0;
    return {index, type, duration};
  }
  Taken take_weight(uint32_t index, uint32_t flags) const {
    const hprof_column& of = column(index);
    if ((of.flags & HPROF_COLUMN_TOTAL) != 0) return {};
    flags |= kPageWeight;
    if (index == stacks_.weight_column(stacks_.first_weight())) flags |= kPageDefault;
    if ((of.flags & HPROF_COLUMN_STATE) != 0) flags |= kPageState;
    return {index, of.type == HPROF_COLUMN_REAL ? kPageReal : of.type, flags};
  }

  void write_head(PageOut& out, const Taken& taken) const {
    const hprof_column& of = column(taken.index);
    const hprof_rec_table& table = stacks_.table();
    out.lit("C");
    out.text(of.name).number(taken.type).number(taken.flags);
    out.text(of.title != nullptr ? of.title : of.name);
    if ((taken.flags & kPageWeight) != 0) {
      out.text(of.unit != nullptr ? of.unit : "");
      const bool is_count = of.unit != nullptr && std::strcmp(of.unit, "samples") == 0;
      out.number(taken.index == table.period_column ? table.period : is_count ? 1 : 0);
    }
    out.end();
  }
  void write_cell(const Encoder& encoder, PageOut& out, const Taken& taken, hprof_cell cell) const {
    if ((taken.flags & kPageWeight) != 0) {
      out.number(cell_value(column(taken.index), cell));
    } else if (taken.type == kPageTime) {
      out.number(cell.u > encoder.created_ns ? (cell.u - encoder.created_ns) / kNsPerUs : 0);
    } else if (taken.type == kPageThreadState || taken.flags == kPageDuration) {
      out.number(cell.u);
    } else {
      out.id(cell.u);
    }
  }

  const StackTable stacks_;
  uint32_t count_ = 0;
  Taken taken_[HPROF_TABLE_COLUMNS];
};

void write_table(const Encoder& encoder, PageOut& out, const hprof_rec_table& table) {
  const PageTable taken(table);
  if (!taken.has_stacks() && (table.flags & HPROF_TABLE_EVENTS) == 0) return out.fail(HPROF_UNSUPPORTED);
  taken.write(encoder, out);
}

void write_record(Encoder& encoder, PageOut& out, const hprof_record* record) {
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN:
      return write_begin(encoder, out, as<hprof_rec_file_begin>(record));
    case HPROF_RECORD_FILE_END:
      out.words(kPageEnd);
      break;
    case HPROF_RECORD_STRING:
      return write_string(encoder, out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_CLASS:
      return write_class(encoder, out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_FRAME:
      return write_frame(encoder, out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_TRACE:
      return write_trace(encoder, out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_THREAD_START:
      return write_thread(encoder, out, as<hprof_rec_definition>(record).id);
    case HPROF_RECORD_NOTE:
      out.lit("n");
      return out.text(as<hprof_rec_note>(record).text).end();
    case HPROF_RECORD_REPORT_BEGIN:
      return write_report(out, as<hprof_rec_report>(record).info);
    case HPROF_RECORD_TABLE:
      return write_table(encoder, out, as<hprof_rec_table>(record));
    default:
      break;
  }
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* out) {
  PageOut page(out);
  write_record(*this, page, record);
  return page.status();
}

constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN,
                                    HPROF_KIND_FILE_END,
                                    HPROF_KIND_STRING,
                                    HPROF_KIND_CLASS,
                                    HPROF_KIND_FRAME,
                                    HPROF_KIND_TRACE,
                                    HPROF_KIND_THREAD_START,
                                    HPROF_KIND_NOTE,
                                    HPROF_KIND_REPORT_BEGIN,
                                    HPROF_KIND_TABLE,
                                    nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=flamegraph";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_flamegraph", kSelect, "flame graph, a page for the browser", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::flamegraph

HPROF_MODULE(encoder_flamegraph, "1.0", "hprof", hprof::flamegraph::kUnits, 1)
