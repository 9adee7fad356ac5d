// Reads the dump again, for the elements of arrays.
#include "tools/heap/questions/array_contents.h"

#include <algorithm>
#include <cstring>

#include "tools/format/utf8.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/text_hash.h"
#include "tools/heap/read/object_reader.h"
#include "tools/heap/read/object_values.h"

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

bool all_zero(const uint8_t* bytes, size_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

class ContentReader : public HeapVisitor {
 public:
  ContentReader(const Snapshot& snapshot, const BigArray<uint32_t>& whole, GrowingList<TextRecord>& texts)
      : zeros(snapshot.outline.classes.list.size()), snapshot_(snapshot), whole_(whole), texts_(texts) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    uint32_t number = snapshot_.numbers.number_of(record.id);
    if (!snapshot_.is_reached(number)) return;
    bool text = snapshot_.objects.string_arrays.get(number) &&
                (record.type == HPROF_TYPE_BYTE || record.type == HPROF_TYPE_CHAR) &&
                (whole_.empty() || whole_[number] == record.length);
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
    if (text) texts_.add({hash.value(), number, static_cast<uint32_t>(size)});
    if (!zero) return;
    ZeroTotals& totals = zeros[snapshot_.outline.classes.of_array(record)];
    ++totals.arrays;
    totals.bytes += snapshot_.layout.array_size(record.type, record.length);
  }

  std::vector<ZeroTotals> zeros;  // by class

 private:
  static constexpr size_t kStep = 1 << 16;
  const Snapshot& snapshot_;
  const BigArray<uint32_t>& whole_;
  GrowingList<TextRecord>& texts_;
};

struct Duplicate {
  uint64_t wasted = 0;
  uint64_t copies = 0;
  uint32_t example = kNoObject;
};

struct TextTotals {
  uint64_t texts = 0, distinct = 0, wasted = 0, bytes = 0, left_out = 0;
  std::vector<Duplicate> top;
};

// Sorts the records, so that those of the same text are adjacent.
TextTotals find_duplicates(const Snapshot& snapshot, TextRecord* begin, TextRecord* end, size_t top) {
  std::sort(begin, end, [](const TextRecord& a, const TextRecord& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    return a.length != b.length ? a.length < b.length : a.array < b.array;
  });
  const HeapClasses& classes = snapshot.outline.classes;
  uint64_t string_size = classes.string_class == kNoClass ? 0 : classes.list[classes.string_class].size;
  TextTotals totals;
  FirstRows<Duplicate> rows(top, [](const Duplicate& a, const Duplicate& b) {
    return a.wasted != b.wasted ? a.wasted > b.wasted : a.example < b.example;
  });
  for (TextRecord* at = begin; at != end;) {
    TextRecord* next = at;
    while (next != end && next->hash == at->hash && next->length == at->length) ++next;
    auto copies = static_cast<uint64_t>(next - at);
    uint64_t size = snapshot.layout.array_size(HPROF_TYPE_BYTE, at->length) + string_size;
    totals.texts += copies;
    ++totals.distinct;
    totals.bytes += copies * size;
    totals.wasted += (copies - 1) * size;
    if (copies > 1) rows.add({(copies - 1) * size, copies, at->array});
    at = next;
  }
  totals.left_out = rows.left_out();
  totals.top = rows.sorted();
  return totals;
}

Table zero_table(const Snapshot& snapshot, const std::vector<ZeroTotals>& zeros, size_t top) {
  Table table{"zero_arrays",
              "Arrays of zeros, false or null only",
              {{"arrays", "arrays", CellKind::kCount}, kShallow, kClass}};
  std::vector<uint32_t> order = largest_first(
      zeros, [](const ZeroTotals& each) { return each.arrays != 0; },
      [](const ZeroTotals& each) { return each.bytes; });
  table.left_out = cut(order, top);
  for (uint32_t i : order) {
    table.rows.push_back({zeros[i].arrays, zeros[i].bytes, class_entity(snapshot, i)});
  }
  return table;
}

