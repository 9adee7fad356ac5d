#include "rows.h"

#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::json {

namespace {

constexpr uint64_t kSecond = 1000000000;

hprof_text text_of(const char* text) { return {text, std::strlen(text)}; }

// The value of a label, or null.
hprof_text label_of(const char* labels, const char* wanted) {
  hprof_text found = {nullptr, 0};
  each_pair(labels, ':', ";", [&](hprof_text name, hprof_text value) {
    if (found.data == nullptr && name.size == std::strlen(wanted) && begins_with(name, wanted)) found = value;
  });
  return found;
}

hprof_text service_of(const hprof_report_info& info) {
  const hprof_text label = label_of(info.labels, "service");
  if (label.data != nullptr) return label;
  return text_of(info.program != nullptr && info.program[0] != 0 ? info.program : "java");
}

// What all rows of a report have.
struct Report {
  const hprof_report_info& info;
  uint64_t pid;
  bool has_lines;
  uint64_t& rows;
};

// Lives for one table, or a note.
class RowWriter {
 public:
  RowWriter(JsonOut& out, const Report& report) : out_(out), report_(report) {}

  void write(const StackTable& stacks, const WeightedStack& stack) {
    for (uint32_t i = 0; i < stacks.weight_count() && out_.ok(); i++) {
      const hprof_column& column = stacks.weight(i);
      if ((column.flags & HPROF_COLUMN_TOTAL) != 0 || stack.weights[i] == 0) continue;
      begin();
      out_.key("name").text(column.name).key("unit").text(unit_of(column)).number("value", stack.weights[i]);
      out_.truth("state", (column.flags & HPROF_COLUMN_STATE) != 0);
      write_stack(stack.trace);
      write_leaf(stacks, stack);
      out_.end();
    }
  }

  void write_note(hprof_text text) {
    begin();
    out_.key("name").text("note").key("unit").text("count").number("value", 1).truth("state", false);
    out_.key("thread").text("").key("context").lit("[]");
    out_.key("stack").lit("[");
    out_.text(text).lit("]");
    if (report_.has_lines) out_.key("lines").lit("[0]");
    out_.truth("cut", false).key("leaf").text("").end();
  }

 private:
  void begin() {
    const hprof_report_info& info = report_.info;
    out_.lit("{\"time\":").dec(info.begin_wall_ns / kSecond);
    out_.number("until", info.end_wall_ns / kSecond);
    out_.key("service")
        .text(service_of(info))
        .key("host")
        .text(info.host_name != nullptr ? info.host_name : "");
    out_.number("pid", report_.pid).key("collector").text(info.unit);
    out_.number("report", info.sequence).number("row", ++report_.rows).key("labels").lit("[");
    Separator separator(out_);
    each_pair(info.labels, ':', ";", [&](hprof_text name, hprof_text value) {
      // The two stand in one text, as they were typed.
      separator.next();
      out_.text(hprof_text{name.data, static_cast<uint64_t>(value.data + value.size - name.data)});
    });
    out_.lit("]");
  }

  // The outermost frames are the labels of the thread's context.
  void write_stack(hprof_trace_serial serial) {
    const auto trace = find_trace(&out_.ids(), out_.host(), serial);
    const auto thread = find_thread(&out_.ids(), out_.host(), trace->thread);
    out_.key("thread").text(trace->thread != 0 ? name(thread->name) : hprof_text{"", 0});
    uint32_t outermost = trace->frame_count;
    out_.key("context").lit("[");
    Separator labels(out_);
    for (; outermost != 0 && is_label(trace->frames[outermost - 1]); outermost--) {
      labels.next();
      out_.text(name(method_of(trace->frames[outermost - 1])->name));
    }
    out_.lit("]");
    out_.key("stack").lit("[");
    Separator frames(out_);
    for (uint32_t i = outermost; i != 0 && out_.ok(); i--) {
      frames.next();
      write_frame(trace->frames[i - 1]);
    }
    out_.lit("]");
    if (report_.has_lines) write_lines(trace->frames, outermost);
    out_.truth("cut", (trace->flags & HPROF_TRACE_CUT) != 0);
  }

