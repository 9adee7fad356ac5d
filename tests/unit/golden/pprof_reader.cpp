#include "tests/unit/golden/pprof_reader.h"

namespace hprof {

namespace {

struct Field {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;
  std::string bytes;
};

bool read_varint(const std::string& from, size_t* at, uint64_t* value) {
  *value = 0;
  for (uint32_t shift = 0; *at < from.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(from[(*at)++]);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// All fields of a message; false: it is cut short, or has a wire type that profiles do not have.
bool read_fields(const std::string& message, std::vector<Field>* fields) {
  for (size_t at = 0; at < message.size();) {
    uint64_t key = 0;
    Field field;
    if (!read_varint(message, &at, &key) || !read_varint(message, &at, &field.value)) return false;
    field.number = static_cast<uint32_t>(key >> 3);
    field.is_bytes = (key & 7) == 2;
    if (!field.is_bytes && (key & 7) != 0) return false;
    if (field.is_bytes) {
      if (field.value > message.size() - at) return false;
      field.bytes = message.substr(at, field.value);
      at += field.value;
    }
    fields->push_back(field);
  }
  return true;
}

bool read_packed(const std::string& bytes, std::vector<uint64_t>* values) {
  for (size_t at = 0; at < bytes.size();) {
    uint64_t value = 0;
    if (!read_varint(bytes, &at, &value)) return false;
    values->push_back(value);
  }
  return true;
}

using Numbers = std::map<uint32_t, uint64_t>;

class Reader {
 public:
  explicit Reader(PprofProfile* profile) : profile_(*profile) {}

  std::string read(const std::string& bytes) {
    std::vector<Field> fields;
    if (!read_fields(bytes, &fields)) return "cut short";
    for (const Field& field : fields) {
      if (field.number == 6) strings_.push_back(field.bytes);
    }
    if (strings_.empty() || !strings_[0].empty()) return "the first string is not the empty one";
    for (const Field& field : fields) {
      if (field.number == 3 && !add(field.bytes, &mappings_)) return "a mapping is there twice";
      if (field.number == 5 && !add(field.bytes, &functions_)) return "a function is there twice";
      if (field.number == 4 && !location(field.bytes)) return "a location is wrong or there twice";
    }
    for (const Field& field : fields) {
      if (!top(field)) return "field " + std::to_string(field.number) + " is wrong";
    }
    for (const auto& mapping : mappings_) profile_.mapping += string(mapping.second.at(5));
    for (const PprofProfile::Sample& sample : profile_.samples) {
      if (sample.values.size() != profile_.types.size()) return "a sample has not a value of each type";
    }
    return "";
  }

 private:
  static bool numbers(const std::string& bytes, Numbers* to) {
    std::vector<Field> fields;
    if (!read_fields(bytes, &fields)) return false;
    for (const Field& field : fields) (*to)[field.number] = field.value;
    return true;
  }
  static bool add(const std::string& bytes, std::map<uint64_t, Numbers>* to) {
    Numbers found;
    return numbers(bytes, &found) && found[1] != 0 && to->emplace(found[1], found).second;
  }
  std::string string(uint64_t index) const { return index < strings_.size() ? strings_[index] : "<missing>"; }

  bool location(const std::string& bytes) {
    std::vector<Field> fields;
    if (!read_fields(bytes, &fields)) return false;
    uint64_t id = 0, mapping = 0;
    Numbers line;
    for (const Field& field : fields) {
      if (field.number == 1) id = field.value;
      if (field.number == 2) mapping = field.value;
      if (field.number == 4 && !numbers(field.bytes, &line)) return false;
    }
    return id != 0 && mappings_.count(mapping) == 1 && lines_.emplace(id, line).second;
  }

  bool type(const std::string& bytes, PprofProfile::Type* to) const {
    Numbers found;
    if (!numbers(bytes, &found)) return false;
    *to = {string(found[1]), string(found[2])};
    return true;
  }

  bool top(const Field& field) {
    switch (field.number) {
      case 1:
        profile_.types.emplace_back();
        return type(field.bytes, &profile_.types.back());
      case 2:
        return sample(field.bytes);
      case 9:
        profile_.time_ns = field.value;
        break;
      case 10:
        profile_.duration_ns = field.value;
        break;
      case 11:
        return type(field.bytes, &profile_.period_type);
      case 12:
        profile_.period = field.value;
        break;
      case 13:
        profile_.comments.push_back(string(field.value));
        break;
      case 14:
        profile_.default_type = string(field.value);
        break;
      default:
        return field.number >= 3 && field.number <= 6;
    }
    return true;
  }

  bool sample(const std::string& bytes) {
    std::vector<Field> fields;
    std::vector<uint64_t> places, values;
    PprofProfile::Sample made;
    if (!read_fields(bytes, &fields)) return false;
    for (const Field& field : fields) {
      if (field.number == 1 && !read_packed(field.bytes, &places)) return false;
      if (field.number == 2 && !read_packed(field.bytes, &values)) return false;
      Numbers label;
      if (field.number == 3 && !numbers(field.bytes, &label)) return false;
      if (field.number == 3)
        made.labels[string(label[1])] =
            label[4] == 0 ? string(label[2]) : std::to_string(label[3]) + " " + string(label[4]);
    }
    for (const uint64_t place : places) {
      auto line = lines_.find(place);
      if (line == lines_.end()) return false;
      auto function = functions_.find(line->second[1]);
      if (function == functions_.end()) return false;
      made.stack.push_back(string(function->second[2]) + " " + string(function->second[4]) + ":" +
                           std::to_string(line->second[2]));
    }
    for (const uint64_t value : values) made.values.push_back(static_cast<int64_t>(value));
    profile_.samples.push_back(made);
    return true;
  }

  PprofProfile& profile_;
  std::vector<std::string> strings_;
  std::map<uint64_t, Numbers> mappings_, functions_, lines_;
};

}  // namespace

std::string PprofProfile::read(const std::string& bytes) { return Reader(this).read(bytes); }

std::string PprofProfile::text() const {
  std::string made = "time " + std::to_string(time_ns) + " duration " + std::to_string(duration_ns) + "\n";
  made += "period " + std::to_string(period) + " " + period_type.type + "/" + period_type.unit + "\n";
  made += "default " + default_type + "\nmapping " + mapping + "\n";
  for (const std::string& comment : comments) made += "comment " + comment + "\n";
  for (const Type& type : types) made += "type " + type.type + "/" + type.unit + "\n";
  for (const Sample& sample : samples) {
    made += "sample";
    for (const int64_t value : sample.values) made += " " + std::to_string(value);
    for (const auto& label : sample.labels) made += " " + label.first + "=" + label.second;
    made += "\n";
    for (const std::string& frame : sample.stack) made += "  " + frame + "\n";
  }
  return made;
}

std::map<std::string, int64_t> PprofProfile::self(size_t type) const {
  std::map<std::string, int64_t> sums;
  for (const Sample& sample : samples) {
    const std::string frame = sample.stack.empty() ? "" : sample.stack[0];
    sums[frame.substr(0, frame.find(' '))] += sample.values[type];
  }
  return sums;
}

}  // namespace hprof
