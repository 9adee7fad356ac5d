// Reads the dump once more, for the elements of arrays.
#include "tools/hprof/heap/array_contents.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "tools/hprof/format/utf8.h"
#include "tools/hprof/heap/object_reader.h"
#include "tools/hprof/heap/object_values.h"

namespace hprof::tool {

namespace {

struct TextRecord {
  uint64_t hash;
  uint32_t array;
  uint32_t length;  // bytes
};

struct ZeroTotals {
  uint64_t arrays = 0, bytes = 0;
};

// Words of eight bytes in the order they come; the rest of a piece as a word of its own.
class TextHash {
 public:
  explicit TextHash(uint64_t seed) : hash_(seed ^ 0x9e3779b97f4a7c15u) {}
  void add(const uint8_t* bytes, size_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      mix(word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < size; ++i) rest |= uint64_t{bytes[i]} << (8 * i);
    mix(rest);
  }
  uint64_t value() const { return hash_ ^ hash_ >> 32; }

 private:
  void mix(uint64_t word) {
    hash_ = (hash_ ^ word) * 0xff51afd7ed558ccdu;
    hash_ ^= hash_ >> 33;
  }
  uint64_t hash_;
};

bool all_zero(const uint8_t* bytes, size_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

class ContentReader : public HeapVisitor {
 public:
  ContentReader(const Snapshot& snapshot, BigArray<TextRecord>& texts, std::atomic<uint64_t>& count)
      : zeros(snapshot.outline.classes.list.size()), snapshot_(snapshot), texts_(texts), count_(count) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    uint32_t number = snapshot_.numbers.number_of(record.id);
    bool text = number != kNoObject && snapshot_.objects.string_arrays.get(number) &&
                (record.type == HPROF_TYPE_BYTE || record.type == HPROF_TYPE_CHAR);
    TextHash hash(text && snapshot_.objects.wide_arrays.get(number));
    bool zero = record.length > 0;
    uint64_t size = uint64_t{record.length} * width_of(record.type, in.id_size());
    for (uint64_t left = size; left > 0 && (zero || text);) {
      auto step = static_cast<size_t>(std::min<uint64_t>(left, std::min(in.buffer_size(), kStep)));
      const uint8_t* bytes = in.bytes(step);
      if (bytes == nullptr) return;
      zero = zero && all_zero(bytes, step);
      if (text) hash.add(bytes, step);
      left -= step;
    }
    if (text) {
      uint64_t place = count_++;
      if (place < texts_.size()) texts_[place] = {hash.value(), number, static_cast<uint32_t>(size)};
    }
    if (!zero) return;
    uint32_t index = snapshot_.outline.classes.find(record.class_id);
    if (record.type != HPROF_TYPE_OBJECT) index = snapshot_.outline.classes.primitive(record.type);
    ZeroTotals& totals = zeros[index == kNoClass ? 0 : index];
    ++totals.arrays;
    totals.bytes += snapshot_.layout.array_size(record.type, record.length);
  }

  std::vector<ZeroTotals> zeros;  // by class

 private:
  static constexpr size_t kStep = 1 << 16;
  const Snapshot& snapshot_;
  BigArray<TextRecord>& texts_;
  std::atomic<uint64_t>& count_;
};

struct Duplicate {
  uint64_t wasted = 0;
  uint64_t copies = 0;
  uint64_t size = 0;  // of one, in bytes with its string
  uint32_t example = kNoObject;
};

// Sorts them, so that records of the same text are together.
struct TextTotals {
  uint64_t texts = 0, distinct = 0, wasted = 0, bytes = 0;
  std::vector<Duplicate> top;
};

TextTotals find_duplicates(const Snapshot& snapshot, TextRecord* begin, TextRecord* end, size_t top) {
  std::sort(begin, end, [](const TextRecord& a, const TextRecord& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    return a.length != b.length ? a.length < b.length : a.array < b.array;
  });
  const HeapClasses& classes = snapshot.outline.classes;
  uint64_t string_size = classes.string_class == kNoClass ? 0 : classes.list[classes.string_class].size;
  TextTotals totals;
  auto more = [](const Duplicate& a, const Duplicate& b) {
    return a.wasted != b.wasted ? a.wasted > b.wasted : a.example < b.example;
  };
  for (TextRecord* at = begin; at != end;) {
    TextRecord* next = at;
    while (next != end && next->hash == at->hash && next->length == at->length) ++next;
    auto copies = static_cast<uint64_t>(next - at);
    uint64_t size = snapshot.layout.array_size(HPROF_TYPE_BYTE, at->length) + string_size;
    totals.texts += copies;
    ++totals.distinct;
    totals.bytes += copies * size;
    totals.wasted += (copies - 1) * size;
    if (copies > 1) {
      totals.top.push_back({(copies - 1) * size, copies, size, at->array});
      std::push_heap(totals.top.begin(), totals.top.end(), more);
      if (top != 0 && totals.top.size() > top) {
        std::pop_heap(totals.top.begin(), totals.top.end(), more);
        totals.top.pop_back();
      }
    }
    at = next;
  }
  std::sort(totals.top.begin(), totals.top.end(), more);
  return totals;
}

Table zero_table(const Snapshot& snapshot, const std::vector<ZeroTotals>& zeros, size_t top) {
  Table table{"zero_arrays",
              "Arrays of zeros, false or null only",
              {{"arrays", "arrays", CellKind::kCount},
               {"shallow_bytes", "shallow", CellKind::kBytes},
               {"class", "class"}},
              {},
              0,
              ""};
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < zeros.size(); ++i) {
    if (zeros[i].arrays != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return zeros[a].bytes > zeros[b].bytes; });
  for (uint32_t i : order) {
    if (top != 0 && table.rows.size() == top) {
      table.left_out = order.size() - top;
      break;
    }
    table.rows.push_back({zeros[i].arrays, zeros[i].bytes, snapshot.class_name(i)});
  }
  return table;
}

// Searches the text of an array; tries both Latin-1 and UTF-16 in the VM's byte order.
class TextFinder : public HeapVisitor {
 public:
  TextFinder(const Snapshot& snapshot, const std::string& latin, const std::string& wide,
             const std::string& chars)
      : snapshot_(snapshot), latin_(latin), wide_(wide), chars_(chars) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    if (record.type != HPROF_TYPE_BYTE && record.type != HPROF_TYPE_CHAR) return;
    uint32_t number = snapshot_.numbers.number_of(record.id);
    if (number == kNoObject || !snapshot_.objects.string_arrays.get(number)) return;
    bool chars = record.type == HPROF_TYPE_CHAR;
    const std::string& needle = chars ? chars_ : snapshot_.objects.wide_arrays.get(number) ? wide_ : latin_;
    if (needle.empty()) return;
    // Pieces overlap, since a match may begin in one and end in the next; by an even number of bytes, for
    // characters of two bytes.
    size_t unit = &needle == &latin_ ? 1 : 2;
    std::string text;
    for (uint64_t left = uint64_t{record.length} * (chars ? 2 : 1); left > 0;) {
      auto step = static_cast<size_t>(std::min<uint64_t>(left, std::min<size_t>(in.buffer_size(), 1 << 16)));
      if (!in.text(step, &text)) return;
      size_t at = text.find(needle);
      while (at != std::string::npos && at % unit != 0) at = text.find(needle, at + 1);
      if (at != std::string::npos) {
        found.push_back(number);
        return;
      }
      if (text.size() >= needle.size()) text.erase(0, (text.size() - needle.size() + 1) / unit * unit);
      left -= step;
    }
  }

