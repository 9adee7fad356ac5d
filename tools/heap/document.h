// The result of a command before it becomes text, JSON or a page: sections with sentences and tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

namespace hprof::tool {

enum class CellKind : uint8_t {
  kText,
  kCount,    // of objects and the like
  kBytes,    // shown as KiB, MiB, ...
  kExact,    // bytes, not rounded
  kPercent,  // of a whole, as a fraction
  kData,     // a number that the text form omits
  kChange    // a difference of bytes, with its sign
};

struct Column {
  std::string key;    // in JSON
  std::string title;  // in text
  CellKind kind = CellKind::kText;
};

using Cell = std::variant<std::string, uint64_t, int64_t, double>;

struct Table {
  std::string key;
  std::string title;
  std::vector<Column> columns;  // the last one may be of any width
  std::vector<std::vector<Cell>> rows = {};
  uint64_t left_out = 0;  // rows that are not shown
  std::string note = "";  // below it
};

// Columns of several tables.
inline const Column kObjectCount{"objects", "objects", CellKind::kCount};
inline const Column kShallow{"shallow_bytes", "shallow", CellKind::kBytes};
inline const Column kRetained{"retained_bytes", "retained", CellKind::kBytes};
inline const Column kRetainedPart{"retained_part", "of all", CellKind::kPercent};
inline const Column kObject{"object", "object"};

// Keeps the first `top` rows, 0 = all. Returns how many are left out.
template <typename Row>
uint64_t cut(std::vector<Row>& rows, size_t top) {
  const size_t kept = top == 0 ? rows.size() : std::min(top, rows.size()), left_out = rows.size() - kept;
  rows.resize(kept);
  return left_out;
}

struct Section {
  std::string key;
  std::string title;
  std::vector<std::string> text = {};  // sentences, a line each
  std::vector<Table> tables = {};
  std::vector<Section> parts = {};
};

struct Document {
  std::vector<Section> sections;
};

inline double part_of(uint64_t bytes, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(all);
}
// "1.5 MiB".
std::string bytes_text(uint64_t bytes);
// "1,234,567".
std::string count_text(uint64_t count);
std::string cell_text(const Column& column, const Cell& cell);

void write_text(const Document& document, std::ostream& out);
void write_json(const Document& document, std::ostream& out);
// A JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string json_string(const std::string& text);

}  // namespace hprof::tool