// A java.lang.String that is a part of an array, as up to Java 6.
struct StringPart {
  uint32_t array, offset, count, string;  // array and string: numbers of objects
};

// Reads the string of this record; false: it is none, or unreadable.
bool read_string(const Snapshot& snapshot, const InstanceRecord& record, Input& in, StringPart* part) {
  const HeapClasses& classes = snapshot.outline.classes;
  if (classes.string_class == kNoClass || record.class_id != classes.list[classes.string_class].id)
    return false;
  if (uint64_t{classes.string_value} + classes.id_size > record.byte_count) return false;
  if (record.byte_count > in.buffer_size()) return false;
  const uint8_t* bytes = in.bytes(record.byte_count);
  if (bytes == nullptr) return false;
  auto number_at = [&](uint32_t offset, unsigned width) {
    if (uint64_t{offset} + width > record.byte_count) return uint64_t{0};
    return big_endian(bytes + offset, width);
  };
  part->string = snapshot.numbers.number_of(record.id);
  part->array = snapshot.numbers.number_of(number_at(classes.string_value, classes.id_size));
  part->offset = 0;
  part->count = UINT32_MAX;
  if (classes.strings_share_arrays()) {
    part->offset = static_cast<uint32_t>(number_at(classes.string_offset, 4));
    part->count = static_cast<uint32_t>(number_at(classes.string_count, 4));
  }
  return part->array != kNoObject && part->string != kNoObject;
}

// For each array, the most of its leading characters that a string uses.
class WholeStrings : public HeapVisitor {
 public:
  WholeStrings(const Snapshot& snapshot, BigArray<uint32_t>& whole) : snapshot_(snapshot), whole_(whole) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    StringPart part;
    if (!read_string(snapshot_, record, in, &part) || part.offset != 0) return;
    whole_[part.array] = std::max(whole_[part.array], part.count);
  }

 private:
  const Snapshot& snapshot_;
  BigArray<uint32_t>& whole_;
};

struct Needles {
  std::string latin, wide, chars;  // Latin-1, UTF-16 in the VM's byte order, chars as in the dump
};

// Calls found(characters before the match) for each match in the array, until it returns false.
template <typename Found>
void each_match(const Snapshot& snapshot, const Needles& needles, const ArrayRecord& record, Input& in,
                const Found& found) {
  if (record.type != HPROF_TYPE_BYTE && record.type != HPROF_TYPE_CHAR) return;
  uint32_t number = snapshot.numbers.number_of(record.id);
  if (number == kNoObject || !snapshot.objects.string_arrays.get(number)) return;
  bool chars = record.type == HPROF_TYPE_CHAR;
  const std::string& needle = chars                                      ? needles.chars
                              : snapshot.objects.wide_arrays.get(number) ? needles.wide
                                                                         : needles.latin;
  if (needle.empty()) return;
  // Pieces overlap, since a match may continue in the next one; by an even number of bytes, for two-byte
  // characters.
  size_t unit = &needle == &needles.latin ? 1 : 2;
  std::string text;
  uint64_t before = 0;  // bytes before the text
  for (uint64_t left = uint64_t{record.length} * (chars ? 2 : 1); left > 0;) {
    auto step = static_cast<size_t>(std::min<uint64_t>(left, std::min<size_t>(in.buffer_size(), 1 << 16)));
    if (!in.text(step, &text)) return;
    for (size_t at = 0; (at = text.find(needle, at)) != std::string::npos; ++at) {
      if (at % unit == 0 && !found((before + at) / unit)) return;
    }
    if (text.size() >= needle.size()) {
      size_t done = (text.size() - needle.size() + 1) / unit * unit;
      text.erase(0, done);
      before += done;
    }
    left -= step;
  }
}