  std::vector<uint32_t> found;

 private:
  const Snapshot& snapshot_;
  const std::string &latin_, &wide_, &chars_;
};

// The strings whose array is one of these.
class OwnerFinder : public HeapVisitor {
 public:
  OwnerFinder(const Snapshot& snapshot, const std::vector<uint32_t>& arrays)
      : snapshot_(snapshot), arrays_(arrays) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    const HeapClasses& classes = snapshot_.outline.classes;
    if (classes.string_class == kNoClass || record.class_id != classes.list[classes.string_class].id) return;
    if (uint64_t{classes.string_value} + classes.id_size > record.byte_count) return;
    in.skip(classes.string_value);
    uint32_t array = snapshot_.numbers.number_of(in.id());
    if (std::binary_search(arrays_.begin(), arrays_.end(), array)) {
      found.push_back(snapshot_.numbers.number_of(record.id));
    }
  }

  std::vector<uint32_t> found;

 private:
  const Snapshot& snapshot_;
  const std::vector<uint32_t>& arrays_;
};

template <typename Reader>
std::vector<uint32_t> found_by_all(const Snapshot& snapshot, Reader prototype) {
  std::vector<Reader> readers(std::max(1u, snapshot.options.threads), prototype);
  std::vector<HeapVisitor*> visitors;
  for (Reader& reader : readers) visitors.push_back(&reader);
  std::string error;
  walk_pieces(
      snapshot.opener, snapshot.outline, visitors, [](const DumpPiece&) { return true; },
      [](size_t, HeapVisitor&) {}, &error);
  std::vector<uint32_t> all;
  for (Reader& reader : readers) all.insert(all.end(), reader.found.begin(), reader.found.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// UTF-8 to UTF-16 code units; false: it is not UTF-8.
bool utf16_of(const std::string& text, std::vector<uint16_t>* units) {
  for (size_t i = 0; i < text.size();) {
    auto c = static_cast<uint8_t>(text[i]);
    size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (i + length > text.size() || first_bad_utf8(text.substr(i, length), true) != length) return false;
    uint32_t code = length == 1 ? c : c & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) code = code << 6 | (static_cast<uint8_t>(text[i + k]) & 0x3f);
    if (code >= 0x10000) {
      units->push_back(static_cast<uint16_t>(0xd800 + ((code - 0x10000) >> 10)));
      units->push_back(static_cast<uint16_t>(0xdc00 + ((code - 0x10000) & 0x3ff)));
    } else {
      units->push_back(static_cast<uint16_t>(code));
    }
    i += length;
  }
  return true;
}

}  // namespace

