// hprof print --json.
#include <algorithm>

#include "tools/hprof/print/meanings.h"
#include "tools/hprof/print/profile_answer.h"
#include "tools/hprof/view/json_columns.h"
#include "tools/hprof/view/plain_tables.h"

namespace hprof::tool {

namespace {

// Adds a table with the first rows of a list. add(item, row) appends its cells.
template <typename Item, typename Add>
void add_table(const char* key, std::vector<Column> columns, const std::vector<Item>& items, size_t top,
               const Add& add, Section* to) {
  Table table{key, "", std::move(columns)};
  const size_t shown = top == 0 ? items.size() : std::min(items.size(), top);
  for (size_t i = 0; i < shown; ++i) table.rows.push_back(add(items[i]));
  table.left_out = items.size() - shown;
  to->tables.push_back(std::move(table));
}

class TableJson {
 public:
  TableJson(const Profile& profile, const TableAnswer& answer, const PrintOptions& options)
      : profile_(profile), answer_(answer), table_(answer.table()), top_(options.top), options_(options) {}

  Section section() const {
    Section section{"", table_.title, {heading_of(answer_, options_)}};
    section.facts = {data_fact("table", table_.name),
                     data_fact("column", keys_[answer_.weight]),
                     data_fact("unit", std::string(unit_of(answer_.column()))),
                     data_fact("sum", answer_.sum),
                     data_fact("rows", uint64_t{table_.rows.size()}),
                     data_fact("may_lack_rows", yes_or_no(may_lack_rows(profile_, table_))),
                     data_fact("windows", number_or_null(table_.windows)),
                     data_fact("elapsed", yes_or_no(answer_.is_elapsed)),
                     data_fact("cut", answer_.cut)};
    add_columns(&section);
    if (answer_.has_threads) add_threads(&section);
    if (answer_.kind != nullptr) add_places(&section);
    if (answer_.has_path) add_path(&section);
    if (answer_.has_rows) add_rows(&section);
    return section;
  }

 private:
  // With the sum of all rows, which the report's own may be more than: it has rows below cutoff=, too.
  void add_columns(Section* to) const {
    std::vector<size_t> places;
    for (size_t i = 0; i < keys_.size(); ++i) places.push_back(i);
    const auto cells = [&](size_t i) -> std::vector<Cell> {
      const ProfileWeight& column = table_.weights[i];
      uint64_t sum = 0;
      for (const ProfileRow& row : table_.rows) sum = add_saturated(sum, row.values[i]);
      return {keys_[i],
              column.title,
              std::string(unit_of(column)),
              sum,
              i < table_.totals.size() ? number_or_null(table_.totals[i]) : Cell(),
              std::string(numbers_of(profile_, table_, column)),
              number_or_null(column.sample),
              yes_or_no(repeats(profile_, table_, column))};
    };
    add_table("columns",
              {{"column", ""},
               {"title", ""},
               {"unit", ""},
               {"sum", "", CellKind::kNumber},
               {"report_sum", "", CellKind::kNumber},
               {"numbers", ""},
               {"sample", "", CellKind::kNumber},
               {"repeats", ""}},
              places, 0, cells, to);
  }

  void add_places(Section* to) const {
    const std::string kind = answer_.kind;
    std::vector<Column> columns = {{"self", "", CellKind::kNumber}, {"total", "", CellKind::kNumber}};
    if (answer_.beside != SIZE_MAX) columns.push_back({keys_[answer_.beside], "", CellKind::kNumber});
    columns.push_back({kind, ""});
    const auto cells = [&](const PlaceRow& row) {
      std::vector<Cell> made = {row.self, row.total};
      if (answer_.beside != SIZE_MAX) made.emplace_back(row.counted);
      made.emplace_back(row.place);
      return made;
    };
    add_table((kind + "s").c_str(), std::move(columns), answer_.places, top_, cells, to);
  }

  void add_path(Section* to) const {
    const auto cells = [](const HottestStep& step) -> std::vector<Cell> {
      return {step.total, uint64_t{step.alike}, step.place};
    };
    add_table("hottest_path",
              {{"total", "", CellKind::kNumber}, {"frames_between", "", CellKind::kNumber}, {"method", ""}},
              answer_.path, 0, cells, to);
  }

  void add_rows(Section* to) const {
    std::vector<Column> columns;
    for (const std::string& key : keys_) columns.push_back({key, "", CellKind::kNumber});
    columns.push_back({"trace", "", CellKind::kNumber});
    columns.push_back({"name", ""});
    if (options_.traces) columns.push_back({"stack", ""});
    const auto cells = [&](const ProfileRow* row) {
      std::vector<Cell> made(row->values.begin(), row->values.end());
      made.emplace_back(row->trace);
      made.emplace_back(row_name(profile_, *row));
      if (!options_.traces) return made;
      std::vector<std::string> stack;
      for (const ProfileFrame& frame : frames_of(profile_, *row)) stack.push_back(frame_text(frame));
      made.emplace_back(std::move(stack));
      return made;
    };
    add_table("rows", std::move(columns), answer_.rows, top_, cells, to);
  }

