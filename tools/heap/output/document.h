// The result of a command before it becomes text, JSON, CSV or a page: sections with facts, sentences and
// tables. docs/answers.schema.json describes the JSON form.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hprof::tool {

enum class CellKind : uint8_t {
  kText,
  kQuote,    // a text of the program: in quotes, and without controls, in the text form
  kCount,    // of objects and the like
  kBytes,    // shown as KiB, MiB, ...
  kExact,    // bytes, not rounded
  kPercent,  // of a whole, as a fraction
  kNumber,   // any other number
  kChange,   // a difference of bytes, with its sign
  kClass,    // fields in JSON and CSV: KEY is its name, KEY_id
  kObject,   // fields: KEY is its text, KEY_id, KEY_kind, KEY_class
  kDepth     // in a tree: the text form indents the last column by it
};

// A class, or an object, a class object or the stack of a thread.
struct HeapEntity {
  enum Kind : uint8_t { kNone, kObject, kClass, kStack };
  std::string text;        // in the text form
  Kind kind = kNone;       // kNone: only the text form has it
  uint64_t id = 0;         // 0: unknown
  std::string class_name;  // of a class object: the class that it is of
};

struct Column {
  std::string key;    // in JSON and CSV
  std::string title;  // in text
  CellKind kind = CellKind::kText;
  bool data_only = false;  // the text form leaves it out
};

// monostate: no value, "" in text and null in JSON. Only JSON has lists.
using Cell = std::variant<std::monostate, std::string, uint64_t, int64_t, double, HeapEntity,
                          std::vector<std::string>>;

struct Table {
  std::string key;
  std::string title;
  std::vector<Column> columns;               // the last shown one may be of any width
  std::vector<std::vector<Cell>> rows = {};  // cells that are missing at the end have no value
  uint64_t left_out = 0;                     // rows that are not shown
  std::string note = "";                     // below it
  bool data_only = false;                    // the text form leaves it out
  bool is_tree() const { return !columns.empty() && columns[0].kind == CellKind::kDepth; }
};

// A value for JSON alone; `text` of the section says it in words.
inline Column data_column(const char* key, CellKind kind) { return {key, "", kind, true}; }

// A single value of a section.
struct Fact {
  Column column;  // data_only: neither text nor page show it
  Cell value = {};
  std::string text = "";  // instead of the value's own
};

// The same as a fact.
inline Fact data_fact(const char* key, Cell value, CellKind kind = CellKind::kNumber) {
  return {data_column(key, kind), std::move(value)};
}
inline Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
inline Cell number_or_null(uint64_t number) { return number == 0 ? Cell() : Cell(number); }
inline std::string yes_or_no(bool is) { return is ? "yes" : "no"; }
// Names of fields, each once: one that is there before, or among `taken`, gets a '_' behind it.
std::vector<std::string> distinct_keys(std::vector<std::string> names, const std::vector<std::string>& taken);

// Columns of several tables.
inline const Column kObjectCount{"objects", "objects", CellKind::kCount};
inline const Column kShallow{"shallow_bytes", "shallow", CellKind::kBytes};
inline const Column kRetained{"retained_bytes", "retained", CellKind::kBytes};
inline const Column kRetainedPart{"retained_part", "of all", CellKind::kPercent};
inline const Column kObject{"object", "object", CellKind::kObject};
inline const Column kClass{"class", "class", CellKind::kClass};
// Of a row that stands for others: how many.
inline const Column kLeftOut = data_column("left_out", CellKind::kCount);

// Keeps the first `top` rows, 0 = all. Returns how many are left out.
template <typename Row>
uint64_t cut(std::vector<Row>& rows, size_t top) {
  const size_t kept = top == 0 ? rows.size() : std::min(top, rows.size()), left_out = rows.size() - kept;
  rows.resize(kept);
  return left_out;
}

// The indexes of the items for which keep(item) holds, the largest key(item) first.
template <typename Item, typename Keep, typename Key>
std::vector<uint32_t> largest_first(const std::vector<Item>& items, const Keep& keep, const Key& key) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (keep(items[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(items[a]) > key(items[b]); });
  return order;
}

// The first `top` of any number of rows, 0 = all. before(a, b): the order, without equals.
template <typename Row>
class FirstRows {
 public:
  using Before = bool (*)(const Row&, const Row&);
  FirstRows(size_t top, Before before) : top_(top), before_(before) {}
  void add(const Row& row) {
    rows_.push_back(row);
    if (top_ == 0) return;
    std::push_heap(rows_.begin(), rows_.end(), before_);
    if (rows_.size() <= top_) return;
    std::pop_heap(rows_.begin(), rows_.end(), before_);
    rows_.pop_back();
    ++left_out_;
  }
  uint64_t left_out() const { return left_out_; }
  const std::vector<Row>& sorted() {
    std::sort(rows_.begin(), rows_.end(), before_);
    return rows_;
  }

 private:
  size_t top_;
  Before before_;
  std::vector<Row> rows_;
  uint64_t left_out_ = 0;
};

struct Section {
  std::string key;
  std::string title;
  std::vector<std::string> text = {};  // sentences, a line each
  std::vector<Table> tables = {};
  std::vector<Section> parts = {};
  std::vector<Fact> facts = {};  // the text form shows them below the sentences
};

// The forms of the JSON; the number grows when a field changes its meaning or goes.
constexpr char kHeapSchema[] = "hprof-heap-1", kPrintSchema[] = "hprof-print-1",
               kDiffSchema[] = "hprof-diff-1", kCheckSchema[] = "hprof-check-1",
               kDoctorSchema[] = "hprof-doctor-1", kPluginSchema[] = "hprof-plugin-1",
               kThreadsSchema[] = "hprof-threads-1";

struct Document {
  std::vector<std::string> problems = {};  // why it does not have all of the dump
  std::vector<Section> sections = {};
  const char* schema = kHeapSchema;
};

inline double part_of(uint64_t bytes, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(all);
}
// A number of decimals as JSON has it: a sum of them is a binary fraction, 0.30000000000000004.
inline double nine_decimals(double value) { return std::round(value * 1e9) / 1e9; }
// "1.5 MiB".
std::string bytes_text(uint64_t bytes);
// "1,234,567".
std::string count_text(uint64_t count);
// True: the cells stand at the right of the column.
bool is_number(const Column& column);
std::string cell_text(const Column& column, const Cell& cell);
std::string fact_text(const Fact& fact);

void write_text(const Document& document, std::ostream& out);
void write_json(const Document& document, std::ostream& out);
// Writes the rows of all tables of that key, "" = the first table; those of parts have their part's number in
// front. *left_out: rows that the tables do not have. Returns "", or what is wrong with the key.
std::string write_csv(const Document& document, std::string key, std::ostream& out, uint64_t* left_out);
// A JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string json_string(const std::string& text);
// A field of CSV, in quotes where RFC 4180 needs them.
std::string csv_text(const std::string& text);
// The fields of a line of CSV; a field does not go over the end of its line.
std::vector<std::string> csv_fields(std::string_view line);

}  // namespace hprof::tool
