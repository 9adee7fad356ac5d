// The collapsed encoder: format=collapsed, stacks as FlameGraph, speedscope and IntelliJ read them: a line
// for each, outermost frame first, and how much it weighs.
//
//   java/lang/Thread.run;demo/Work.step;demo/Work.sum 42
//
// Readers add up all lines of a file, so each report is a file with one column of one table: that of weight=,
// or the one that ranks the first table with stacks. Other tables are left out and counted; a message says if
// none has the column of weight=. A cut stack begins with [cut].
//
// Some readers make a sample of each unit, so times not selected by name are in microseconds.
#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/plain_out.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/utf8.hpp>
#include <hprof/cpp/writer.hpp>
#include <hprof/service/log.h>

namespace hprof::collapsed {

namespace {

struct Config {
  const char* weight;
};

const hprof_option kOptions[] = {
    {"weight", HPROF_OPTION_TEXT, offsetof(Config, weight), "", nullptr, 0, 0, "<column>",
     "choose the numbers of format=collapsed: samples, time, calls, live_bytes ..."},
};

struct Encoder {
  Encoder(const hprof_host* h, const Config& config)
      : host(h),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        log(find_service<hprof_log_service>(h, HPROF_SERVICE_LOG)),
        weight(config.weight),
        lost_tables(log == nullptr
                        ? nullptr
                        : log->loss_counter(h, "tables: a file of folded stacks holds one (weight=)")) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".collapsed";
    ops.content_type = "text/plain";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_DOCUMENTS | HPROF_ENCODER_STACKS;
  }
  hprof_status encode(const hprof_record* record, hprof_out* out);

  const hprof_host* host;
  const hprof_ids_service* ids;
  const hprof_log_service* log;  // NULL: this host has none
  const char* weight;            // "": the table's first
  uint64_t* lost_tables;
  bool has_table = false;  // the document has its table
  // The first table without the column of weight=, until the message about it.
  const hprof_table_schema* unmatched = nullptr;
};

// Semicolons separate frames, and the last blank the number, so names contain neither, and no line ends.
bool is_plain(uint8_t c) { return c > 0x20 && c < 0x7f && c != ';' && c != '.'; }

uint32_t put_code(char* to, uint32_t code) {
  return to_utf8(to, code == ';' || is_control(code) || is_blank(code) ? '_' : code);
}
// The packages of a class are separated by slashes; the dot is before the method.
uint32_t put_class_code(char* to, uint32_t code) { return put_code(to, code == '.' ? '/' : code); }

// Lives for one table.
class Writer {
 public:
  Writer(const Encoder& encoder, PlainOut& out, const StackTable& stacks, uint32_t weight)
      : host_(encoder.host),
        ids_(encoder.ids),
        out_(out),
        stacks_(stacks),
        weight_(weight),
        unit_(encoder.weight[0] == 0 && stacks.weight(weight).type == HPROF_COLUMN_NANOSECONDS ? 1000 : 1) {}

  void write(const WeightedStack& stack) {
    const uint64_t value = in_units(stack.weights[weight_]);
    if (value == 0 || !out_.ok()) return;
    const auto trace = find_trace(ids_, host_, stack.trace);
    if ((trace->flags & HPROF_TRACE_CUT) != 0) out_.lit("[cut];");
    if (trace->frame_count == 0) out_.lit("[unknown]");
    for (uint32_t i = trace->frame_count; i > 0 && out_.ok(); i--) {
      write_frame(trace->frames[i - 1]);
      if (i > 1) out_.lit(";");
    }
    if (stacks_.leaf_column() != HPROF_NO_COLUMN) write_leaf(stack.row[stacks_.leaf_column()]);
    out_.lit(" ").dec(value).lit("\n");
  }

 private:
  // Adds the rounding error to the next stack, so that the sum of all lines is right.
  uint64_t in_units(uint64_t value) {
    const uint64_t rest = value % unit_ + rest_;
    rest_ = rest % unit_;
    return value / unit_ + rest / unit_;
  }

  uint64_t put_class(hprof_text name) { return write_utf8(out_, name, is_plain, put_class_code); }
  uint64_t put_word(hprof_text name) { return write_utf8(out_, name, is_plain, put_code); }
  hprof_text text(hprof_string_id id) const { return ids_->string_text(host_, id); }