// Finds the arrays that contain the text.
class TextFinder : public HeapVisitor {
 public:
  TextFinder(const Snapshot& snapshot, const Needles& needles) : snapshot_(snapshot), needles_(needles) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    each_match(snapshot_, needles_, record, in, [&](uint64_t) {
      found.push_back(snapshot_.numbers.number_of(record.id));
      return false;
    });
  }

  std::vector<uint32_t> found;

 private:
  const Snapshot& snapshot_;
  const Needles& needles_;
};

// Finds the strings whose array is one of these.
class OwnerFinder : public HeapVisitor {
 public:
  OwnerFinder(const Snapshot& snapshot, const std::vector<uint32_t>& arrays)
      : snapshot_(snapshot), arrays_(arrays) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    StringPart part;
    if (!read_string(snapshot_, record, in, &part)) return;
    if (std::binary_search(arrays_.begin(), arrays_.end(), part.array)) found.push_back(part);
  }

  std::vector<StringPart> found;

 private:
  const Snapshot& snapshot_;
  const std::vector<uint32_t>& arrays_;
};

// Finds the strings that have the text in their part of the array. `parts`: by array and offset.
class PartFinder : public HeapVisitor {
 public:
  PartFinder(const Snapshot& snapshot, const Needles& needles, const std::vector<StringPart>& parts,
             size_t characters)
      : snapshot_(snapshot), needles_(needles), parts_(parts), characters_(characters) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    uint32_t array = snapshot_.numbers.number_of(record.id);
    auto part = std::lower_bound(parts_.begin(), parts_.end(), array,
                                 [](const StringPart& each, uint32_t wanted) { return each.array < wanted; });
    if (part == parts_.end() || part->array != array) return;
    each_match(snapshot_, needles_, record, in, [&](uint64_t at) {
      // The first match after the beginning of a part decides: later ones end later.
      for (; part != parts_.end() && part->array == array && part->offset <= at; ++part) {
        if (at + characters_ <= uint64_t{part->offset} + part->count) found.push_back(part->string);
      }
      return part != parts_.end() && part->array == array;
    });
  }

  std::vector<uint32_t> found;

 private:
  const Snapshot& snapshot_;
  const Needles& needles_;
  const std::vector<StringPart>& parts_;
  size_t characters_;
};

// What copies of a reader find in the whole dump, in no order.
template <typename Reader>
auto found_by_all(const Snapshot& snapshot, const Reader& prototype) {
  decltype(prototype.found) all;
  for (const Reader& reader : read_by_all(snapshot, prototype))
    all.insert(all.end(), reader.found.begin(), reader.found.end());
  return all;
}

// The numbers of the reached strings that contain the text.
std::vector<uint32_t> strings_with(const Snapshot& snapshot, const Needles& needles, size_t characters) {
  std::vector<uint32_t> arrays = found_by_all(snapshot, TextFinder(snapshot, needles)), strings;
  sort_numbers(&arrays);
  std::vector<StringPart> parts = found_by_all(snapshot, OwnerFinder(snapshot, arrays));
  if (snapshot.outline.classes.strings_share_arrays()) {
    std::sort(parts.begin(), parts.end(), [](const StringPart& a, const StringPart& b) {
      return a.array != b.array ? a.array < b.array : a.offset < b.offset;
    });
    strings = found_by_all(snapshot, PartFinder(snapshot, needles, parts, characters));
  } else {
    for (const StringPart& part : parts) strings.push_back(part.string);
  }
  strings.erase(std::remove_if(strings.begin(), strings.end(),
                               [&](uint32_t each) { return !snapshot.is_reached(each); }),
                strings.end());
  sort_numbers(&strings);
  return strings;
}

