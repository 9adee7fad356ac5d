// Reads profiles of OpenTelemetry: one ExportProfilesServiceRequest or ProfilesData, as format=otlp and
// others write it. Profiles whose types are weights of one table become that table.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tools/format/protobuf.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/sample_types.h"

namespace hprof::tool {

namespace {

using namespace protobuf;

// Field numbers of opentelemetry/proto/profiles/v1development: of the request, ResourceProfiles,
// ScopeProfiles,
constexpr uint32_t kResourceProfiles = 1, kDictionary = 2;
constexpr uint32_t kResource = 1, kScopeProfiles = 2, kProfiles = 2;
// of ProfilesDictionary,
constexpr uint32_t kMappings = 1, kLocations = 2, kFunctions = 3, kStrings = 5, kAttributes = 6, kStacks = 7;
// of Profile, ValueType, Sample,
constexpr uint32_t kSampleType = 1, kSamples = 2, kTime = 3, kDuration = 4, kPeriodType = 5, kPeriod = 6;
constexpr uint32_t kType = 1, kUnit = 2;
constexpr uint32_t kStackIndex = 1, kAttributeIndices = 2, kValues = 4, kTimes = 5;
// of Resource, Mapping, Function, Location, Line, Stack, KeyValueAndUnit, AnyValue.
constexpr uint32_t kResourceAttributes = 1;
constexpr uint32_t kMappingBegin = 1, kMappingEnd = 2, kFileOffset = 3, kMappingFile = 4;
constexpr uint32_t kName = 1, kFile = 3;
constexpr uint32_t kMappingIndex = 1, kAddress = 2, kLines = 3, kLocationAttributes = 4;
constexpr uint32_t kLineFunction = 1, kLineNumber = 2;
constexpr uint32_t kLocationIndices = 1;
constexpr uint32_t kKey = 1, kValue = 2;
constexpr uint32_t kText = 1, kNumber = 3, kTextIndex = 8;

constexpr uint64_t kNsPerMs = 1000000;

// "com.acme.Shop.sell" of "void com.acme.Shop.sell(int, java.lang.String)"; other names as they are.
std::string_view without_signature(std::string_view name) {
  const size_t end = name.find('(');
  if (end == std::string_view::npos || name.back() != ')') return name;
  const size_t begin = name.rfind(' ', end);
  const std::string_view method =
      begin == std::string_view::npos ? std::string_view() : name.substr(begin + 1, end - begin - 1);
  return method.find('.') == std::string_view::npos ? name : method;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class OtlpProfile {
 public:
  OtlpProfile(Input& in, Profile* profile) : in_(in), profile_(*profile), numbers_(profile) {}

  bool run(std::string* error) {
    in_.text(kUnknownSize, &bytes_);
    expansion_.reach(bytes_.size());
    // The dictionary may come last.
    const bool good =
        each(bytes_, kDictionary, [&](std::string_view part) { return read_dictionary(part); }) &&
        each(bytes_, kResourceProfiles, [&](std::string_view resource) { return read_process(resource); }) &&
        each(bytes_, kResourceProfiles, [&](std::string_view resource) {
          process_ = pids_.size() > 1 ? processes_[resource_++] : std::string();
          return each(resource, kScopeProfiles, [&](std::string_view scope) {
            return each(scope, kProfiles, [&](std::string_view part) { return read_profile(part); });
          });
        });
    if (!good) {
      *error = "byte " + std::to_string(at_) + ": " + problem_;
      return false;
    }
    profile_.about.emplace_back("format", "OTLP");
    profile_.is_stretch = profile_.duration_ns != 0;
    name_other_times();
    for (Table& table : tables_) keep(std::move(table));
    return true;
  }

 private:
  struct Pair {
    uint64_t first = 0, second = 0;
  };
  struct Mapping {
    uint64_t begin = 0, end = 0, offset = 0, file = 0;
  };
  struct Location {
    uint64_t address = 0, mapping = 0;
    std::vector<uint64_t> attributes;
    std::vector<Pair> lines;  // function and number, innermost first: what was inlined
  };
  struct Attribute {
    uint64_t key = 0;
    std::string_view value;   // "": no text
    uint64_t text_index = 0;  // of the value among the strings, which may come later; 0: it is not there
  };
  struct Sample {
    uint64_t stack = 0, value = 0;
    std::vector<uint64_t> attributes;
  };
  struct Table {
    ProfileTable made, known;
    std::map<std::tuple<uint64_t, std::string, std::string>, size_t> rows;  // by trace, name and label
  };

  // Of the message that begins there.
  bool fail(std::string_view message, const std::string& problem) {
    at_ = static_cast<uint64_t>(message.data() - bytes_.data());
    problem_ = problem;
    return false;
  }

  // Calls visit(part) for each field of that number that is a message or text.
  template <class Visit>
  bool each(std::string_view message, uint32_t number, const Visit& visit) {
    return fields(message, [&](const Field& field) {
      return field.number != number || field.wire != kBytes || visit(field.text);
    });
  }
  template <class Visit>
  bool fields(std::string_view message, const Visit& visit) {
    Message parts(message);
    Field field;
    while (parts.next(&field))
      if (!visit(field))
        return !problem_.empty() ? false : fail(message, "a broken field of a profile of OTLP");
    return parts.ok() || fail(message, "the message ends within a field, or is not one of OTLP");
  }

  bool read_dictionary(std::string_view dictionary) {
    return fields(dictionary, [&](const Field& field) {
      if (field.wire != kBytes) return true;
      switch (field.number) {
        case kStrings:
          strings_.push_back(field.text);
          return true;
        case kMappings:
          return read_mapping(field.text, &mappings_.emplace_back());
        case kFunctions:
          return read_pair(field.text, kName, kFile, &functions_.emplace_back());
        case kLocations:
          return read_location(field.text, &locations_.emplace_back());
        case kStacks: {
          std::vector<uint64_t>& stack = stacks_.emplace_back();
          return fields(field.text, [&](const Field& part) {
            return part.number != kLocationIndices || Message::numbers(part, &stack);
          });
        }
        case kAttributes:
          return read_attribute(field.text, &attributes_.emplace_back());
        default:
          return true;
      }
    });
  }

  bool read_pair(std::string_view message, uint32_t first, uint32_t second, Pair* pair) {
    return fields(message, [&](const Field& part) {
      if (part.number == first) pair->first = part.value;
      if (part.number == second) pair->second = part.value;
      return true;
    });
  }

  bool read_mapping(std::string_view message, Mapping* mapping) {
    return fields(message, [&](const Field& part) {
      if (part.number == kMappingBegin) mapping->begin = part.value;
      if (part.number == kMappingEnd) mapping->end = part.value;
      if (part.number == kFileOffset) mapping->offset = part.value;
      if (part.number == kMappingFile) mapping->file = part.value;
      return true;
    });
  }

  // Whose profiles they are: a recording of a whole machine has a resource for each process.
  bool read_process(std::string_view resource_profiles) {
    uint64_t pid = 0;
    std::string name;
    const bool good = each(resource_profiles, kResource, [&](std::string_view resource) {
      return each(resource, kResourceAttributes, [&](std::string_view attribute) {
        std::string_view key, value;
        uint64_t number = 0;
        const bool read = fields(attribute, [&](const Field& part) {
          if (part.number == kKey) key = part.text;
          return part.number != kValue || fields(part.text, [&](const Field& field) {
                   if (field.number == kText) value = field.text;
                   if (field.number == kNumber) number = field.value;
                   return true;
                 });
        });
        if (key == "process.pid") pid = number;
        if (key == "process.executable.name" || (name.empty() && key == "process.executable.path"))
          name = last_part(value);
        return read;
      });
    });
    pids_.insert(pid);
    processes_.push_back("[" + (name.empty() ? "process" : name) + ":" + std::to_string(pid) + "]");
    return good;
  }

  bool read_location(std::string_view message, Location* location) {
    return fields(message, [&](const Field& part) {
      if (part.number == kMappingIndex) location->mapping = part.value;
      if (part.number == kAddress) location->address = part.value;
      if (part.number == kLocationAttributes) return Message::numbers(part, &location->attributes);
      return part.number != kLines ||
             read_pair(part.text, kLineFunction, kLineNumber, &location->lines.emplace_back());
    });
  }

  bool read_attribute(std::string_view message, Attribute* attribute) {
    return fields(message, [&](const Field& part) {
      if (part.number == kKey) attribute->key = part.value;
      return part.number != kValue || fields(part.text, [&](const Field& value) {
               if (value.number == kText) attribute->value = value.text;
               if (value.number == kTextIndex) attribute->text_index = value.value;
               return true;
             });
    });
  }

  bool read_profile(std::string_view message) {
    Pair type, period_type;
    uint64_t time_ns = 0, duration_ns = 0, period = 0;
    std::vector<Sample> samples;
    const bool good = fields(message, [&](const Field& field) {
      if (field.number == kTime) time_ns = field.value;
      if (field.number == kDuration) duration_ns = field.value;
      if (field.number == kPeriod) period = field.value;
      if (field.number == kSampleType) return read_pair(field.text, kType, kUnit, &type);
      if (field.number == kPeriodType) return read_pair(field.text, kType, kUnit, &period_type);
      return field.number != kSamples || read_sample(field.text, &samples.emplace_back());
    });
    if (!good) return false;
    if (text(type.first).empty()) return fail(message, "expected a profile with a sample type");
    const uint64_t ms = time_ns / kNsPerMs;
    if (profile_.created_ms == 0 || (ms != 0 && ms < profile_.created_ms)) profile_.created_ms = ms;
    profile_.duration_ns = std::max(profile_.duration_ns, duration_ns);
    const std::string name(text(type.first)), unit(text(type.second));
    if (!take(message, name.size() + unit.size())) return false;
    Table& table = table_of(name, std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
                              return has_attribute(sample, kFromLabel) && has_attribute(sample, kToLabel);
                            }));
    const TypedWeight typed =
        weight_of_type(name, unit, table.known, {std::string(text(period_type.second)), period});
    std::vector<ProfileWeight>& weights = table.made.weights;
    size_t column = 0;
    while (column < weights.size() && weights[column].name != typed.weight.name) ++column;
    if (column == weights.size()) {
      weights.push_back(typed.weight);
      for (ProfileRow& row : table.made.rows) row.values.push_back(0);
    }
    return std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
      return add_row(message, sample, typed.scale, column, &table);
    });
  }

  // Values without times are one each; times without values count.
  bool read_sample(std::string_view message, Sample* sample) {
    std::vector<uint64_t> values;
    uint64_t times = 0;
    const bool good = fields(message, [&](const Field& part) {
      if (part.number == kStackIndex) sample->stack = part.value;
      if (part.number == kAttributeIndices) return Message::numbers(part, &sample->attributes);
      if (part.number == kTimes) times += part.wire == kBytes ? part.text.size() / 8 : 1;
      return part.number != kValues || Message::numbers(part, &values);
    });
    if (!good) return false;
    for (const uint64_t value : values) {
      if (value > INT64_MAX) return fail(message, "a negative value");
      sample->value = add_saturated(sample->value, value);
    }
    if (values.empty()) sample->value = times;
    return true;
  }

  // Of CPU TIME are calls and times alone; collectors that count more have these, too.
  void name_other_times() {
    const bool has_more = std::any_of(tables_.begin(), tables_.end(),
                                      [](const Table& table) { return table.known.name.empty(); });
    for (Table& table : tables_) {
      if (!has_more || table.known.name != times_table().name) continue;
      table.made.name = "otlp";
      table.made.title = "OTLP";
      for (ProfileWeight& weight : table.made.weights) weight.title = weight.name;
    }
  }

  bool take(std::string_view message, uint64_t bytes) {
    return expansion_.take(bytes) || fail(message, Expansion::kProblem);
  }

  bool has_attribute(const Sample& sample, const char* key) const {
    return std::any_of(sample.attributes.begin(), sample.attributes.end(), [&](uint64_t index) {
      return index < attributes_.size() && text(attributes_[static_cast<size_t>(index)].key) == key;
    });
  }

  // has_bounds: samples have those of a class of durations.
  Table& table_of(const std::string& type, bool has_bounds) {
    ProfileTable known = table_with_type(type);
    if (has_bounds && known.name == times_table().name) known = latency_table();
    const std::string& name = known.name.empty() ? type : known.name;
    const auto [place, fresh] = places_.try_emplace(name, tables_.size());
    if (!fresh) return tables_[place->second];
    Table& table = tables_.emplace_back();
    table.known = known;
    table.made.name = name;
    table.made.title = known.name.empty() ? type : known.title;
    table.made.leaf = known.leaf;
    return table;
  }

  bool add_row(std::string_view profile, const Sample& sample, uint64_t scale, size_t column, Table* table) {
    if (stacks_.empty())
      return fail(profile, "no table of stacks: an older form of OTLP, or a file cut short");
    if (sample.stack >= stacks_.size())
      return fail(profile,
                  "a sample of stack " + std::to_string(sample.stack) + ", which is not in the file");
    std::string_view name, label, thread;  // copied once, however often an attribute is said
    for (const uint64_t index : sample.attributes) {
      if (index >= attributes_.size())
        return fail(profile,
                    "a sample with attribute " + std::to_string(index) + ", which is not in the file");
      const Attribute& attribute = attributes_[static_cast<size_t>(index)];
      const std::string_view key = text(attribute.key);
      const std::string_view value = value_of(attribute);
      if (key == "thread.name") thread = value;
      if (key == "class" || key == "monitor") name = value;
      if (key == "label") label = value;
    }
    ProfileRow row;
    if (!take(profile, name.size() + label.size() + thread.size())) return false;
    row.name = name;
    row.label = label;
    if (!trace_of(profile, sample.stack, std::string(thread), &row.trace)) return false;
    const auto [place, fresh] =
        table->rows.try_emplace({row.trace, row.name, row.label}, table->made.rows.size());
    if (fresh) {
      row.values.resize(table->made.weights.size());
      table->made.leaf = table->made.leaf || !row.name.empty();
      table->made.rows.push_back(std::move(row));
    }
    uint64_t& value = table->made.rows[place->second].values[column];
    value = add_saturated(value, sample.value > UINT64_MAX / scale ? UINT64_MAX : sample.value * scale);
    return true;
  }

  bool trace_of(std::string_view profile, uint64_t stack, const std::string& thread, uint64_t* trace) {
    const auto [place, fresh] = traces_.try_emplace({stack, thread, process_}, 0);
    *trace = place->second;
    if (!fresh) return true;
    std::vector<ProfileFrame> frames;
    for (const uint64_t index : stacks_[static_cast<size_t>(stack)]) {
      if (!add_frames(index < locations_.size() ? locations_[static_cast<size_t>(index)] : Location(),
                      &frames))
        return fail(profile, Expansion::kProblem);
    }
    if (!process_.empty()) {
      ProfileFrame frame;
      frame.method = process_;
      if (!take(profile, Expansion::bytes_of(frame))) return false;
      frames.push_back(std::move(frame));
    }
    *trace = place->second = numbers_.number_of(std::move(frames), thread, false);
    take_off_marks(*trace, &profile_);
    return true;
  }

  bool add_frames(const Location& location, std::vector<ProfileFrame>* frames) {
    const std::string_view type = type_of(location);
    for (const Pair& line : location.lines) {
      const Pair function =
          line.first < functions_.size() ? functions_[static_cast<size_t>(line.first)] : Pair();
      ProfileFrame frame = frame_of(text(function.first), type);
      frame.source = text(function.second);
      frame.line = static_cast<int64_t>(std::min<uint64_t>(line.second, INT32_MAX));
      if (!expansion_.take(Expansion::bytes_of(frame))) return false;
      frames->push_back(std::move(frame));
    }
    if (!location.lines.empty()) return true;
    frames->push_back(frame_without_name(location, type));
    return expansion_.take(Expansion::bytes_of(frames->back()));
  }

  // "jvm", "native", "kernel"; "": it has none.
  std::string_view type_of(const Location& location) const {
    for (const uint64_t index : location.attributes) {
      if (index >= attributes_.size()) continue;
      const Attribute& attribute = attributes_[static_cast<size_t>(index)];
      if (text(attribute.key) == "profile.frame.type") return value_of(attribute);
    }
    return {};
  }

  static ProfileFrame frame_of(std::string_view name, std::string_view type) {
    if (type == "jvm") return frame_of_name(without_signature(name));
    if (type != "native" && type != "kernel") return frame_of_name(name);
    ProfileFrame frame;
    frame.method = name;
    return frame;
  }

  // "[libc.so.6+0x1234]": the place in the file, which others find in its symbols.
  ProfileFrame frame_without_name(const Location& location, std::string_view type) const {
    const Mapping mapping =
        location.mapping < mappings_.size() ? mappings_[static_cast<size_t>(location.mapping)] : Mapping();
    const std::string_view file = last_part(text(mapping.file));
    uint64_t address = location.address;
    // Others write addresses of the process, and some places in the file.
    if (address >= mapping.begin && address < mapping.end) address = address - mapping.begin + mapping.offset;
    ProfileFrame frame = frame_of_address(address);
    if (!file.empty())
      frame.method = "[" + std::string(file) + "+" + frame.method + "]";
    else if (location.address == 0 && !type.empty())
      frame.method = "[" + std::string(type) + "]";
    return frame;
  }

  std::string_view value_of(const Attribute& attribute) const {
    return attribute.text_index != 0 ? text(attribute.text_index) : attribute.value;
  }

  std::string_view text(uint64_t index) const {
    return index < strings_.size() ? strings_[static_cast<size_t>(index)] : std::string_view();
  }

  void keep(Table table) {
    if (table.made.rows.empty()) return;
    // The order of the weights is that of the profiles; the preferred one that of the table.
    size_t preferred = table.made.weights.size() - 1;
    for (size_t i = 0; i < table.made.weights.size(); ++i)
      for (const ProfileWeight& same : table.known.weights)
        if (same.preferred && same.name == table.made.weights[i].name) preferred = i;
    table.made.weights[preferred].preferred = true;
    profile_.tables.push_back(std::move(table.made));
  }

  Input& in_;
  Profile& profile_;
  TraceTable numbers_;
  std::string bytes_;  // of the file; what follows refers to it
  uint64_t at_ = 0;    // position, for messages
  std::string problem_;
  std::vector<std::string_view> strings_;
  std::vector<Pair> functions_;  // name and file
  std::vector<Location> locations_;
  std::vector<std::vector<uint64_t>> stacks_;
  std::vector<Attribute> attributes_;
  std::vector<Table> tables_;
  std::map<std::string, size_t> places_;  // in tables_, by name
  Expansion expansion_;
  std::vector<Mapping> mappings_;
  std::set<uint64_t> pids_;
  std::vector<std::string> processes_;  // "[java:4711]", of each resource
  size_t resource_ = 0;                 // the one whose profiles are read
  std::string process_;                 // of them; "": the file has those of one process only
  std::map<std::tuple<uint64_t, std::string, std::string>, uint64_t> traces_;  // by stack, thread and process
};

}  // namespace

bool read_otlp_profile(Input& in, Profile* profile, std::string* error) {
  return OtlpProfile(in, profile).run(error);
}

}  // namespace hprof::tool
