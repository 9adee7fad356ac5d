#include "tools/format/jfr_file.h"

#include <algorithm>
#include <map>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kHeadBytes = 68;
constexpr uint64_t kMetadataEvent = 0, kPoolEvent = 1;
constexpr unsigned kDepthMost = 16;  // of elements, and of types in types
constexpr uint64_t kSecond = 1000000000;
constexpr char kTextType[] = "java.lang.String";

JfrType::Kind kind_of_name(std::string_view name) {
  constexpr std::pair<const char*, JfrType::Kind> kKinds[] = {
      {"boolean", JfrType::kByte}, {"byte", JfrType::kByte},     {"char", JfrType::kShort},
      {"short", JfrType::kShort},  {"int", JfrType::kInt},       {"long", JfrType::kLong},
      {"float", JfrType::kFloat},  {"double", JfrType::kDouble}, {kTextType, JfrType::kText}};
  for (const auto& [each, kind] : kKinds)
    if (name == each) return kind;
  return JfrType::kFields;
}

unsigned size_of(JfrType::Kind kind) {
  return kind == JfrType::kShort ? 2 : kind == JfrType::kInt || kind == JfrType::kFloat ? 4 : 8;
}

// "12"; 0: it is no number.
uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || number > UINT64_MAX / 10 - 1) return 0;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

// Bytes in memory. What goes beyond them reads as 0, and ok is false from then on.
class JfrFile::Cursor {
 public:
  Cursor(std::string_view bytes, bool is_packed) : rest_(bytes), is_packed_(is_packed) {}

  uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? uint8_t{0} : static_cast<uint8_t>(one[0]);
  }
  uint64_t fixed(unsigned size) {
    uint64_t value = 0;
    for (const char each : take(size)) value = value << 8 | static_cast<uint8_t>(each);
    return value;
  }
  // An integer, which has `size` bytes where they are not packed.
  uint64_t number(unsigned size) {
    if (!is_packed_) return fixed(size);
    uint64_t value = 0;
    for (unsigned i = 0; i < 9; ++i) {
      const uint64_t each = byte();
      value |= (i < 8 ? each & 0x7f : each) << 7 * i;
      if (i == 8 || (each & 0x80) == 0) break;
    }
    return value;
  }
  // How many values follow. Each has a byte at least.
  uint64_t count() {
    const uint64_t count = number(4);
    if (count > rest_.size()) ok = false;
    return ok ? count : 0;
  }
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) ok = false;
    if (!ok) return {};
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return taken;
  }
  std::string_view rest() const { return rest_; }

  bool ok = true;

 private:
  std::string_view rest_;
  bool is_packed_;
};

bool JfrFile::fail(uint64_t at, const std::string& problem) {
  problem_ = problem;
  problem_at_ = at;
  return false;
}

bool JfrFile::read_head() {
  std::string magic;
  if (!in_.text(4, &magic) || magic != std::string("FLR\0", 4))
    return fail(begin_, "expected a chunk of JDK Flight Recorder");
  const unsigned major = in_.u2(), minor = in_.u2();
  const uint64_t size = in_.u8();
  in_.skip(8);  // where the last pools are
  const uint64_t metadata = in_.u8();
  start_ns_ = in_.u8();
  duration_ns_ = in_.u8();
  start_ticks_ = in_.u8();
  ticks_per_second_ = in_.u8();
  is_packed_ = (in_.u4() & 1) != 0;
  if (!in_.ok()) return fail(begin_, "the file ends within the head of a chunk");
  version_ = std::to_string(major) + "." + std::to_string(minor);
  if (major != 2)
    return fail(begin_, "a chunk of version " + version_ + "; version 2 is read (JDK 11 and newer)");
  if (size < kHeadBytes) return fail(begin_, "a chunk that was not finished");
  // Beyond 10 GHz a span of ticks might not fit 64 bits as nanoseconds.
  if (ticks_per_second_ == 0 || ticks_per_second_ > 10 * kSecond)
    return fail(begin_, "a chunk with " + std::to_string(ticks_per_second_) + " ticks per second");
  if (duration_ns_ > UINT64_MAX - start_ns_) return fail(begin_, "a chunk whose end is too late");
  end_ = size > UINT64_MAX - begin_ ? UINT64_MAX : begin_ + size;
  metadata_offset_ = metadata > UINT64_MAX - begin_ ? 0 : begin_ + metadata;
  return true;
}