Section content_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top) {
  BigArray<TextRecord> texts;
  texts.allocate(budget, snapshot.objects.string_arrays.count());
  std::atomic<uint64_t> count{0};
  std::vector<std::unique_ptr<ContentReader>> readers;
  std::vector<HeapVisitor*> visitors;
  for (unsigned i = 0; i < std::max(1u, snapshot.options.threads); ++i) {
    readers.push_back(std::make_unique<ContentReader>(snapshot, texts, count));
    visitors.push_back(readers.back().get());
  }
  std::string error;
  walk_pieces(
      snapshot.opener, snapshot.outline, visitors, [](const DumpPiece&) { return true; },
      [](size_t, HeapVisitor&) {}, &error);
  std::vector<ZeroTotals> zeros(snapshot.outline.classes.list.size());
  for (const auto& reader : readers) {
    for (size_t i = 0; i < zeros.size(); ++i) {
      zeros[i].arrays += reader->zeros[i].arrays;
      zeros[i].bytes += reader->zeros[i].bytes;
    }
  }
  uint64_t read = std::min<uint64_t>(count, texts.size());
  TextTotals totals = find_duplicates(snapshot, texts.data(), texts.data() + read, top);
  Section section{"strings", "Strings and empty arrays", {}, {}, {}};
  section.text = {count_text(totals.texts) + " texts of strings, " + count_text(totals.distinct) +
                  " different ones; they take " + bytes_text(totals.bytes) + ", copies of others " +
                  bytes_text(totals.wasted) + "."};
  Table table{"duplicates",
              "Texts that are there more than once",
              {{"copies", "copies", CellKind::kCount},
               {"wasted_bytes", "wasted", CellKind::kBytes},
               {"text", "text"}},
              {},
              0,
              "Wasted: all copies but one, each with its java.lang.String."};
  std::vector<uint32_t> examples;
  for (const Duplicate& each : totals.top) examples.push_back(each.example);
  std::vector<std::string> shown = ObjectFetcher(snapshot).texts(examples, 60);
  for (size_t i = 0; i < shown.size(); ++i) {
    table.rows.push_back({totals.top[i].copies, totals.top[i].wasted, "\"" + printable(shown[i]) + "\""});
  }
  section.tables.push_back(table);
  section.tables.push_back(zero_table(snapshot, zeros, top));
  return section;
}

Section find_section(const Snapshot& snapshot, const std::string& text, size_t top) {
  Section section{"strings", "Strings with \"" + printable(text) + "\" in them", {}, {}, {}};
  std::vector<uint16_t> units;
  if (!utf16_of(text, &units)) {
    section.text = {"The text is not UTF-8."};
    return section;
  }
  std::string latin, wide, chars;
  bool narrow = true;
  for (uint16_t unit : units) {
    char low = static_cast<char>(unit), high = static_cast<char>(unit >> 8);
    narrow = narrow && unit < 0x100;
    latin += low;
    chars += {high, low};
    wide += snapshot.big_endian ? std::string{high, low} : std::string{low, high};
  }
  if (!narrow) latin.clear();
  std::vector<uint32_t> arrays = found_by_all(snapshot, TextFinder(snapshot, latin, wide, chars));
  std::vector<uint32_t> strings = found_by_all(snapshot, OwnerFinder(snapshot, arrays));
  section.text = {count_text(strings.size()) + (strings.size() == 1 ? " string" : " strings")};
  Table table{"strings", "", {{"object", ""}, {"text", ""}}, {}, 0, ""};
  if (top != 0 && strings.size() > top) {
    table.left_out = strings.size() - top;
    strings.resize(top);
  }
  std::vector<std::string> shown = ObjectFetcher(snapshot).texts(strings, 100);
  for (size_t i = 0; i < strings.size(); ++i) {
    table.rows.push_back({snapshot.describe(strings[i]), "\"" + printable(shown[i]) + "\""});
  }
  if (!strings.empty()) section.tables.push_back(table);
  return section;
}

}  // namespace hprof::tool
