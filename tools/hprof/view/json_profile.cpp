// Reads lines of JSON, as format=json writes them: tables with their columns, and what their rows refer to.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>

#include "tools/format/ascii_lines.h"
#include "tools/format/json.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kNsPerMs = 1000000;

bool has_flag(const JsonValue& of, std::string_view flag) {
  const std::vector<JsonValue>& flags = of["flags"].items;
  return std::any_of(flags.begin(), flags.end(), [&](const JsonValue& each) { return each.words() == flag; });
}

// "cpu_samples" of "hprof.cpu_samples/1"; others keep the name of their vendor.
std::string table_name(const std::string& name) {
  constexpr std::string_view kOurs = "hprof.";
  const size_t version = name.rfind('/');
  const bool is_ours = name.compare(0, kOurs.size(), kOurs) == 0 && version != std::string::npos;
  return is_ours ? name.substr(kOurs.size(), version - kOurs.size()) : name;
}

// As windows are made (core/modules/report_windows/window.h).
std::vector<PlainTable::Kind> kinds_of(const std::vector<JsonValue>& columns) {
  static constexpr std::string_view kNames[] = {"trace", "thread", "class", "method", "frame", "text"};
  static constexpr std::string_view kCounts[] = {"count", "nanoseconds", "bytes"};
  const auto is_one_of = [](const auto& types, const JsonValue& column) {
    return std::find(std::begin(types), std::end(types), column["type"].words()) != std::end(types);
  };
  const bool has_keys = std::any_of(columns.begin(), columns.end(),
                                    [](const JsonValue& column) { return has_flag(column, "key"); });
  std::vector<PlainTable::Kind> kinds;
  for (const JsonValue& column : columns) {
    const bool is_name = has_keys ? has_flag(column, "key") : is_one_of(kNames, column);
    const bool adds = is_one_of(kCounts, column) || has_flag(column, "weight");
    kinds.push_back(is_name                              ? PlainTable::Kind::kName
                    : adds && !has_flag(column, "state") ? PlainTable::Kind::kAdds
                                                         : PlainTable::Kind::kState);
  }
  return kinds;
}

// A class, method or thread is an object with its name.
const std::string& name_of(const JsonValue& cell) {
  return cell.kind == JsonValue::kObject ? cell["name"].words() : cell.words();
}

class JsonProfile {
 public:
  JsonProfile(Input& in, Profile* profile) : in_(in), lines_(in), profile_(*profile), ends_(profile) {}

  bool run(std::string* error) {
    profile_.about.emplace_back("format", "JSON");
    std::string_view line;
    bool good = true;
    while (good && lines_.next(&line)) good = take(line);
    if (!good) {
      *error = "line " + std::to_string(lines_.number()) + ": " + problem_;
      return false;
    }
    finish_table();
    for (ProfileTable& table : events_) profile_.tables.push_back(std::move(table));
    return true;
  }

 private:
  struct Column {
    std::string name;
    size_t weight = SIZE_MAX;  // index in the table; SIZE_MAX: it is none
    bool is_trace = false, is_leaf = false, is_real = false;
    bool is_key = false;   // a text that names the row, with the leaf
    bool is_name = false;  // without a leaf, it and others name the row
  };

  bool fail(const std::string& problem) {
    problem_ = problem;
    return false;
  }

  // Lines of other records, of a heap dump for one, are not looked into.
  bool take(std::string_view line) {
    struct Record {
      std::string_view name;
      bool (JsonProfile::*take)(const JsonValue& record);
    };
    static constexpr Record kRecords[] = {{"begin", &JsonProfile::take_begin},
                                          {"frame", &JsonProfile::take_frame},
                                          {"trace", &JsonProfile::take_trace},
                                          {"note", &JsonProfile::take_note},
                                          {"table", &JsonProfile::take_table},
                                          {"row", &JsonProfile::take_row},
                                          {"report_begin", &JsonProfile::take_report_begin},
                                          {"report_end", &JsonProfile::take_report_end},
                                          {"thread_start", &JsonProfile::take_thread},
                                          {"thread_end", &JsonProfile::take_thread_end}};
    std::string_view name;
    if (!begins_record(line, &name)) {
      if (line.empty()) return true;
      return fail("expected {\"record\": ..., as format=json writes it");
    }
    for (const Record& each : kRecords) {
      if (each.name != name) continue;
      JsonValue record;
      if (lines_.cut() || !parse_json(line, &record))
        return fail(lines_.unfinished() ? "the file ends within it: cut short" : "no object of JSON");
      return (this->*each.take)(record);
    }
    return true;
  }

  bool take_begin(const JsonValue& record) {
    profile_.created_ms = record["created_ms"].number();
    return true;
  }

