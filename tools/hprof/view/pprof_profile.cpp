// Reads pprof's profile.proto, of `go tool pprof` or format=pprof. Fields may come in any order, so all are
// read before a name is looked up.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "tools/format/protobuf.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/sample_types.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

using namespace protobuf;

// Field numbers of profile.proto: of Profile,
constexpr uint32_t kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5, kText = 6, kTime = 9,
                   kDuration = 10, kPeriodType = 11, kPeriod = 12, kComment = 13, kDefaultType = 14;
// of ValueType, Sample, Label, Location, Line, Function.
constexpr uint32_t kType = 1, kUnit = 2;
constexpr uint32_t kLocationIds = 1, kValues = 2, kLabel = 3;
constexpr uint32_t kKey = 1, kString = 2;
constexpr uint32_t kId = 1, kAddress = 3, kLine = 4;
constexpr uint32_t kLineFunction = 1, kLineNumber = 2;
constexpr uint32_t kName = 2, kFile = 4;

constexpr uint64_t kNsPerMs = 1000000;

class PprofReader {
 public:
  PprofReader(Input& in, Profile* profile) : in_(in), profile_(*profile) {}

  bool run(std::string* error) {
    const bool good = read_fields() && make_types() && make_rows() && take_comments();
    if (!good) *error = "byte " + std::to_string(at_) + ": " + problem_;
    return good;
  }

 private:
  struct Type {
    uint64_t name = 0, unit = 0;
  };
  struct Label {
    uint64_t key = 0, text = 0;
  };
  struct Sample {
    uint64_t offset = 0;  // position in the file
    std::vector<uint64_t> locations, values;
    std::vector<Label> labels;
  };
  struct Line {
    uint64_t function = 0, number = 0;
  };
  struct Location {
    uint64_t offset = 0, address = 0;
    std::vector<Line> lines;  // innermost first: what was inlined
  };
  struct Function {
    uint64_t name = 0, file = 0;
  };

  bool fail(const std::string& problem) {
    problem_ = problem;
    return false;
  }

  bool varint(uint64_t* value) {
    *value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = in_.u1();
      if (!in_.ok()) return fail("the file ends within a number");
      *value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return fail("expected a number of at most 10 bytes");
  }

  bool read_fields() {
    while (!in_.at_end()) {
      at_ = in_.offset();
      uint64_t key = 0, value = 0;
      if (!varint(&key)) return false;
      const auto number = static_cast<uint32_t>(key >> 3), wire = static_cast<uint32_t>(key & 7);
      if (number == 0 || (wire != kVarint && wire != kBytes && wire != kFixed64 && wire != kFixed32))
        return fail(
            "expected a field of pprof's profile.proto; use a report of hprof, a pprof profile or folded "
            "stacks");
      if (wire == kFixed64 || wire == kFixed32) {
        if (!in_.skip(wire == kFixed64 ? 8 : 4)) return fail("the file ends within a field");
        continue;
      }
      if (!varint(&value)) return false;
      std::string bytes;
      if (wire == kBytes && !in_.text(value, &bytes))
        return fail("the file ends within a field of " + std::to_string(value) + " bytes");
      if (!keep(number, wire, value, std::move(bytes)))
        return problem_.empty() ? fail("field " + std::to_string(number) + " of the profile is broken")
                                : false;
    }
    expansion_.reach(in_.offset());
    if (texts_.empty()) return fail("the file ends without a table of strings: it is not a pprof profile");
    return true;
  }

  bool keep(uint32_t number, uint32_t wire, uint64_t value, std::string bytes) {
    Field field;
    field.number = number;
    field.wire = wire;
    field.value = value;
    field.text = bytes;
    const bool is_message = number == kSampleType || number == kPeriodType || number == kSample ||
                            number == kLocation || number == kFunction || number == kText;
    if (is_message && wire != kBytes) return false;
    switch (number) {
      case kSampleType: {
        types_.emplace_back();
        return pair(bytes, kType, &types_.back().name, kUnit, &types_.back().unit);
      }
      case kPeriodType:
        return pair(bytes, kType, &period_type_.name, kUnit, &period_type_.unit);
      case kSample:
        return keep_sample(bytes);
      case kLocation:
        return keep_location(bytes);
      case kFunction:
        return keep_function(bytes);
      case kText:
        texts_.push_back(std::move(bytes));
        return true;
      case kComment:
        return Message::numbers(field, &comments_);
      case kTime:
        profile_.created_ms = value / kNsPerMs;
        return wire == kVarint;
      case kDuration:
        profile_.duration_ns = value;
        return wire == kVarint;
      case kPeriod:
        period_ = value;
        return wire == kVarint;
      case kDefaultType:
        default_ = value;
        return wire == kVarint;
      default:
        return true;
    }
  }