  void add_threads(Section* to) const {
    const auto cells = [](const ThreadSum& sum) -> std::vector<Cell> {
      const auto& [method, weight] = sum.top();
      return {sum.sum,
              text_or_null(sum.name),
              sum.thread == nullptr ? Cell() : number_or_null(sum.thread->nid),
              sum.thread == nullptr ? Cell() : Cell(yes_or_no(sum.has_ended())),
              method,
              weight};
    };
    add_table("threads",
              {{"sum", "", CellKind::kNumber},
               {"thread", ""},
               {"nid", "", CellKind::kNumber},
               {"ended", ""},
               {"top_method", ""},
               {"top_method_sum", "", CellKind::kNumber}},
              answer_.threads, top_, cells, to);
  }

  const Profile& profile_;
  const TableAnswer& answer_;
  const ProfileTable& table_;
  const size_t top_;
  const PrintOptions& options_;
  const std::vector<std::string> keys_ = column_keys(table_);
};

Section head_of(const ProfileAnswer& answer, const PrintOptions& options) {
  const Profile& profile = answer.profile;
  Section head{"profile", profile.file};
  const auto about = [&](const char* wanted) {
    for (const auto& [key, value] : profile.about)
      if (key == wanted) return Cell(value);
    return Cell();
  };
  head.facts = {data_fact("file", profile.file),
                data_fact("format", about("format")),
                data_fact("session", about(kSession)),
                data_fact("windows", about("windows")),
                data_fact("only_threads", text_or_null(options.thread)),
                data_fact("created_ms", number_or_null(profile.created_ms)),
                data_fact("duration_ns", number_or_null(profile.duration_ns))};
  if (answer.has_time) {
    head.text.push_back(text_of(answer.time));
    head.facts.push_back(data_fact("process_cpu_seconds", nine_decimals(answer.time.seconds)));
    if (answer.time.wall_seconds != 0)
      head.facts.push_back(data_fact("process_seconds", nine_decimals(answer.time.wall_seconds)));
    const auto cells = [](const std::pair<std::string, double>& part) -> std::vector<Cell> {
      return {nine_decimals(part.second), part.first};
    };
    add_table("process_time", {{"cpu_seconds", "", CellKind::kNumber}, {"part", ""}}, answer.time.parts, 0,
              cells, &head);
  }
  return head;
}

void add_notes(const Profile& profile, Section* to) {
  const auto meaning = [](const std::pair<std::string, std::string>& each) -> std::vector<Cell> {
    return {each.first, each.second};
  };
  add_table("meanings", {{"method", ""}, {"meaning", ""}}, meanings_in(profile), 0, meaning, to);
  const auto note = [](const std::string& text) -> std::vector<Cell> { return {text}; };
  add_table("notes", {{"note", ""}}, profile.notes, 0, note, to);
}

}  // namespace

Section json_of(const Profile& profile, const PrintOptions& options) {
  const ProfileAnswer answer = answer_of(profile, options);
  Section head = head_of(answer, options);
  if (options.threads && profile.threads.empty()) {
    const auto cells = [](const ProfileThread& thread) -> std::vector<Cell> {
      return {thread.serial, thread.name, number_or_null(thread.nid), yes_or_no(thread.ended)};
    };
    add_table(
        "threads",
        {{"serial", "", CellKind::kNumber}, {"thread", ""}, {"nid", "", CellKind::kNumber}, {"ended", ""}},
        profile.all_threads, 0, cells, &head);
  }
  add_notes(profile, &head);
  for (const TableAnswer& table : answer.tables)
    head.parts.push_back(TableJson(profile, table, options).section());
  return head;
}

Section json_of_plain_tables(const Profile& profile, const PrintOptions& options) {
  Section section{"plain_tables", "tables without stacks"};
  for (const PlainTable& table : profile.plain_tables)
    section.parts.push_back(section_of(table, options.top));
  return section;
}

Section json_of(const NeverCalled& answer, const PrintOptions& options) {
  Section section{"never_called", "methods that were never called"};
  section.facts = {data_fact("never", uint64_t{answer.never}), data_fact("methods", uint64_t{answer.methods}),
                   data_fact("classes_with", uint64_t{answer.dead}),
                   data_fact("classes", uint64_t{answer.classes}), data_fact("since", answer.since)};
  Table table{"methods", "", {{"package", ""}, {"class", ""}, {"method", ""}}};
  uint64_t classes = 0;
  for (const NeverOfPackage& package : answer.packages) {
    for (const NeverOfClass& of_class : package.classes) {
      if (!options.shows(classes++)) break;
      for (const std::string& method : of_class.never)
        table.rows.push_back({package.name, of_class.name, method});
    }
  }
  table.left_out = answer.never - table.rows.size();
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace hprof::tool
