// Reads only those pieces of the dump that may contain the objects.
#include "tools/heap/read/object_values.h"

#include <algorithm>

#include "tools/heap/read/object_reader.h"

namespace hprof::tool {

namespace {

class ValueReader : public HeapVisitor {
 public:
  ValueReader(const Snapshot& snapshot, const IdMap<std::vector<size_t>>& wanted, size_t most,
              const std::vector<uint64_t>& first, std::vector<ObjectValues>& found)
      : classes_(snapshot.outline.classes), wanted_(wanted), most_(most), first_(first), found_(found) {}

  void on_class(const ClassRecord& record) override {
    ObjectValues values;
    values.class_index = classes_.of_mirrors();
    put(record.id, values, "", 0);
  }
  void on_instance(const InstanceRecord& record, Input& in) override {
    if (wanted_.count(record.id) == 0) return;
    ObjectValues values;
    values.class_index = classes_.known(record.class_id);
    read(in, record.id, record.byte_count, values);
  }
  void on_array(const ArrayRecord& record, Input& in) override {
    if (wanted_.count(record.id) == 0) return;
    ObjectValues values;
    values.class_index = classes_.of_array(record);
    values.length = record.length;
    values.element = record.type;
    read(in, record.id, uint64_t{record.length} * width_of(record.type, in.id_size()), values);
  }

 private:
  uint64_t first(size_t place) const { return first_.empty() ? 0 : first_[place]; }
  void read(Input& in, uint64_t id, uint64_t size, const ObjectValues& values) {
    uint64_t end = 0;
    for (size_t place : wanted_.find(id)->second) end = std::max(end, std::min(first(place), size) + most_);
    std::string bytes;
    in.text(std::min(size, end), &bytes);
    put(id, values, bytes, size);
  }
  // The first record of an id is the object.
  void put(uint64_t id, const ObjectValues& values, const std::string& bytes, uint64_t size) {
    auto places = wanted_.find(id);
    if (places == wanted_.end()) return;
    for (size_t place : places->second) {
      ObjectValues& to = found_[place];
      if (to.class_index != kNoClass) continue;
      uint32_t object = to.object;
      to = values;
      to.object = object;
      to.first = std::min<uint64_t>(first(place), bytes.size());
      const uint8_t* from = reinterpret_cast<const uint8_t*>(bytes.data()) + to.first;
      to.bytes.assign(from, from + std::min<uint64_t>(bytes.size() - to.first, most_));
      to.whole = to.bytes.size() == size;
    }
  }

  const HeapClasses& classes_;
  const IdMap<std::vector<size_t>>& wanted_;
  size_t most_;
  const std::vector<uint64_t>& first_;
  std::vector<ObjectValues>& found_;
};

void append_utf8(uint32_t c, std::string* text) {
  if (c < 0x80) {
    *text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    *text += static_cast<char>(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      *text += static_cast<char>(0xe0 | c >> 12);
    } else {
      *text += static_cast<char>(0xf0 | c >> 18);
      *text += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    }
    *text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
  }
  *text += static_cast<char>(0x80 | (c & 0x3f));
}

}  // namespace

std::string utf8_of(const std::vector<uint16_t>& units) {
  std::string text;
  for (size_t i = 0; i < units.size(); ++i) {
    uint32_t c = units[i];
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < units.size() && units[i + 1] >= 0xdc00 &&
        units[i + 1] < 0xe000) {
      c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00u);
    } else if (c >= 0xd800 && c < 0xe000) {
      c = 0xfffd;
    }
    append_utf8(c, &text);
  }
  return text;
}

std::vector<ObjectValues> ObjectFetcher::fetch(const std::vector<uint32_t>& wanted, size_t most,
                                               const std::vector<uint64_t>& first) const {
  std::vector<ObjectValues> found(wanted.size());
  IdMap<std::vector<size_t>> ids;
  std::vector<uint32_t> sorted;
  for (size_t i = 0; i < wanted.size(); ++i) {
    found[i].object = wanted[i];
    if (wanted[i] == kNoObject || snapshot_.is_stack(wanted[i])) continue;
    ids[snapshot_.numbers.id_of(wanted[i])].push_back(i);
    sorted.push_back(wanted[i]);
  }
  if (sorted.empty()) return found;
  std::sort(sorted.begin(), sorted.end());
  read_by_all(snapshot_, ValueReader(snapshot_, ids, most, first, found), [&](const DumpPiece& piece) {
    auto next = std::lower_bound(sorted.begin(), sorted.end(), piece.lowest);
    return next != sorted.end() && *next <= piece.highest;
  });
  return found;
}

bool ObjectFetcher::number(const ObjectValues& values, const std::string& name, uint64_t* value) const {
  if (values.class_index == kNoClass || values.element != 0) return false;
  const HeapClasses& classes = snapshot_.outline.classes;
  bool found = false;
  for (const InstanceField& field : classes.instance_fields(values.class_index, values.bytes.size())) {
    if (snapshot_.outline.names.string(field.name) != name) continue;
    *value = big_endian(&values.bytes[field.offset], width_of(field.type, classes.id_size));
    found = true;
  }
  return found;
}

