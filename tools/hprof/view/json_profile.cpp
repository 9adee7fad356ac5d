// Lines of format=json (docs/pictures.md): frames, traces, and every table that has a trace and a weight.
#include <unordered_map>

#include "tools/format/ascii_lines.h"
#include "tools/format/json_value.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

namespace {

// Names that the tables of our own collectors have in all formats.
struct Name {
  const char* schema;
  ProfileTable (*table)();
};
constexpr Name kNames[] = {{"hprof.cpu_samples/1", samples_table},
                           {"hprof.cpu_times/1", times_table},
                           {"hprof.alloc_sites/1", sites_table},
                           {"hprof.monitor_time/1", monitors_table}};

bool has_flag(const JsonValue& column, std::string_view flag) {
  for (const JsonValue& each : column["flags"].items) {
    if (each.text == flag) return true;
  }
  return false;
}

class JsonReader {
 public:
  JsonReader(Input& in, Profile* profile) : lines_(in), profile_(*profile) {}

  bool run(std::string* error) {
    std::string_view line;
    while (lines_.next(&line)) {
      if (line.empty()) continue;
      if (!read_line(line)) {
        *error = "line " + std::to_string(lines_.number()) + ": " + problem_;
        return false;
      }
    }
    finish_table();
    profile_.about.emplace_back("format", "JSON lines");
    return true;
  }

 private:
  using Reader = bool (JsonReader::*)(const JsonValue&);
  struct Kind {
    std::string_view record;
    Reader read;
  };

  bool fail(const std::string& problem) {
    problem_ = problem;
    return false;
  }

  // Lines of other records may be long, and are not looked into.
  bool read_line(std::string_view line) {
    static constexpr Kind kKinds[] = {{"begin", &JsonReader::begin}, {"frame", &JsonReader::frame},
                                      {"trace", &JsonReader::trace}, {"report_begin", &JsonReader::report},
                                      {"table", &JsonReader::table}, {"row", &JsonReader::row},
                                      {"note", &JsonReader::note}};
    Scan scan(line);
    std::string_view record;
    if (!scan.literal("{\"record\":\"") || !scan.up_to("\"", &record))
      return fail("expected {\"record\":\"...\", a line of format=json");
    for (const Kind& kind : kKinds) {
      if (kind.record != record) continue;
      JsonValue value;
      return parse_json(line, &value, &problem_) && (this->*kind.read)(value);
    }
    return true;
  }

  bool begin(const JsonValue& value) {
    uint64_t version = 0;
    if (!value["version"].number(&version) || version != 1) return fail("expected version 1");
    value["created_ms"].number(&profile_.created_ms);
    return true;
  }

  bool frame(const JsonValue& value) {
    uint64_t id = 0, line = 0;
    if (!value["id"].number(&id)) return fail("expected the id of the frame");
    value["line"].number(&line);
    ProfileFrame& frame = frames_[id];
    frame.class_name = value["class"].text;
    frame.method = value["method"].text;
    frame.source = value["source"].text;
    frame.line = line <= INT32_MAX ? static_cast<int64_t>(line) : 0;
    return true;
  }

  bool trace(const JsonValue& value) {
    uint64_t id = 0;
    if (!value["id"].number(&id)) return fail("expected the id of the trace");
    std::vector<ProfileFrame>& frames = profile_.traces[id];
    frames.clear();
    for (const JsonValue& item : value["frames"].items) {
      uint64_t number = 0;
      const auto found = item.number(&number) ? frames_.find(number) : frames_.end();
      if (found == frames_.end())
        return fail("the trace has a frame " + item.text + " that no line before defines");
      frames.push_back(found->second);
    }
    if (value["cut"].type == JsonValue::kTrue) profile_.cut.insert(id);
    if (!value["thread"]["name"].text.empty()) profile_.threads[id] = value["thread"]["name"].text;
    return true;
  }

  bool report(const JsonValue& value) {
    uint64_t from = 0, until = 0;
    value["begin_ns"].number(&from);
    value["end_ns"].number(&until);
    if (until > from) profile_.duration_ns = until - from;
    return true;
  }

  bool note(const JsonValue& value) {
    profile_.notes.push_back(value["text"].text);
    return true;
  }

  bool table(const JsonValue& value) {
    finish_table();
    columns_.clear();
    trace_ = leaf_ = label_ = "";
    schema_ = value["name"].text;
    table_ = {schema_, value["title"].text, {}, {}};
    ProfileTable known;
    for (const Name& name : kNames) {
      if (schema_ == name.schema) known = name.table();
    }
    if (!known.name.empty()) table_.name = known.name;
    for (const JsonValue& column : value["columns"].items) {
      if (!add_column(column, value, known)) return false;
    }
    bool chosen = false;
    for (const ProfileWeight& weight : table_.weights) chosen = chosen || weight.preferred;
    if (!chosen && !table_.weights.empty()) table_.weights[0].preferred = true;
    return true;
  }

  bool add_column(const JsonValue& column, const JsonValue& table, const ProfileTable& known) {
    const std::string &name = column["name"].text, &type = column["type"].text;
    if (name.empty()) return fail("expected the name of a column");
    if (type == "trace" && trace_.empty()) trace_ = name;
    if (has_flag(column, "leaf") && leaf_.empty()) leaf_ = name;
    if (name == "label" && type == "text") label_ = name;
    if (!has_flag(column, "weight") || has_flag(column, "total")) return true;
    ProfileWeight weight{name, column["title"].text, ProfileWeight::kCount, false, has_flag(column, "state")};
    if (type == "nanoseconds") weight.unit = ProfileWeight::kNanoseconds;
    if (type == "bytes") weight.unit = ProfileWeight::kBytes;
    const JsonValue& order = table["order"];
    weight.preferred = order.type == JsonValue::kString ? order.text == name : has_flag(column, "default");
    for (const ProfileWeight& same : known.weights) {
      if (same.name == name) weight.title = same.title;
    }
    uint64_t total = 0;
    table["totals"][name].number(&total);
    table_.weights.push_back(weight);
    table_.totals.push_back(total);
    columns_.push_back(name);
    return true;
  }

  bool row(const JsonValue& value) {
    if (value["table"].text != schema_) return fail("a row of a table that no line before describes");
    if (trace_.empty() || columns_.empty()) return true;  // no stacks to weigh
    const JsonValue& cells = value["cells"];
    ProfileRow row{0, {}};
    if (!cells[trace_].number(&row.trace)) return fail("expected the trace of the row");
    for (const std::string& column : columns_) {
      uint64_t number = 0;
      if (!cells[column].number(&number)) return fail("expected a number of 0 or more as " + column);
      row.values.push_back(number);
    }
    if (!leaf_.empty()) {
      const JsonValue& leaf = cells[leaf_];
      row.name = leaf.type == JsonValue::kObject ? leaf["name"].text : leaf.text;
      table_.leaf = true;
    }
    if (!label_.empty()) row.label = cells[label_].text;
    table_.rows.push_back(std::move(row));
    return true;
  }

  void finish_table() {
    if (!table_.rows.empty()) profile_.tables.push_back(std::move(table_));
    table_ = {};
  }

  LineReader lines_;
  Profile& profile_;
  std::string problem_;
  std::unordered_map<uint64_t, ProfileFrame> frames_;
  // The table that rows belong to
  ProfileTable table_;
  std::string schema_, trace_, leaf_, label_;  // its name, and names of its columns
  std::vector<std::string> columns_;           // the weights
};

}  // namespace

bool read_json_profile(Input& in, Profile* profile, std::string* error) {
  return JsonReader(in, profile).run(error);
}

}  // namespace hprof::tool