// Converts UTF-8 to UTF-16; false: it is not UTF-8.
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
  GrowingList<TextRecord> texts;
  texts.allocate(budget, snapshot.objects.string_arrays.count());
  BigArray<uint32_t> whole;
  if (snapshot.outline.classes.strings_share_arrays()) {
    std::string error;
    whole.allocate(budget, snapshot.numbers.size());
    // One reader, since two would store the same element.
    WholeStrings reader(snapshot, whole);
    walk_pieces(snapshot, {&reader}, nullptr, nullptr, &error);
  }
  std::vector<ZeroTotals> zeros(snapshot.outline.classes.list.size());
  for (const ContentReader& reader : read_by_all(snapshot, ContentReader(snapshot, whole, texts))) {
    for (size_t i = 0; i < zeros.size(); ++i) {
      zeros[i].arrays += reader.zeros[i].arrays;
      zeros[i].bytes += reader.zeros[i].bytes;
    }
  }
  TextTotals totals = find_duplicates(snapshot, texts.begin(), texts.end(), top);
  Section section{"strings", "Strings and empty arrays"};
  section.facts = {{data_column("texts", CellKind::kCount), totals.texts},
                   {data_column("different_texts", CellKind::kCount), totals.distinct},
                   {data_column("text_bytes", CellKind::kBytes), totals.bytes},
                   {data_column("wasted_bytes", CellKind::kBytes), totals.wasted}};
  section.text = {count_text(totals.texts) + " texts of strings, " + count_text(totals.distinct) +
                  " different ones; they take " + bytes_text(totals.bytes) + ", copies of others " +
                  bytes_text(totals.wasted) + "."};
  if (!whole.empty()) section.text.push_back("Strings that are a part of a longer array are left out.");
  Table table{"duplicates",
              "Texts that are there more than once",
              {{"copies", "copies", CellKind::kCount},
               {"wasted_bytes", "wasted", CellKind::kBytes},
               {"text", "text", CellKind::kQuote}},
              {},
              totals.left_out,
              "Wasted: all copies but one, each with its java.lang.String."};
  std::vector<uint32_t> examples;
  for (const Duplicate& each : totals.top) examples.push_back(each.example);
  std::vector<std::string> shown = ObjectFetcher(snapshot).texts(examples, 60);
  for (size_t i = 0; i < shown.size(); ++i) {
    table.rows.push_back({totals.top[i].copies, totals.top[i].wasted, shown[i]});
  }
  section.tables.push_back(table);
  section.tables.push_back(zero_table(snapshot, zeros, top));
  return section;
}

Section find_section(const Snapshot& snapshot, const std::string& text, size_t top) {
  Section section{"found", "Strings with \"" + printable(text) + "\" in them"};
  std::vector<uint16_t> units;
  if (!utf16_of(text, &units)) {
    section.text = {"The text is not UTF-8."};
    return section;
  }
  Needles needles;
  bool narrow = true;
  for (uint16_t unit : units) {
    char low = static_cast<char>(unit), high = static_cast<char>(unit >> 8);
    narrow = narrow && unit < 0x100;
    needles.latin += low;
    needles.chars += {high, low};
    needles.wide += snapshot.big_endian ? std::string{high, low} : std::string{low, high};
  }
  if (!narrow) needles.latin.clear();
  std::vector<uint32_t> strings = strings_with(snapshot, needles, units.size());
  section.facts = {{data_column("strings", CellKind::kCount), uint64_t{strings.size()}}};
  section.text = {count_text(strings.size()) + (strings.size() == 1 ? " string" : " strings")};
  Table table{"strings", "", {{"object", "", CellKind::kObject}, {"text", "", CellKind::kQuote}}};
  table.left_out = cut(strings, top);
  std::vector<std::string> shown = ObjectFetcher(snapshot).texts(strings, 100);
  for (size_t i = 0; i < strings.size(); ++i) {
    table.rows.push_back({entity_of(snapshot, strings[i]), shown[i]});
  }
  table.data_only = strings.empty();
  section.tables.push_back(table);
  return section;
}

}  // namespace hprof::tool