  // Reads two number fields of a message, and skips the others.
  static bool pair(std::string_view bytes, uint32_t one, uint64_t* first, uint32_t other, uint64_t* second) {
    Message message(bytes);
    Field field;
    while (message.next(&field)) {
      if (field.number == one) *first = field.value;
      if (field.number == other) *second = field.value;
    }
    return message.ok();
  }

  bool keep_sample(std::string_view bytes) {
    Sample sample;
    sample.offset = at_;
    Message message(bytes);
    Field field;
    while (message.next(&field)) {
      bool good = true;
      if (field.number == kLocationIds) good = Message::numbers(field, &sample.locations);
      if (field.number == kValues) good = Message::numbers(field, &sample.values);
      if (field.number == kLabel) {
        Label label;
        good = pair(field.text, kKey, &label.key, kString, &label.text);
        if (label.text != 0)
          sample.labels.push_back(label);
        else
          number_keys_.insert(label.key);
      }
      if (!good) return false;
    }
    samples_.push_back(std::move(sample));
    return message.ok();
  }

  bool keep_location(std::string_view bytes) {
    Location location;
    location.offset = at_;
    uint64_t id = 0;
    Message message(bytes);
    Field field;
    while (message.next(&field)) {
      if (field.number == kId) id = field.value;
      if (field.number == kAddress) location.address = field.value;
      if (field.number != kLine) continue;
      Line line;
      if (!pair(field.text, kLineFunction, &line.function, kLineNumber, &line.number)) return false;
      location.lines.push_back(line);
    }
    if (!message.ok()) return false;
    if (id == 0 || !locations_.emplace(id, std::move(location)).second)
      return fail("expected a location with a number of its own, found " + std::to_string(id));
    return true;
  }

  bool keep_function(std::string_view bytes) {
    Function function;
    uint64_t id = 0;
    Message message(bytes);
    Field field;
    while (message.next(&field)) {
      if (field.number == kId) id = field.value;
      if (field.number == kName) function.name = field.value;
      if (field.number == kFile) function.file = field.value;
    }
    if (!message.ok()) return false;
    if (id == 0 || !functions_.emplace(id, function).second)
      return fail("expected a function with a number of its own, found " + std::to_string(id));
    return true;
  }

  const std::string& text(uint64_t index) const {
    static const std::string kNone;
    return index < texts_.size() ? texts_[index] : kNone;
  }

  // The table is a known one if its first known weight is.
  bool make_types() {
    at_ = 0;
    // A report without a table of stacks is a message of its time and notes.
    const bool is_empty = profile_.created_ms != 0 && samples_.empty();
    if (types_.empty() && !is_empty) return fail("the profile has no sample type");
    table_ = {"pprof", "PPROF", {}, {}};
    ProfileTable known;
    for (const Type& type : types_) {
      if (text(type.name).empty()) return fail("expected a name of each sample type");
      if (!take(text(type.name).size())) return false;
      if (known.name.empty()) known = table_with_type(text(type.name));
    }
    // Of CPU TIME are calls and times alone; collectors that count more have these, too.
    const auto is_other = [&](const Type& type) { return table_with_type(text(type.name)).name.empty(); };
    if (known.name == times_table().name && std::any_of(types_.begin(), types_.end(), is_other)) known = {};
    if (known.name == times_table().name && has_numbers(kFromLabel) && has_numbers(kToLabel))
      known = latency_table();
    if (!known.name.empty()) {
      table_.name = known.name;
      table_.title = known.title;
      table_.leaf = known.leaf;
    }
    bool chosen = false;
    for (const Type& type : types_) {
      const TypedWeight typed =
          weight_of_type(text(type.name), text(type.unit), known, {text(period_type_.unit), period_});
      scales_.push_back(typed.scale);
      table_.weights.push_back(typed.weight);
      table_.weights.back().preferred = !chosen && default_ != 0 && text(type.name) == text(default_);
      chosen = chosen || table_.weights.back().preferred;
    }
    // Readers of pprof show the last weight.
    if (!chosen && !types_.empty()) table_.weights.back().preferred = true;
    profile_.about.emplace_back("format", "pprof");
    return true;
  }

  // Whether samples have a number as that label.
  bool has_numbers(const char* label) const {
    return std::any_of(number_keys_.begin(), number_keys_.end(),
                       [&](uint64_t key) { return text(key) == label; });
  }

  bool take(uint64_t bytes) { return expansion_.take(bytes) || fail(Expansion::kProblem); }

