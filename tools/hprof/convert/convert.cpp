#include "tools/hprof/convert/convert.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include <hprof/mock/unit_run.h>

#include "tools/format/utf8.h"
#include "tools/hprof/convert/table_rows.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/view/process_time.h"

extern "C" {
const hprof_module* hprof_module_encoder_ascii(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_binary(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_collapsed(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_flamegraph(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_jfr(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_json(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_otlp(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_pprof(const hprof_offer*, const char**);
}

namespace hprof::tool {

namespace {

struct Format {
  const char* name;  // null: for the agent only
  hprof_module_entry entry;
  const char* other_suffix = "";
};
constexpr Format kFormats[] = {{"collapsed", hprof_module_encoder_collapsed, ".folded"},
                               {"pprof", hprof_module_encoder_pprof},
                               {"json", hprof_module_encoder_json},
                               {"ascii", hprof_module_encoder_ascii},
                               {nullptr, hprof_module_encoder_binary},
                               {nullptr, hprof_module_encoder_flamegraph},
                               {nullptr, hprof_module_encoder_jfr},
                               {nullptr, hprof_module_encoder_otlp}};

const hprof_unit* open_encoder(const Format& format) { return mock_open(format.entry)->units[0]; }

const hprof_encoder_ops& ops_of(const hprof_unit& encoder) {
  return *static_cast<const hprof_encoder_ops*>(encoder.ops);
}
bool has_one_table(const hprof_unit& encoder) {
  return (ops_of(encoder).flags & HPROF_ENCODER_DOCUMENTS) != 0;
}
// True: format=a, which has columns for known tables only.
bool is_ascii(const hprof_unit& encoder) { return std::strcmp(encoder.select, "format=a") == 0; }

// The options of the encoder that the user gives, as far as it has them.
EncoderFeed::Options options_of(const hprof_unit& encoder, const std::string& weight) {
  for (uint32_t i = 0; i < encoder.option_count; ++i) {
    if (std::strcmp(encoder.options[i].name, "weight") == 0) return {{"weight", weight}};
  }
  return {};
}

// Passes a profile to an encoder as the agent's pipeline would.
class Player {
 public:
  Player(const Profile& profile, const hprof_unit& unit) : profile_(profile), unit_(unit), host_(profile) {}

  bool run(const std::vector<const ProfileTable*>& tables, const std::string& weight, std::string* bytes,
           std::string* error) {
    for (const auto& [number, frames] : profile_.traces) {
      const auto thread = profile_.threads.find(number);
      traces_[number] = host_.add_trace(frames, thread == profile_.threads.end() ? "" : thread->second,
                                        profile_.cut.count(number) != 0);
    }
    EncoderFeed& encoder = encoder_.emplace(host_.mock(), unit_, options_of(unit_, weight));
    if (encoder.created != HPROF_OK) {
      *error =
          std::string("the encoder was not made: ") + (*encoder.error != '\0' ? encoder.error : "no memory");
      return false;
    }
    auto begin = zeroed_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    begin.created_ms = profile_.created_ms;
    begin.id_size = 8;
    emit(HPROF_KIND_FILE_BEGIN, begin.head);
    for (const ProfileTable* table : tables) play(*table);
    const auto end = zeroed_record<hprof_rec_definition>(HPROF_RECORD_FILE_END);
    emit(HPROF_KIND_FILE_END, end.head);
    *bytes = encoder.bytes();
    if (status_ == HPROF_OK) return true;
    *error = "the encoder failed: status " + std::to_string(status_);
    return false;
  }

  std::vector<std::string> losses() const { return host_.losses(); }

 private:
  void emit(const char* kind, const hprof_record& record) {
    if (status_ != HPROF_OK || (unit_.records != nullptr && hprof_is_listed(unit_.records, kind) == 0))
      return;
    const hprof_status status = encoder_->encode(record);
    if (status != HPROF_UNSUPPORTED) status_ = status;
  }

  // Defines each number once, before the first record that refers to it.
  void define(const char* name, uint32_t kind, uint32_t id) {
    if (!defined_.emplace(kind, id).second) return;
    auto record = zeroed_record<hprof_rec_definition>(kind);
    record.id = id;
    emit(name, record.head);
  }
  void define_class(hprof_class_serial serial) {
    if (serial != 0) define(HPROF_KIND_CLASS, HPROF_RECORD_CLASS, serial);
  }
  void define_trace(hprof_trace_serial serial) {
    if (serial == 0) return define(HPROF_KIND_TRACE, HPROF_RECORD_TRACE, 0);
    const auto trace = host_.trace(serial);
    if (trace->thread != 0) define(HPROF_KIND_THREAD_START, HPROF_RECORD_THREAD_START, trace->thread);
    for (uint32_t i = 0; i < trace->frame_count; ++i) {
      define_class(host_.owner_of(trace->frames[i]));
      define(HPROF_KIND_FRAME, HPROF_RECORD_FRAME, trace->frames[i]);
    }
    define(HPROF_KIND_TRACE, HPROF_RECORD_TRACE, serial);
  }
  void define_cells(const TableRows& rows) {
    const hprof_rec_table& table = rows.record();
    for (uint64_t i = 0; i < table.row_count; ++i) {
      for (uint32_t c = 0; c < table.schema->column_count; ++c) {
        const auto id = static_cast<uint32_t>(hprof_row_at(&table, i)[c].u);
        if (rows.column(c).type == HPROF_COLUMN_TRACE) define_trace(id);
        if (rows.column(c).type == HPROF_COLUMN_CLASS) define_class(id);
      }
    }
  }

  void play(const ProfileTable& table) {
    constexpr uint64_t kNsPerMs = 1000000;
    TableRows rows(table, traces_, is_ascii(unit_), &host_);
    hprof_report_info info = {};
    info.size = sizeof info;
    info.sequence = ++sequence_;
    info.reason = HPROF_REPORT_EXIT;
    info.cumulative = 1;
    info.begin_wall_ns = profile_.created_ms * kNsPerMs;
    info.end_wall_ns = info.begin_wall_ns + profile_.duration_ns;
    info.end_ns = profile_.duration_ns;
    info.unit = rows.collector();
    info.labels = "";
    info.suffix = suffix_of(unit_);
    info.content_type = "";
    auto report = zeroed_record<hprof_rec_report>(HPROF_RECORD_REPORT_BEGIN);
    report.info = &info;
    emit(HPROF_KIND_REPORT_BEGIN, report.head);
    if (sequence_ == 1) play_notes();
    define_cells(rows);
    hprof_rec_table record = rows.record();
    record.created_ms = info.end_wall_ns / kNsPerMs;
    emit(HPROF_KIND_TABLE, record.head);
    report.head.kind = HPROF_RECORD_REPORT_END;
    emit(HPROF_KIND_REPORT_END, report.head);
  }

  void play_notes() {
    for (const auto& [key, value] : profile_.about)
      if (key == kSession) play_note(value);
    for (const std::string& note : profile_.notes) play_note(note);
  }
  void play_note(const std::string& note) {
    auto record = zeroed_record<hprof_rec_note>(HPROF_RECORD_NOTE);
    record.text = {note.data(), note.size()};
    emit(HPROF_KIND_NOTE, record.head);
  }

  const Profile& profile_;
  const hprof_unit& unit_;
  EncoderHost host_;
  std::optional<EncoderFeed> encoder_;  // of the last run()
  TraceNumbers traces_;
  std::set<std::pair<uint32_t, uint32_t>> defined_;  // kind and id
  hprof_status status_ = HPROF_OK;
  uint32_t sequence_ = 0;
};

std::string names_of(const Profile& profile) {
  std::string names;
  std::set<std::string> seen;
  for (const ProfileTable& table : profile.tables) {
    if (seen.insert(table.name).second) names += (names.empty() ? "" : ", ") + table.name;
  }
  return names;
}

std::string names_of(const std::vector<ProfileWeight>& weights) {
  std::string names;
  for (const ProfileWeight& weight : weights) names += (names.empty() ? "" : ", ") + weight.name;
  return names;
}

bool is_text_table(const ProfileTable& table) {
  const auto has = [&](const char* name) {
    return std::any_of(table.weights.begin(), table.weights.end(),
                       [&](const ProfileWeight& weight) { return weight.name == name; });
  };
  return (table.name == "cpu_samples" && has("samples")) || (table.name == "cpu_times" && has("time")) ||
         table.name == "alloc_sites" || table.name == "monitor_time";
}

// Selects the columns by which the text's tables are ranked.
void rank_for_text(ProfileTable* table) {
  const char* by = table->name == "cpu_samples" ? "samples" : table->name == "alloc_sites" ? nullptr : "time";
  for (ProfileWeight& weight : table->weights) {
    if (by != nullptr) weight.preferred = weight.name == by;
  }
}

// Converts one weight of each stack to CPU SAMPLES, which all readers of the text format know.
ProfileTable as_samples(const ProfileTable& table, size_t weight) {
  ProfileTable made = samples_table();
  for (const ProfileRow& row : table.rows) {
    if (row.values[weight] != 0) made.rows.push_back({row.trace, {row.values[weight]}});
  }
  return made;
}

}  // namespace

std::string format_names() {
  std::string names;
  for (const Format& format : kFormats)
    if (format.name != nullptr)
      names += (names.empty() ? "" : ", ") + std::string(format.name) + " (" +
               suffix_of(*open_encoder(format)) + ')';
  return names + "; hprof view draws HTML";
}

const hprof_unit* encoder_of(const std::string& format) {
  for (const Format& each : kFormats)
    if (each.name != nullptr && format == each.name) return open_encoder(each);
  return nullptr;
}

// Binary files have no suffix after java.hprof, the agent's default name.
static std::string agent_suffix_of(const hprof_unit& encoder) {
  const std::string suffix = suffix_of(encoder);
  return suffix.empty() ? ".hprof" : suffix;
}

// The format whose suffix the path has, with .gz after it or not, and the size of the path without that
// suffix. Null: none has.
static const Format* format_of_file(const std::string& path, size_t* stem) {
  const std::string plain = without_gz(path);
  const Format* found = nullptr;
  size_t longest = 0;  // .otlp.pb is not .pb
  for (const Format& each : kFormats) {
    for (const std::string& suffix : {agent_suffix_of(*open_encoder(each)), std::string(each.other_suffix)}) {
      if (suffix.size() <= longest || !has_suffix(plain, suffix)) continue;
      found = &each;
      longest = suffix.size();
    }
  }
  *stem = plain.size() - longest;
  return found;
}

const hprof_unit* encoder_of_file(const std::string& path) {
  size_t ignored;
  const Format* found = format_of_file(path, &ignored);
  return found == nullptr || found->name == nullptr ? nullptr : open_encoder(*found);
}

std::string agent_format_of_file(const std::string& path) {
  size_t ignored;
  const Format* found = format_of_file(path, &ignored);
  return found == nullptr ? "" : std::string(open_encoder(*found)->select).substr(std::strlen("format="));
}

std::string agent_suffix_of_file(const std::string& path) {
  size_t stem;
  return format_of_file(path, &stem) == nullptr ? suffix_of_name(path) : path.substr(stem);
}

std::string agent_suffixes() {
  std::string suffixes;
  for (const Format& each : kFormats)
    suffixes += (suffixes.empty() ? "" : ", ") + agent_suffix_of(*open_encoder(each));
  return suffixes;
}

const hprof_encoder_ops* encoder_of_agent(const std::string& format) {
  for (const Format& each : kFormats) {
    const hprof_module* module = mock_open(each.entry);
    for (uint32_t i = 0; i < module->unit_count; ++i)
      if (module->units[i]->select == "format=" + format) return &ops_of(*module->units[i]);
  }
  return nullptr;
}

const char* suffix_of(const hprof_unit& encoder) { return ops_of(encoder).file_suffix; }

bool convert_profile(const Profile& profile, const hprof_unit& encoder, const ConvertOptions& options,
                     std::string* bytes, std::vector<std::string>* said, std::string* error) {
  std::vector<const ProfileTable*> tables;
  for (const ProfileTable& table : profile.tables) {
    if (options.table.empty() || options.table == table.name) tables.push_back(&table);
  }
  if (tables.empty()) {
    *error = "no table " + options.table + "; there are: " + names_of(profile);
    return false;
  }
  if (has_one_table(encoder) && tables.size() > 1) {
    const auto last = std::find_if(tables.rbegin(), tables.rend(),
                                   [&](const ProfileTable* each) { return each->name == tables[0]->name; });
    said->push_back("takes the last " + (*last)->name + " of " + std::to_string(tables.size()) +
                    " tables; --table= takes another of: " + names_of(profile));
    tables = {*last};
  }
  std::deque<ProfileTable> changed;
  for (const ProfileTable*& table : tables) {
    const auto weight =
        std::find_if(table->weights.begin(), table->weights.end(), [&](const ProfileWeight& each) {
          return options.weight.empty() ? each.preferred : each.name == options.weight;
        });
    if (weight == table->weights.end() && !options.weight.empty()) {
      *error =
          "no weight " + options.weight + " in " + table->name + "; there are: " + names_of(table->weights);
      return false;
    }
    if (!is_ascii(encoder)) continue;
    const bool is_text = is_text_table(*table);
    const auto index =
        weight == table->weights.end() ? 0 : static_cast<size_t>(weight - table->weights.begin());
    changed.push_back(is_text ? *table : as_samples(*table, index));
    if (!is_text)
      said->push_back("the text has no table for " + table->name + ": CPU SAMPLES has its " +
                      table->weights[index].name);
    table = &changed.back();
    rank_for_text(&changed.back());
  }
  Player player(profile, encoder);
  if (!player.run(tables, options.weight, bytes, error)) return false;
  for (const std::string& loss : player.losses()) said->push_back("lost: " + loss);
  std::string others;
  for (const PlainTable& table : profile.plain_tables)
    others += (others.empty() ? "" : ", ") + printable(table.title);
  if (options.table.empty() && !others.empty()) said->push_back("left out, without stacks: " + others);
  return true;
}

}  // namespace hprof::tool