uint32_t ObjectFetcher::target(const ObjectValues& values, const std::string& name) const {
  uint64_t id = 0;
  number(values, name, &id);
  return id == 0 ? kNoObject : snapshot_.numbers.number_of(id);
}

std::string ObjectFetcher::how(const ObjectValues& from, uint64_t id) const {
  if (from.class_index == kNoClass) return "";
  const HeapClasses& classes = snapshot_.outline.classes;
  uint32_t mirror = snapshot_.class_of_mirror(from.object);
  if (mirror != kNoClass) return how_class(mirror, id);
  unsigned width = classes.id_size;
  if (from.element == HPROF_TYPE_OBJECT) {
    for (uint32_t i = 0; i < from.bytes.size() / width; ++i) {
      if (big_endian(&from.bytes[size_t{i} * width], width) == id) return "[" + std::to_string(i) + "]";
    }
  } else if (from.element == 0) {
    for (const InstanceField& field : classes.instance_fields(from.class_index, from.bytes.size())) {
      if (field.type != HPROF_TYPE_OBJECT || big_endian(&from.bytes[field.offset], width) != id) continue;
      return "." + std::string(snapshot_.outline.names.string(field.name));
    }
  }
  if (classes.list[from.class_index].id == id) return "its class";
  return from.whole ? "" : "[...]";
}

std::string ObjectFetcher::how_class(uint32_t index, uint64_t id) const {
  const HeapClass& of = snapshot_.outline.classes.list[index];
  for (const DumpedField& field : of.statics) {
    if (field.type == HPROF_TYPE_OBJECT && field.value == id) {
      return "static " + std::string(snapshot_.outline.names.string(field.name));
    }
  }
  if (of.loader == id) return "its class loader";
  if (of.super_id == id) return "its superclass";
  if (of.domain == id) return "its protection domain";
  if (of.signers == id) return "its signers";
  return "its constants";
}

std::string ObjectFetcher::decode(const ObjectValues& array, const ObjectValues& string, size_t most) const {
  uint64_t coder = 0, offset = 0, count = array.length;
  bool coded = number(string, "coder", &coder);
  bool part = number(string, "count", &count);  // up to Java 6 strings share arrays
  number(string, "offset", &offset);
  bool wide = array.element == HPROF_TYPE_CHAR || (coded && coder != 0);
  const BitArray& wide_arrays = snapshot_.objects.wide_arrays;
  if (!coded && !wide_arrays.empty() && array.object != kNoObject)
    wide = wide || wide_arrays.get(array.object);
  if (array.element != HPROF_TYPE_CHAR && array.element != HPROF_TYPE_BYTE) return "";
  unsigned width = wide ? 2 : 1;
  uint64_t there = array.bytes.size() / width;
  if (!part) {
    offset = 0;
    count = array.element == HPROF_TYPE_BYTE ? array.length / width : array.length;
  }
  offset -= std::min(offset, array.first / width);
  bool cut = count > most;
  std::vector<uint16_t> units;
  for (uint64_t i = offset; i < there && units.size() < std::min<uint64_t>(count, most); ++i) {
    const uint8_t* from = array.bytes.data() + i * width;
    // Latin-1; UTF-16 in byte[] has the VM's byte order, in char[] the dump's (big-endian).
    bool little = array.element == HPROF_TYPE_BYTE && !snapshot_.big_endian;
    unsigned unit = width == 1 ? from[0]
                    : little   ? from[0] | unsigned{from[1]} << 8
                               : unsigned{from[0]} << 8 | from[1];
    units.push_back(static_cast<uint16_t>(unit));
  }
  return utf8_of(units) + (cut ? "..." : "");
}

std::vector<std::string> ObjectFetcher::texts(const std::vector<uint32_t>& strings, size_t most) const {
  std::vector<ObjectValues> objects = fetch(strings, size_t{4} * most + 64);
  std::vector<uint32_t> arrays;
  std::vector<uint64_t> first;
  for (const ObjectValues& each : objects) {
    uint64_t offset = 0, count = 0;
    if (number(each, "count", &count)) number(each, "offset", &offset);
    arrays.push_back(each.element != 0 ? kNoObject : target(each, "value"));
    first.push_back(2 * offset);  // chars
  }
  std::vector<ObjectValues> values = fetch(arrays, size_t{4} * most + 64, first);
  std::vector<std::string> result;
  for (size_t i = 0; i < strings.size(); ++i) {
    const ObjectValues& array = objects[i].element != 0 ? objects[i] : values[i];
    result.push_back(array.class_index == kNoClass ? "" : decode(array, objects[i], most));
  }
  return result;
}

}  // namespace hprof::tool