  bool add_frames(uint64_t id, std::vector<ProfileFrame>* frames) {
    const auto location = locations_.find(id);
    if (location == locations_.end())
      return fail("the sample refers to location " + std::to_string(id) + ", which is not in the file");
    for (const Line& line : location->second.lines) {
      const auto function = functions_.find(line.function);
      if (function == functions_.end()) {
        at_ = location->second.offset;
        return fail("the location refers to function " + std::to_string(line.function) +
                    ", which is not in the file");
      }
      ProfileFrame frame = frame_of_name(text(function->second.name));
      frame.source = text(function->second.file);
      frame.line = static_cast<int64_t>(std::min<uint64_t>(line.number, INT32_MAX));
      if (!take(Expansion::bytes_of(frame))) return false;
      frames->push_back(std::move(frame));
    }
    if (!location->second.lines.empty()) return true;
    frames->push_back(frame_of_address(location->second.address));
    return take(Expansion::bytes_of(frames->back()));
  }

  // The trace of a sample, shared by samples of the same stack and thread. 0: it cannot be made.
  uint64_t trace_of(const Sample& sample, uint64_t thread) {
    auto key = sample.locations;
    key.push_back(thread);
    const auto [found, added] = traces_.emplace(std::move(key), traces_.size() + 1);
    const uint64_t trace = found->second;
    if (!added) return trace;
    std::vector<ProfileFrame>& frames = profile_.traces[trace];
    for (const uint64_t id : sample.locations) {
      if (!add_frames(id, &frames)) return 0;
    }
    if (!take(text(thread).size())) return 0;
    if (thread != 0) profile_.threads[trace] = text(thread);
    take_off_marks(trace, &profile_);
    return trace;
  }

  bool make_rows() {
    for (const Sample& sample : samples_) {
      at_ = sample.offset;
      if (sample.values.size() != types_.size())
        return fail("expected " + std::to_string(types_.size()) + " values in the sample, found " +
                    std::to_string(sample.values.size()));
      ProfileRow row{0, sample.values};
      uint64_t thread = 0;
      for (const Label& label : sample.labels) {
        const std::string& key = text(label.key);
        if (key == "thread") thread = label.text;
        if (key == "class" || key == "monitor") row.name = text(label.text);
        if (key == "label") row.label = text(label.text);
      }
      row.trace = trace_of(sample, thread);
      if (row.trace == 0) return false;
      for (size_t i = 0; i < row.values.size(); ++i) {
        if (row.values[i] > INT64_MAX)
          return fail("a negative value: this is a difference of profiles; hprof diff takes the two");
        if (row.values[i] > UINT64_MAX / scales_[i]) return fail("a value that is too large");
        row.values[i] *= scales_[i];
      }
      if (!take(row.name.size() + row.label.size())) return false;
      if (!row.name.empty()) table_.leaf = true;
      table_.rows.push_back(std::move(row));
    }
    if (!table_.rows.empty()) profile_.tables.push_back(std::move(table_));
    return true;
  }

  // A comment may say that the profile is a window, whose time the profile has.
  bool take_comments() {
    ReportEnds ends(&profile_);
    for (const uint64_t comment : comments_) {
      if (!take(text(comment).size())) return false;
      if (!ends.take(text(comment))) profile_.notes.push_back(text(comment));
    }
    for (ProfileWindow& window : profile_.windows) {
      window.begin_ms = profile_.created_ms;
      window.end_ms = profile_.created_ms + std::max<uint64_t>(profile_.duration_ns / kNsPerMs, 1);
    }
    profile_.is_stretch = profile_.duration_ns != 0 && !ends.has_others();
    return true;
  }

  Input& in_;
  Profile& profile_;
  Expansion expansion_;
  uint64_t at_ = 0;  // position, for messages
  std::string problem_;
  std::vector<std::string> texts_;
  std::vector<Type> types_;
  std::vector<uint64_t> scales_;  // by type: how many of the profile's units one of its own is
  std::vector<uint64_t> comments_;
  std::set<uint64_t> number_keys_;  // of labels that are numbers
  std::vector<Sample> samples_;
  std::unordered_map<uint64_t, Location> locations_;
  std::unordered_map<uint64_t, Function> functions_;
  std::map<std::vector<uint64_t>, uint64_t> traces_;  // by locations and thread
  uint64_t default_ = 0, period_ = 0;
  Type period_type_;
  ProfileTable table_;
};

}  // namespace

bool read_pprof_profile(Input& in, Profile* profile, std::string* error) {
  return PprofReader(in, profile).run(error);
}

}  // namespace hprof::tool