  // A thread that is named anew has another record.
  bool take_thread(const JsonValue& record) {
    constexpr uint64_t kFirstThreadNumber = 200000;
    const uint64_t id = record["id"].number();
    const auto [place, fresh] = threads_.try_emplace(id, profile_.all_threads.size());
    if (fresh) profile_.all_threads.emplace_back();
    profile_.all_threads[place->second] = {kFirstThreadNumber + id, record["name"].words(), false};
    return true;
  }

  bool take_thread_end(const JsonValue& record) {
    const auto thread = threads_.find(record["id"].number());
    if (thread != threads_.end()) profile_.all_threads[thread->second].ended = true;
    return true;
  }

  bool take_frame(const JsonValue& record) {
    ProfileFrame& frame = frames_[record["id"].number()];
    frame.class_name = record["class"].words();
    frame.method = record["method"].words();
    frame.source = record["source"].words();
    frame.line = static_cast<int64_t>(std::min<uint64_t>(record["line"].number(), INT32_MAX));
    return true;
  }

  bool take_trace(const JsonValue& record) {
    const uint64_t number = record["id"].number();
    if (number == 0) return true;
    std::vector<ProfileFrame>& frames = profile_.traces[number];
    frames.clear();
    expansion_.reach(in_.offset());
    for (const JsonValue& each : record["frames"].items) {
      const auto frame = frames_.find(each.number());
      if (frame == frames_.end())
        return fail("the trace has frame " + each.text + ", which is not before it");
      if (!expansion_.take(Expansion::bytes_of(frame->second))) return fail(Expansion::kProblem);
      frames.push_back(frame->second);
    }
    const std::string& thread = name_of(record["thread"]);
    if (!thread.empty()) profile_.threads[number] = thread;
    const auto place = threads_.find(record["thread"]["id"].number());
    if (place != threads_.end()) profile_.thread_places[number] = place->second;
    if (record["cut"].is_true()) profile_.cut.insert(number);
    return true;
  }

  bool take_note(const JsonValue& record) {
    const std::string& text = record["text"].words();
    // The note that says which window it was comes before the report's end. Rows of events may follow a note.
    if (!is_events_) finish_table();
    if (ends_.take(text))
      is_report_ended_ = true;
    else
      profile_.notes.push_back(text);
    return true;
  }

  bool take_report_begin(const JsonValue& record) {
    finish_table();
    window_ = {};
    is_report_ended_ = false;
    is_window_ = record["reason"].words() == "window";
    window_.begin_ms = record["begin_wall_ns"].number() / kNsPerMs;
    window_.end_ms = std::max(record["end_wall_ns"].number() / kNsPerMs, window_.begin_ms + 1);
    return true;
  }

  bool take_report_end(const JsonValue&) {
    finish_table();
    if (is_report_ended_) return true;
    if (is_window_) ends_.take_window(std::move(window_));
    if (!is_window_) ends_.take_other();
    return true;
  }

  bool take_table(const JsonValue& record) {
    finish_table();
    name_ = record["name"].words();
    table_ = {table_name(name_), record["title"].words(), {}, {}};
    plain_ = {table_.title, {table_.title}, {}};
    columns_.clear();
    has_trace_ = false;
    is_events_ = has_flag(record, "events");
    for (const JsonValue& each : record["columns"].items) add_column(each, record);
    plain_.kinds = kinds_of(record["columns"].items);
    for (const Column& column : columns_)
      if (column.weight != SIZE_MAX) table_.totals.push_back(record["totals"][column.name].number());
    in_table_ = true;
    return true;
  }

  void add_column(const JsonValue& from, const JsonValue& table) {
    Column column;
    column.name = from["name"].words();
    const std::string& type = from["type"].words();
    column.is_trace = !has_trace_ && type == "trace";
    has_trace_ = has_trace_ || column.is_trace;
    column.is_leaf = has_flag(from, "leaf");
    column.is_real = type == "real";
    column.is_key = type == "text" && has_flag(from, "key");
    column.is_name = (type == "text" || type == "class" || type == "method" || type == "frame") &&
                     column.name != "label" && column.name != "labels";
    if (!column.name.empty() && table["order"].words() == column.name) plain_.order = plain_.columns.size();
    plain_.columns.push_back(column.name);
    table_.leaf = table_.leaf || column.is_leaf;
    // Columns that have what callees have, too, do not add up.
    if (has_flag(from, "weight") && !has_flag(from, "total")) {
      column.weight = table_.weights.size();
      ProfileWeight weight = {column.name, from["title"].words(), ProfileWeight::kCount,
                              table["order"].words() == column.name, has_flag(from, "state")};
      if (type == "bytes") weight.unit = ProfileWeight::kBytes;
      if (type == "nanoseconds") weight.unit = ProfileWeight::kNanoseconds;
      if (table["order"].words().empty()) weight.preferred = has_flag(from, "default");
      if (from["unit"].words() == "samples") weight.sample = 1;
      if (table["period_column"].words() == column.name) weight.sample = table["period"].number();
      // "count" says less than its unit.
      if (weight.title == "count" && !from["unit"].words().empty()) weight.title = from["unit"].words();
      table_.weights.push_back(std::move(weight));
    }
    columns_.push_back(std::move(column));
  }