uint64_t JfrFile::number_of(unsigned size) {
  if (!is_packed_) return in_.value(size);
  uint64_t value = 0;
  for (unsigned i = 0; i < 9; ++i) {
    const uint64_t each = in_.u1();
    value |= (i < 8 ? each & 0x7f : each) << 7 * i;
    if (i == 8 || (each & 0x80) == 0) break;
  }
  return value;
}

// Reads size and type of the event at next_.
bool JfrFile::begin_event() {
  event_ = next_;
  const uint64_t size = number_of(4);
  event_id_ = number_of(8);
  if (!in_.ok()) return fail(event_, "the file ends within the chunk of byte " + std::to_string(begin_));
  if (size < in_.offset() - event_ || size > end_ - event_)
    return fail(event_, "an event of " + std::to_string(size) + " bytes, which does not fit its chunk");
  next_ = event_ + size;
  return true;
}

// Reads the fields of the event.
bool JfrFile::take_event(std::string* bytes) {
  bytes->clear();
  return in_.text(next_ - in_.offset(), bytes) ||
         fail(event_, "the file ends within the chunk of byte " + std::to_string(begin_));
}

bool JfrFile::find_parts() {
  bool has_metadata = false;
  pool_offsets_.clear();
  for (next_ = begin_ + kHeadBytes; next_ < end_;) {
    if (!begin_event()) return false;
    has_metadata = has_metadata || (event_id_ == kMetadataEvent && event_ == metadata_offset_);
    if (event_id_ == kPoolEvent) pool_offsets_.push_back(event_);
    if (!in_.skip(next_ - in_.offset()))
      return fail(event_, "the file ends within the chunk of byte " + std::to_string(begin_));
  }
  return has_metadata || fail(begin_, "a chunk without metadata");
}

bool JfrFile::next_chunk() {
  begin_ = end_;
  types_.clear();
  words_.clear();
  pools_.clear();
  pool_bytes_.clear();
  in_.seek(begin_);
  if (in_.at_end()) return false;
  if (!read_head() || !find_parts() || !read_metadata()) return false;
  for (const uint64_t offset : pool_offsets_) {
    in_.seek(next_ = offset);
    pool_bytes_.emplace_back();
    if (!begin_event() || !take_event(&pool_bytes_.back())) return false;
    Cursor from(pool_bytes_.back(), is_packed_);
    if (!read_pool(from)) return fail(offset, "constant pools that do not fit their event");
  }
  in_.seek(next_ = begin_ + kHeadBytes);
  return true;
}

bool JfrFile::next_event() {
  do {
    if (!in_.skip(next_ - in_.offset()) || next_ == end_ || !begin_event()) return false;
  } while (event_id_ == kMetadataEvent || event_id_ == kPoolEvent);
  return true;
}

const JfrType* JfrFile::event_type() const {
  const auto found = types_.find(event_id_);
  return found == types_.end() ? nullptr : &found->second;
}

bool JfrFile::read_event(JfrValue* event) {
  if (!take_event(&event_bytes_)) return false;
  const JfrType* type = event_type();
  Cursor from(event_bytes_, is_packed_);
  if (!skip(from, type, 0))
    return fail(event_, "an event whose fields do not fit its " + std::to_string(next_ - event_) + " bytes");
  *event = {type, event_bytes_};
  return true;
}

// --- metadata

bool JfrFile::read_metadata() {
  in_.seek(next_ = metadata_offset_);
  std::string bytes;
  if (!begin_event() || !take_event(&bytes)) return false;
  Cursor from(bytes, is_packed_);
  for (int i = 0; i < 3; ++i) from.number(8);  // start, duration, number
  for (uint64_t left = from.count(); left > 0 && from.ok; --left) {
    words_.emplace_back();
    read_text(from, &words_.back(), false);
  }
  if (!read_element(from, 0, nullptr)) return fail(metadata_offset_, "metadata that cannot be read");
  for (auto& [id, type] : types_) {
    for (JfrField& field : type.fields) {
      const auto found = types_.find(field.type_id);
      field.type = found == types_.end() ? nullptr : &found->second;
    }
  }
  return true;
}

