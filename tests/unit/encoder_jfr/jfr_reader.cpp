#include "tests/unit/encoder_jfr/jfr_reader.h"

#include <set>
#include <stdexcept>

namespace hprof {

namespace {

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }
void check(bool holds, const std::string& what) {
  if (!holds) wrong(what);
}

void check_utf8(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at++]);
    const int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
    check(more >= 0 && first <= 0xf4, "no UTF-8");
    uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    for (int i = 0; i < more; i++) {
      check(at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80, "no UTF-8");
      code = code << 6 | (static_cast<uint8_t>(text[at++]) & 0x3fu);
    }
    check(code < 0xd800 || code > 0xdfff, "half a surrogate pair");
    check(more < 2 || code >= 0x800, "too many bytes of UTF-8");
  }
}

class Cursor {
 public:
  Cursor(const std::string& bytes, size_t begin, size_t end) : bytes_(bytes), at(begin), end(end) {
    check(begin <= end && end <= bytes.size(), "beyond the end of the file");
  }
  uint8_t byte() {
    check(at < end, "cut short");
    return static_cast<uint8_t>(bytes_[at++]);
  }
  uint64_t big(int width) {
    uint64_t v = 0;
    for (int i = 0; i < width; i++) v = v << 8 | byte();
    return v;
  }
  int64_t varint() {
    uint64_t v = 0;
    for (uint32_t i = 0; i < 9; i++) {
      const uint64_t b = byte();
      v |= (i < 8 ? b & 0x7f : b) << 7 * i;
      if (i < 8 && (b & 0x80) == 0) break;
    }
    return static_cast<int64_t>(v);
  }
  uint64_t count() {
    const int64_t v = varint();
    check(v >= 0 && static_cast<uint64_t>(v) <= bytes_.size(), "a count of " + std::to_string(v));
    return static_cast<uint64_t>(v);
  }
  bool string(std::string* text) {
    const uint8_t encoding = byte();
    text->clear();
    if (encoding == 0) return false;
    if (encoding == 1) return true;
    check(encoding == 3, "a string in encoding " + std::to_string(encoding));
    const size_t size = count();
    check(size != 0 && size <= end - at, "a string of " + std::to_string(size));
    *text = bytes_.substr(at, size);
    at += size;
    check_utf8(*text);
    return true;
  }
  std::string needed() {
    std::string text;
    check(string(&text), "a string that is absent");
    return text;
  }

 private:
  const std::string& bytes_;

 public:
  size_t at;
  const size_t end;
};

struct Field {
  std::string name;
  int64_t type;
  bool in_pool, is_array;
};
struct Type {
  std::string name, super;
  bool is_simple = false;
  std::vector<Field> fields;
};

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;
  std::string of(const std::string& key) const {
    const auto found = attributes.find(key);
    return found != attributes.end() ? found->second : "";
  }
};

class ChunkReader {
 public:
  ChunkReader(const std::string& bytes, size_t begin, JfrChunk* chunk)
      : bytes_(bytes), begin_(begin), chunk_(*chunk) {}

  // Returns the end of the chunk.
  size_t read() {
    Cursor head(bytes_, begin_, bytes_.size());
    check(head.big(4) == 0x464c5200 && head.big(2) == 2 && head.big(2) <= 1, "no chunk of JFR 2");
    const size_t size = head.big(8), pools = head.big(8), metadata = head.big(8);
    chunk_.start_ns = head.big(8);
    chunk_.duration_ns = head.big(8);
    chunk_.start_ticks = static_cast<int64_t>(head.big(8));
    check(head.big(8) == 1000000000, "ticks are no nanoseconds");
    check(head.big(4) == 1, "features");
    check(size <= bytes_.size() - begin_, "a chunk that is cut short");
    end_ = begin_ + size;
    // All events, one behind the other. The last two are the pools and the metadata.
    std::vector<size_t> starts;
    for (size_t at = begin_ + 68; at < end_;) {
      starts.push_back(at);
      Cursor event(bytes_, at, end_);
      const size_t event_size = event.count();
      check(event_size > event.at - at && event_size <= end_ - at, "the size of an event");
      at += event_size;
    }
    check(starts.size() >= 2 && starts[starts.size() - 2] == begin_ + pools &&
              starts.back() == begin_ + metadata,
          "the positions of pools and metadata");
    read_metadata(starts.back());
    read_pools(starts[starts.size() - 2]);
    for (size_t i = 0; i + 2 < starts.size(); i++) read_event(starts[i]);
    return end_;
  }

 private:
  Cursor event_at(size_t at, int64_t* type) {
    Cursor sized(bytes_, at, end_);
    const size_t size = sized.count();
    Cursor event(bytes_, sized.at, at + size);
    *type = event.varint();
    return event;
  }