  bool take_row(const JsonValue& record) {
    if (!in_table_ || record["table"].words() != name_)
      return fail("a row of " + record["table"].words() + ", of which no table is before it");
    const JsonValue& cells = record["cells"];
    ProfileRow row = {0, std::vector<uint64_t>(table_.weights.size())};
    std::vector<std::string> texts;
    for (const Column& column : columns_) {
      const JsonValue& cell = cells[column.name];
      if (column.weight != SIZE_MAX) {
        if (!cell.is_number() && !column.is_real) return fail("expected a number for " + column.name);
        row.values[column.weight] =
            column.is_real ? rounded(std::strtod(cell.text.c_str(), nullptr)) : cell.number();
      }
      if (column.is_trace) row.trace = cell.number();
      if (column.name == "label") row.label = cell.words();
      if (table_.leaf ? column.is_leaf || column.is_key : column.is_name && !is_events_)
        add_to_name(name_of(cell), &row);
      texts.push_back(column.is_trace ? trace_text(profile_, row.trace) : name_of(cell));
    }
    if (is_profile())
      table_.rows.push_back(std::move(row));
    else
      plain_.rows.push_back(std::move(texts));
    return true;
  }

  bool is_profile() const { return has_trace_ && !table_.weights.empty(); }

  // Events come in several tables of one name, which is a table of their sums here.
  void finish_table() {
    const bool had_table = in_table_;
    in_table_ = false;
    if (!had_table || (table_.rows.empty() && plain_.rows.empty())) return;
    if (!is_profile()) {
      if (!is_events_ || !continues_events()) put_plain_table(std::move(plain_), &profile_);
      return;
    }
    if (!is_events_) {
      profile_.tables.push_back(std::move(table_));
      return;
    }
    size_t index = 0;
    const auto is_it = [&](const ProfileTable& each) {
      return each.name == table_.name && each.weights.size() == table_.weights.size();
    };
    while (index < events_.size() && !is_it(events_[index])) ++index;
    std::vector<ProfileRow> rows = std::move(table_.rows);
    table_.rows.clear();
    table_.totals.clear();
    if (index == events_.size()) events_.push_back(std::move(table_));
    for (ProfileRow& row : rows) add_event(std::move(row), index);
  }

  // Adds events without stacks to those before. False: there are none.
  bool continues_events() {
    const auto found = profile_.plain_places.find(plain_.title);
    if (found == profile_.plain_places.end()) return false;
    PlainTable& all = profile_.plain_tables[found->second];
    if (all.columns != plain_.columns) return false;
    std::move(plain_.rows.begin(), plain_.rows.end(), std::back_inserter(all.rows));
    return true;
  }

  void add_event(ProfileRow row, size_t table) {
    std::vector<ProfileRow>& rows = events_[table].rows;
    const auto [place, fresh] = places_.try_emplace({table, row.trace, row.name, row.label}, rows.size());
    if (fresh) return rows.push_back(std::move(row));
    std::vector<uint64_t>& values = rows[place->second].values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = add_saturated(values[i], row.values[i]);
  }

  Input& in_;
  LineReader lines_;
  Profile& profile_;
  Expansion expansion_;
  ReportEnds ends_;
  std::string problem_;
  std::map<uint64_t, ProfileFrame> frames_;
  std::map<uint64_t, size_t> threads_;  // index in Profile::all_threads, by id
  ProfileWindow window_;                // of the report
  bool is_window_ = false;
  bool is_report_ended_ = false;  // by its note
  // The table whose rows come:
  bool in_table_ = false, has_trace_ = false, is_events_ = false;
  std::string name_;
  ProfileTable table_;
  PlainTable plain_;
  std::vector<Column> columns_;
  std::vector<ProfileTable> events_;                                                 // sums of events
  std::map<std::tuple<size_t, uint64_t, std::string, std::string>, size_t> places_;  // of the rows in events_
};

}  // namespace

bool read_json_profile(Input& in, Profile* profile, std::string* error) {
  return JsonProfile(in, profile).run(error);
}

}  // namespace hprof::tool