// An element has a name, attributes and elements. owner: the type whose element it is; null: of none.
bool JfrFile::read_element(Cursor& from, unsigned depth, JfrType* owner) {
  const auto word = [&]() -> std::string_view {
    const uint64_t index = from.number(4);
    if (index >= words_.size()) from.ok = false;
    return from.ok ? words_[static_cast<size_t>(index)] : std::string_view();
  };
  const std::string_view name = word();
  std::map<std::string_view, std::string_view> facts;
  for (uint64_t left = from.count(); left > 0 && from.ok; --left) {
    const std::string_view key = word();
    facts[key] = word();
  }
  JfrType* type = nullptr;
  if (name == "class") {
    type = &types_[number_in(facts["id"])];
    *type = {facts["name"], kind_of_name(facts["name"]), {}};
    if (type->kind == JfrType::kText) text_type_ = number_in(facts["id"]);
  } else if (name == "field" && owner != nullptr) {
    owner->fields.push_back({facts["name"], number_in(facts["class"]), nullptr,
                             facts["constantPool"] == "true",
                             !facts["dimension"].empty() && facts["dimension"] != "0"});
  }
  for (uint64_t left = from.count(); left > 0 && from.ok; --left)
    if (depth == kDepthMost || !read_element(from, depth + 1, type)) from.ok = false;
  return from.ok;
}

// --- constant pools

bool JfrFile::read_pool(Cursor& from) {
  for (int i = 0; i < 3; ++i) from.number(8);  // start, duration, distance to the pools before
  from.byte();                                 // what made it
  for (uint64_t pools = from.count(); pools > 0 && from.ok; --pools) {
    const uint64_t id = from.number(8);
    const auto type = types_.find(id);
    if (type == types_.end()) return false;
    Pool& pool = pools_[id];
    for (uint64_t left = from.count(); left > 0 && from.ok; --left) {
      const uint64_t number = from.number(8);
      const std::string_view value = from.rest();
      if (!skip(from, &type->second, 0)) return false;
      pool[number] = value;
    }
  }
  return from.ok;
}

// --- values

// A value has a byte at least, so that no count in a file makes this endless.
bool JfrFile::skip(Cursor& from, const JfrType* type, unsigned depth) const {
  if (type == nullptr || depth == kDepthMost) return false;
  switch (type->kind) {
    case JfrType::kByte:
      from.byte();
      return from.ok;
    case JfrType::kShort:
    case JfrType::kInt:
    case JfrType::kLong:
      from.number(size_of(type->kind));
      return from.ok;
    case JfrType::kFloat:
    case JfrType::kDouble:
      from.take(size_of(type->kind));
      return from.ok;
    case JfrType::kText:
      return read_text(from, nullptr);
    default:
      break;
  }
  for (const JfrField& field : type->fields)
    if (!skip(from, field, depth)) return false;
  return !type->fields.empty();
}

bool JfrFile::skip(Cursor& from, const JfrField& field, unsigned depth) const {
  uint64_t count = field.is_array ? from.count() : 1;
  for (; count > 0 && from.ok; --count) {
    if (field.is_in_pool)
      from.number(8);
    else if (!skip(from, field.type, depth + 1))
      return false;
  }
  return from.ok;
}