  Element read_element(Cursor& from, const std::vector<std::string>& strings, std::set<size_t>* used) {
    const auto string = [&] {
      const size_t i = from.count();
      check(i < strings.size(), "a string of the metadata that is not there");
      used->insert(i);
      return strings[i];
    };
    Element element;
    element.name = string();
    for (size_t n = from.count(); n > 0; n--) {
      const std::string key = string();
      check(element.attributes.emplace(key, string()).second, "an attribute twice");
    }
    for (size_t n = from.count(); n > 0; n--) element.children.push_back(read_element(from, strings, used));
    return element;
  }

  void read_metadata(size_t at) {
    int64_t type;
    Cursor event = event_at(at, &type);
    check(type == 0, "the metadata's type");
    event.varint();
    check(event.varint() == 0, "the metadata's duration");
    chunk_.metadata = bytes_.substr(event.at, event.end - event.at);
    event.varint();
    std::vector<std::string> strings;
    std::set<std::string> different;
    for (size_t n = event.count(); n > 0; n--) {
      strings.push_back(event.needed());
      check(different.insert(strings.back()).second, "a string twice: " + strings.back());
    }
    std::set<size_t> used;
    const Element root = read_element(event, strings, &used);
    check(event.at == event.end, "bytes behind the metadata");
    check(used.size() == strings.size(), "strings that nothing uses");
    check(root.name == "root" && root.children.size() == 2 && root.children[0].name == "metadata" &&
              root.children[1].name == "region",
          "the root of the metadata");
    for (const Element& each : root.children[0].children) add_type(each);
    for (const auto& [id, each] : types_)
      for (const Field& field : each.fields)
        check(types_.count(field.type) != 0, each.name + "." + field.name + " has no type");
    for (const Element& each : root.children[0].children) add_annotations(each);
  }

  void add_type(const Element& element) {
    check(element.name == "class", "a class of the metadata");
    Type type;
    type.name = element.of("name");
    type.super = element.of("superType");
    type.is_simple = element.of("simpleType") == "true";
    for (const Element& each : element.children) {
      if (each.name != "field") continue;
      check(!each.of("name").empty(), "a field without a name");
      type.fields.push_back({each.of("name"), std::stol(each.of("class")), each.of("constantPool") == "true",
                             each.of("dimension") == "1"});
    }
    check(!type.is_simple || type.fields.size() == 1, type.name + " is not simple");
    const int64_t id = std::stol(element.of("id"));
    check(id > 1 && types_.emplace(id, type).second, "type " + std::to_string(id) + " twice");
    for (const auto& [other, known] : types_)
      check(other == id || known.name != type.name, type.name + " twice");
  }

  void add_annotations(const Element& element) {
    const auto add = [&](const std::string& of, const Element& annotation) {
      check(annotation.name == "annotation", of);
      const Type& type = types_.at(std::stol(annotation.of("class")));
      check(type.super == "java.lang.annotation.Annotation", type.name + " is no annotation");
      chunk_.meanings[of] += type.name.substr(type.name.rfind('.') + 1) + " " + annotation.of("value") +
                             annotation.of("value-0") + annotation.of("value-1") + ";";
    };
    for (const Element& each : element.children) {
      if (each.name != "field") {
        add(element.of("name"), each);
        continue;
      }
      for (const Element& annotation : each.children)
        add(element.of("name") + "." + each.of("name"), annotation);
    }
  }

  void read_pools(size_t at) {
    int64_t type;
    Cursor event = event_at(at, &type);
    check(type == 1, "the type of the pools");
    event.varint();
    check(event.varint() == 0 && event.varint() == 0, "duration and distance of the pools");
    check(event.byte() == 1, "the flush mask");
    for (size_t n = event.count(); n > 0; n--) {
      const int64_t of = event.varint();
      check(types_.count(of) != 0 && pools_.count(of) == 0, "a pool of type " + std::to_string(of));
      auto& pool = pools_[of];
      for (size_t entries = event.count(); entries > 0; entries--) {
        const int64_t number = event.varint();
        // The JDK has one of the number 0.
        check((number != 0 || types_.at(of).name == "jdk.types.FrameType") &&
                  pool.emplace(number, read_fields(event, of)).second,
              types_.at(of).name + " " + std::to_string(number) + " twice");
      }
      // The JDK refuses one.
      check(!pool.empty(), "a pool without entries");
      chunk_.pool_sizes[types_.at(of).name] = pool.size();
    }
    check(event.at == event.end, "bytes behind the pools");
    for (const auto& [of, pool] : pools_)
      for (const auto& [number, value] : pool) resolved(value, of);
  }

