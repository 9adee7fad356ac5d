// The flamegraph encoder: format=flamegraph, one HTML page that draws all tables with stacks and loads
// nothing from elsewhere.
//
// The page comes first, then its data, a line for each definition, row and note; their grammar is at the top
// of page/page.js. Strings, classes, frames and traces have the core's numbers.
#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/plain_out.hpp>
#include <hprof/cpp/utf8.hpp>
#include <hprof/cpp/writer.hpp>

#include "page_text.h"

namespace hprof::flamegraph {

namespace {

struct Encoder {
  explicit Encoder(const hprof_host* h)
      : host(h),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        clock(find_service<hprof_clock_service>(h, HPROF_SERVICE_CLOCK)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".html";
    ops.content_type = "text/html";
    ops.least_depth = HPROF_WHOLE_DEPTH;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out);

  const hprof_host* host;
  const hprof_ids_service* ids;
  const hprof_clock_service* clock;   // nullptr: dates are in UTC
  hprof_trace_serial last_trace = 0;  // of this file
};

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

void write_begin(const Encoder& encoder, PageOut& out, const hprof_rec_file_begin& begin) {
  out.words(kPageBegin).lit("i");
  out.text("created").text(local_ctime_text(encoder.host, encoder.clock, begin.created_ms).text).end();
  if (encoder.host->settings->java_version != 0) {
    out.lit("i");
    out.text("java").number(encoder.host->settings->java_version).end();
  }
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
                                          : "command";
}

void write_report(PageOut& out, const hprof_report_info& info) {
  constexpr uint64_t kNsPerMs = 1000000;
  out.lit("r\t").dec(info.sequence);
  out.text(reason_name(info.reason)).text(info.unit);
  out.number(info.begin_wall_ns / kNsPerMs).number(info.end_wall_ns / kNsPerMs);
  out.number(info.cumulative).end();
}

// Types and flags of columns, by the page's numbers.
constexpr uint32_t kPageReal = 4, kPageTrace = 5, kPageClass = 6, kPageText = 7;
constexpr uint32_t kPageWeight = 1, kPageDefault = 8, kPageState = 16, kPageLeaf = 32;

bool adds_up(const hprof_column& column) { return (column.flags & HPROF_COLUMN_TOTAL) == 0; }

void write_column(PageOut& out, const hprof_column& column, uint64_t type, uint64_t flags) {
  out.lit("C");
  out.text(column.name).number(type).number(flags);
  out.text(column.title != nullptr ? column.title : column.name).end();
}

// Writes the columns of weights that can be added up, of the trace, and of the leaf.
void write_columns(PageOut& out, const StackTable& stacks) {
  const hprof_table_schema* schema = stacks.table().schema;
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    const hprof_column& column = stacks.weight(i);
    if (!adds_up(column)) continue;
    uint32_t flags = kPageWeight;
    if (i == stacks.first_weight()) flags |= kPageDefault;
    if ((column.flags & HPROF_COLUMN_STATE) != 0) flags |= kPageState;
    write_column(out, column, column.type == HPROF_COLUMN_REAL ? kPageReal : column.type, flags);
  }
  write_column(out, *hprof_column_at(schema, stacks.trace_column()), kPageTrace, 0);
  if (stacks.leaf_column() == HPROF_NO_COLUMN) return;
  const hprof_column& leaf = *hprof_column_at(schema, stacks.leaf_column());
  write_column(out, leaf, leaf.type == HPROF_COLUMN_CLASS ? kPageClass : kPageText, kPageLeaf);
}

void write_table(PageOut& out, const hprof_rec_table& table) {
  const StackTable stacks(table);
  if (!stacks.has_stacks()) return out.fail(HPROF_UNSUPPORTED);
  out.lit("T");
  out.text(table.schema->name).text(table.schema->title).end();
  write_columns(out, stacks);
  each_weighted_stack(stacks, [&](const WeightedStack& stack) {
    if (!out.ok()) return;
    out.lit("d");
    for (uint32_t i = 0; i < stacks.weight_count(); i++) {
      if (adds_up(stacks.weight(i))) out.number(stack.weights[i]);
    }
    out.id(stack.trace);
    if (stacks.leaf_column() != HPROF_NO_COLUMN) out.id(stack.row[stacks.leaf_column()].u);
    out.end();
  });
  out.lit("E\t\n");
}

void write_record(Encoder& encoder, PageOut& out, const hprof_record* record) {
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN:
      encoder.last_trace = 0;
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
      return write_report(out, *as<hprof_rec_report>(record).info);
    case HPROF_RECORD_TABLE:
      return write_table(out, as<hprof_rec_table>(record));
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