  void write_frame(hprof_frame_id id) {
    const auto method = find_method(ids_, host_, find_frame(ids_, host_, id)->method);
    // Code that is not a method of a class has only a name.
    const bool has_class = put_class(text(find_class(ids_, host_, method->owner)->name)) != 0;
    if (!has_class && method->name == 0) out_.lit("[unknown]");
    if (has_class || method->name == 0) out_.lit(".");
    if (put_word(text(method->name)) == 0) out_.lit("[unknown]");
  }

  void write_leaf(hprof_cell cell) {
    if (cell.u == 0) return;
    const auto number = static_cast<uint32_t>(cell.u);
    const hprof_column& column = *hprof_column_at(stacks_.table().schema, stacks_.leaf_column());
    out_.lit(";");
    column.type == HPROF_COLUMN_CLASS ? put_class(text(find_class(ids_, host_, number)->name))
                                      : put_word(text(number));
  }

  const hprof_host* host_;
  const hprof_ids_service* ids_;
  PlainOut& out_;
  const StackTable& stacks_;
  const uint32_t weight_;  // index of the table's weights
  const uint64_t unit_;    // what 1 stands for
  uint64_t rest_ = 0;
};

bool adds_up(const hprof_column& column) {
  return (column.flags & (HPROF_COLUMN_WEIGHT | HPROF_COLUMN_TOTAL)) == HPROF_COLUMN_WEIGHT;
}

// Index of the weight to write; HPROF_NO_COLUMN: none can be added up, or none has the name of weight=.
uint32_t chosen_weight(const Encoder& encoder, const StackTable& stacks) {
  if (encoder.weight[0] == 0 && adds_up(stacks.weight(stacks.first_weight()))) return stacks.first_weight();
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    const bool is_it = encoder.weight[0] == 0 || std::strcmp(stacks.weight(i).name, encoder.weight) == 0;
    if (is_it && adds_up(stacks.weight(i))) return i;
  }
  return HPROF_NO_COLUMN;
}

// Called at the end of a document without a table: prints the possible values of weight=.
void say_unmatched(Encoder& encoder) {
  const hprof_table_schema* schema = encoder.unmatched;
  encoder.unmatched = nullptr;
  if (schema == nullptr || encoder.has_table || encoder.log == nullptr) return;
  TextLine<512> line;
  line.add("weight=").add(encoder.weight).add(": ").add(schema->title).add(" has no such column; it has");
  const char* between = " ";
  for (uint32_t i = 0; i < schema->column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const hprof_column& column = *hprof_column_at(schema, i);
    if (!adds_up(column)) continue;
    line.add(between).add(column.name);
    between = ", ";
  }
  encoder.log->message(encoder.host, line.c_str());
}

void write_table(Encoder& encoder, PlainOut& out, const hprof_rec_table& table) {
  const StackTable stacks(table);
  if (!stacks.has_stacks()) return out.fail(HPROF_UNSUPPORTED);
  const uint32_t weight = chosen_weight(encoder, stacks);
  if (weight == HPROF_NO_COLUMN || encoder.has_table) {
    const uint64_t before =
        encoder.lost_tables != nullptr ? __atomic_fetch_add(encoder.lost_tables, 1, __ATOMIC_RELAXED) : 0;
    if (before == 0 && weight == HPROF_NO_COLUMN && encoder.weight[0] != 0) encoder.unmatched = table.schema;
    return;
  }
  encoder.has_table = true;
  Writer writer(encoder, out, stacks, weight);
  each_weighted_stack(stacks, [&](const WeightedStack& stack) { writer.write(stack); });
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* out) {
  PlainOut plain(out);
  if (record->kind == HPROF_RECORD_FILE_BEGIN || record->kind == HPROF_RECORD_REPORT_BEGIN) has_table = false;
  if (record->kind == HPROF_RECORD_TABLE) write_table(*this, plain, as<hprof_rec_table>(record));
  if (record->kind == HPROF_RECORD_REPORT_END) say_unmatched(*this);
  return plain.status();
}

constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN, HPROF_KIND_REPORT_BEGIN, HPROF_KIND_REPORT_END,
                                    HPROF_KIND_TABLE, nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=collapsed";

const hprof_unit kUnit = encoder_unit<Encoder, Config>(
    "encoder_collapsed", kSelect, "folded stacks, for FlameGraph, speedscope and IntelliJ", kRecords,
    kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::collapsed

HPROF_MODULE(encoder_collapsed, "1.0", "hprof", hprof::collapsed::kUnits, 1)