// text: null to skip it. may_refer: it may be a number of the pool of strings.
bool JfrFile::read_text(Cursor& from, std::string* text, bool may_refer) const {
  enum Encoding : uint8_t { kNull, kEmpty, kPool, kUtf8, kChars, kLatin1 };
  const uint8_t encoding = from.byte();
  if (encoding == kPool) {
    const uint64_t number = from.number(8);
    const auto pool = pools_.find(text_type_);
    if (text == nullptr || !may_refer || pool == pools_.end()) return from.ok;
    const auto found = pool->second.find(number);
    if (found == pool->second.end()) return from.ok;
    Cursor there(found->second, is_packed_);
    read_text(there, text, false);
    return from.ok;
  }
  if (encoding > kLatin1) from.ok = false;
  if (encoding < kPool || !from.ok) return from.ok;
  uint64_t left = from.count();
  if (encoding == kUtf8) {
    const std::string_view bytes = from.take(left);
    if (text != nullptr) *text = bytes;
    return from.ok;
  }
  for (; left > 0 && from.ok; --left) {
    const auto unit = static_cast<uint16_t>(encoding == kChars ? from.number(2) : from.byte());
    if (text != nullptr) append_utf8(unit, text);
  }
  return from.ok;
}

// Reads a value, or its number in a pool, of a field that is no array, or of an element of one.
JfrValue JfrFile::value_at(Cursor& from, const JfrField& field) const {
  if (!field.is_in_pool) {
    const JfrValue value = {field.type, from.rest()};
    skip(from, field.type, 0);
    return value;
  }
  JfrValue value;
  value.number = from.number(8);
  const auto pool = pools_.find(field.type_id);
  if (pool == pools_.end()) return value;
  const auto found = pool->second.find(value.number);
  if (found == pool->second.end()) return value;
  value.type = field.type;
  value.bytes = found->second;
  return value;
}

JfrValue JfrFile::field(const JfrValue& of, std::string_view name) const {
  if (of.type == nullptr || of.array != nullptr) return {};
  Cursor from(of.bytes, is_packed_);
  JfrValue found;
  for (const JfrField& field : of.type->fields) {
    const bool is_it = field.name == name;
    if (is_it) found = field.is_array ? JfrValue{field.type, from.rest(), 0, &field} : value_at(from, field);
    if (is_it || !skip(from, field, 0)) break;
  }
  decoded_ += of.bytes.size() - from.rest().size();
  return found;
}

std::vector<JfrValue> JfrFile::elements(const JfrValue& array) const {
  std::vector<JfrValue> found;
  if (array.array == nullptr) return found;
  Cursor from(array.bytes, is_packed_);
  for (uint64_t left = from.count(); left > 0 && from.ok; --left)
    found.push_back(value_at(from, *array.array));
  decoded_ += array.bytes.size() - from.rest().size();
  return found;
}

uint64_t JfrFile::number(const JfrValue& value) const {
  if (value.type == nullptr || value.array != nullptr) return 0;
  Cursor from(value.bytes, is_packed_);
  switch (value.type->kind) {
    case JfrType::kByte:
      return from.byte();
    case JfrType::kShort:
    case JfrType::kInt:
    case JfrType::kLong:
      return from.number(size_of(value.type->kind));
    default:
      return 0;
  }
}

std::string JfrFile::text(const JfrValue& value) const {
  JfrValue at = value;
  for (unsigned depth = 0; at.type != nullptr && at.array == nullptr && depth < kDepthMost; ++depth) {
    Cursor from(at.bytes, is_packed_);
    std::string text;
    if (at.type->kind == JfrType::kText) {
      read_text(from, &text);
      decoded_ += text.size();
      return text;
    }
    if (at.type->fields.size() != 1) break;
    at = field(at, at.type->fields[0].name);
  }
  return "";
}

uint64_t JfrFile::nanoseconds(uint64_t ticks) const {
  const uint64_t seconds = ticks / ticks_per_second_;
  if (seconds > UINT64_MAX / kSecond - 1) return UINT64_MAX;
  return seconds * kSecond + ticks % ticks_per_second_ * kSecond / ticks_per_second_;
}

uint64_t JfrFile::time_of(uint64_t ticks) const {
  if (ticks < start_ticks_) return start_ns_ - std::min(start_ns_, nanoseconds(start_ticks_ - ticks));
  const uint64_t after = nanoseconds(ticks - start_ticks_);
  return after > UINT64_MAX - start_ns_ ? UINT64_MAX : start_ns_ + after;
}

}  // namespace hprof::tool