  // A value as it is written: references stay numbers.
  JfrValue read_fields(Cursor& from, int64_t type) {
    JfrValue value;
    for (const Field& field : types_.at(type).fields) value.fields[field.name] = read_value(from, field);
    return value;
  }
  JfrValue read_value(Cursor& from, const Field& field) {
    JfrValue value;
    if (!field.is_array) return read_one(from, field);
    for (size_t n = from.count(); n > 0; n--) value.items.push_back(read_one(from, field));
    return value;
  }
  JfrValue read_one(Cursor& from, const Field& field) {
    const std::string& name = types_.at(field.type).name;
    JfrValue value;
    if (field.in_pool || name == "long" || name == "int") {
      value.number = from.varint();
      if (name == "int" && !field.in_pool) value.number = static_cast<int32_t>(value.number);
    } else if (name == "boolean" || name == "byte") {
      value.number = from.byte();
      check(name == "byte" || value.number <= 1, "a boolean of " + std::to_string(value.number));
    } else if (name == "float") {
      value.number = static_cast<int64_t>(from.big(4));
    } else if (name == "java.lang.String") {
      value.is_null = !from.string(&value.text);
    } else {
      check(!types_.at(field.type).fields.empty(), "a value of " + name);
      value = read_fields(from, field.type);
    }
    return value;
  }

  // The value with its references looked up.
  JfrValue resolved(const JfrValue& value, int64_t type, int depth = 0) {
    check(depth < 20, "a circle of references");
    JfrValue whole = value;
    for (const Field& field : types_.at(type).fields) {
      JfrValue& part = whole.fields.at(field.name);
      if (field.is_array) {
        for (JfrValue& item : part.items) item = resolved_one(item, field, depth);
      } else {
        part = resolved_one(part, field, depth);
      }
    }
    return whole;
  }
  JfrValue resolved_one(const JfrValue& value, const Field& field, int depth) {
    const Type& type = types_.at(field.type);
    if (!field.in_pool) return type.fields.empty() ? value : resolved(value, field.type, depth + 1);
    JfrValue found;
    const auto& pool = pools_[field.type];
    found.is_null = value.number == 0 && pool.count(0) == 0;
    if (found.is_null) return found;
    const auto entry = pool.find(value.number);
    check(entry != pool.end(), type.name + " " + std::to_string(value.number) + " is not in its pool");
    const auto known = resolved_.find({field.type, value.number});
    if (known != resolved_.end()) return known->second;
    found = resolved(entry->second, field.type, depth + 1);
    found.number = value.number;
    if (type.is_simple) found.text = found.fields.begin()->second.text;
    return resolved_[{field.type, value.number}] = found;
  }

  void read_event(size_t at) {
    int64_t id;
    Cursor event = event_at(at, &id);
    check(types_.count(id) != 0 && types_.at(id).super == "jdk.jfr.Event",
          "type " + std::to_string(id) + " is no event");
    JfrEvent read;
    read.type = types_.at(id).name;
    read.fields = resolved(read_fields(event, id), id).fields;
    check(event.at == event.end, "bytes behind an event of " + read.type);
    chunk_.events.push_back(read);
  }

  const std::string& bytes_;
  const size_t begin_;
  size_t end_ = 0;
  JfrChunk& chunk_;
  std::map<int64_t, Type> types_;
  std::map<int64_t, std::map<int64_t, JfrValue>> pools_;
  std::map<std::pair<int64_t, int64_t>, JfrValue> resolved_;  // entries of pools, by type and number
};

}  // namespace

std::vector<std::string> JfrEvent::stack() const {
  std::vector<std::string> lines;
  const JfrValue& stack = fields.at("stackTrace");
  if (stack.is_null) return lines;
  for (const JfrValue& frame : stack["frames"].items) {
    const JfrValue& method = frame["method"];
    lines.push_back(method["type"]["name"].text + "." + method["name"].text + ":" +
                    std::to_string(frame["lineNumber"].number));
  }
  if (stack["truncated"].number != 0) lines.push_back("...");
  return lines;
}

std::string JfrEvent::thread() const {
  const auto found = fields.find("sampledThread") != fields.end() ? fields.find("sampledThread")
                                                                  : fields.find("eventThread");
  return found->second.is_null ? "" : found->second["javaName"].text;
}

std::vector<JfrEvent> JfrChunk::of(const std::string& type) const {
  std::vector<JfrEvent> found;
  for (const JfrEvent& event : events)
    if (event.type == type) found.push_back(event);
  return found;
}

std::string read_jfr(const std::string& bytes, std::vector<JfrChunk>* chunks) {
  try {
    for (size_t at = 0; at < bytes.size();) {
      JfrChunk chunk;
      at = ChunkReader(bytes, at, &chunk).read();
      if (!chunks->empty()) {
        const JfrChunk& before = chunks->back();
        check(before.start_ns + before.duration_ns <= chunk.start_ns && before.start_ns < chunk.start_ns,
              "chunks that overlap");
        check(
            chunk.start_ns - before.start_ns == static_cast<uint64_t>(chunk.start_ticks - before.start_ticks),
            "ticks and times of chunks");
        check(before.metadata == chunk.metadata, "the same metadata id for other metadata");
      }
      chunks->push_back(chunk);
    }
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace hprof