  void write_frame(hprof_frame_id id) {
    const auto method = method_of(id);
    const hprof_text owner = name(find_class(&out_.ids(), out_.host(), method->owner)->name);
    out_.lit("\"");
    out_.part(owner).words(owner.size != 0 && method->name != 0 ? "." : "");
    out_.part(name(method->name)).lit("\"");
  }

  void write_lines(const hprof_frame_id* frames, uint32_t count) {
    out_.key("lines").lit("[");
    Separator lines(out_);
    for (uint32_t i = count; i != 0 && out_.ok(); i--) {
      lines.next();
      const int32_t line = find_frame(&out_.ids(), out_.host(), frames[i - 1])->line;
      out_.dec(line > 0 ? static_cast<uint64_t>(line) : 0);
    }
    out_.lit("]");
  }

  void write_leaf(const StackTable& stacks, const WeightedStack& stack) {
    hprof_text leaf = {"", 0};
    if (stacks.leaf_column() != HPROF_NO_COLUMN && stack.row[stacks.leaf_column()].u != 0) {
      const auto number = static_cast<uint32_t>(stack.row[stacks.leaf_column()].u);
      const bool is_class =
          hprof_column_at(stacks.table().schema, stacks.leaf_column())->type == HPROF_COLUMN_CLASS;
      leaf = name(is_class ? find_class(&out_.ids(), out_.host(), number)->name : number);
    }
    out_.key("leaf").text(leaf);
  }

  bool is_label(hprof_frame_id frame) const {
    const hprof_text owner = class_name_of(&out_.ids(), out_.host(), frame);
    return owner.size == std::strlen(kLabelClass) && begins_with(owner, kLabelClass);
  }
  Known<hprof_method_info> method_of(hprof_frame_id frame) const {
    return find_method(&out_.ids(), out_.host(), find_frame(&out_.ids(), out_.host(), frame)->method);
  }
  hprof_text name(hprof_string_id id) const {
    return id != 0 ? out_.ids().string_text(out_.host(), id) : hprof_text{"", 0};
  }

  // Commas between the elements of a list.
  class Separator {
   public:
    explicit Separator(JsonOut& out) : out_(out) {}
    void next() {
      if (!is_first_) out_.lit(",");
      is_first_ = false;
    }

   private:
    JsonOut& out_;
    bool is_first_ = true;
  };

  static constexpr const char* kLabelClass = "LABEL";
  JsonOut& out_;
  const Report& report_;
};

}  // namespace

RowsEncoder::RowsEncoder(const hprof_host* host, const RowsConfig& config)
    : host_(host),
      ids_(find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS)),
      io_(find_service<hprof_io_service>(host, HPROF_SERVICE_IO)),
      config_(config) {}

hprof_status RowsEncoder::encode(const hprof_record* record, hprof_out* out) {
  JsonOut json(out, host_, ids_);
  if (record->kind == HPROF_RECORD_REPORT_BEGIN) {
    const hprof_report_info* info = as<hprof_rec_report>(record).info;
    hprof_copy_sized(&info_, sizeof info_, info, info->size);
    rows_ = 0;
  }
  if (info_.unit == nullptr) return HPROF_OK;  // nothing of a report yet
  const Report report = {info_, io_ != nullptr ? io_->process_id(host_) : 0, config_.lines != 0, rows_};
  RowWriter writer(json, report);
  if (record->kind == HPROF_RECORD_NOTE) writer.write_note(as<hprof_rec_note>(record).text);
  if (record->kind == HPROF_RECORD_TABLE) {
    const StackTable stacks(as<hprof_rec_table>(record));
    if (!stacks.has_stacks()) return HPROF_UNSUPPORTED;
    each_weighted_stack(stacks, [&](const WeightedStack& stack) { writer.write(stacks, stack); });
  }
  return json.status();
}

}  // namespace hprof::json
