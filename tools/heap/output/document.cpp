// Renders documents as text.
#include "tools/heap/output/document.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

std::string number_text(const char* format, double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text + std::string(unit);
}

// Columns that a text takes on a terminal: continuation bytes of UTF-8 take none.
size_t width_of_text(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void pad(std::ostream& out, const std::string& text, size_t width, bool right) {
  size_t own = width_of_text(text);
  std::string blanks(own < width ? width - own : 0, ' ');
  out << (right ? blanks + text : text + blanks);
}

void write_rows(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                const std::string& indent, std::ostream& out) {
  std::vector<size_t> widths;
  bool titled = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(width_of_text(columns[i].title));
    titled = titled || !columns[i].title.empty();
    for (const auto& row : rows) widths[i] = std::max(widths[i], width_of_text(row[i]));
  }
  auto line = [&](auto text_of) {
    std::string separator = indent + "  ";
    for (size_t i = 0; i < columns.size(); ++i) {
      bool right = is_number(columns[i]);
      bool last = i + 1 == columns.size();
      out << separator;
      pad(out, text_of(i), last && !right ? 0 : widths[i], right);
      separator = "  ";
    }
    out << '\n';
  };
  if (titled) line([&](size_t i) { return columns[i].title; });
  for (const auto& row : rows) line([&](size_t i) { return row[i]; });
}

void write_table(const Table& table, const std::string& indent, std::ostream& out) {
  if (!table.title.empty()) out << indent << table.title << '\n';
  if (table.rows.empty()) {
    out << indent << "  (none)\n";
    return;
  }
  std::vector<Column> columns;
  for (const Column& column : table.columns) {
    if (!column.data_only && column.kind != CellKind::kDepth) columns.push_back(column);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      if (column.data_only || column.kind == CellKind::kDepth) continue;
      rows.back().push_back(i < row.size() ? cell_text(column, row[i]) : "");
    }
    if (table.is_tree())
      rows.back().back().insert(0, 2 * static_cast<size_t>(std::get<uint64_t>(row[0])), ' ');
  }
  write_rows(columns, rows, indent, out);
  if (table.left_out > 0) out << indent << "  ... " << count_text(table.left_out) << " more\n";
  if (!table.note.empty()) out << indent << "  " << table.note << '\n';
}

void write_section(const Section& section, unsigned depth, std::ostream& out) {
  std::string indent(2 * depth, ' ');
  if (!section.title.empty()) {
    out << indent << section.title << '\n';
    if (depth == 0) out << std::string(width_of_text(section.title), '-') << '\n';
  }
  for (const std::string& text : section.text) out << indent << text << '\n';
  bool first = section.text.empty();
  std::vector<std::vector<std::string>> facts;
  for (const Fact& fact : section.facts) {
    if (!fact.column.data_only) facts.push_back({fact.column.title, fact_text(fact)});
  }
  if (!facts.empty()) {
    if (!first) out << '\n';
    first = false;
    write_rows(std::vector<Column>(2), facts, indent, out);
  }
  for (const Table& table : section.tables) {
    if (table.data_only) continue;
    if (!first) out << '\n';
    first = false;
    write_table(table, indent, out);
  }
  for (const Section& part : section.parts) {
    out << '\n';
    write_section(part, depth + 1, out);
  }
}

}  // namespace

bool is_number(const Column& column) {
  return column.kind != CellKind::kText && column.kind != CellKind::kQuote &&
         column.kind != CellKind::kClass && column.kind != CellKind::kObject;
}

std::string bytes_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.95 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return number_text(unit == 0 ? "%.0f" : "%.1f", value, kUnits[unit]);
}

std::string count_text(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string cell_text(const Column& column, const Cell& cell) {
  if (auto* text = std::get_if<std::string>(&cell))
    return column.kind == CellKind::kQuote ? '"' + printable(*text) + '"' : *text;
  if (auto* entity = std::get_if<HeapEntity>(&cell)) return entity->text;
  if (auto* change = std::get_if<int64_t>(&cell)) {
    uint64_t size =
        *change < 0 ? uint64_t{0} - static_cast<uint64_t>(*change) : static_cast<uint64_t>(*change);
    std::string text = column.kind == CellKind::kCount ? count_text(size) : bytes_text(size);
    return (*change < 0 ? "-" : *change > 0 ? "+" : "") + text;
  }
  if (auto* real = std::get_if<double>(&cell)) return number_text("%.1f", *real * 100, "%");
  if (auto* number = std::get_if<uint64_t>(&cell))
    return column.kind == CellKind::kBytes ? bytes_text(*number) : count_text(*number);
  return "";
}

std::string fact_text(const Fact& fact) {
  return fact.text.empty() ? cell_text(fact.column, fact.value) : fact.text;
}

void write_text(const Document& document, std::ostream& out) {
  bool first = true;
  for (const Section& section : document.sections) {
    if (!first) out << '\n';
    first = false;
    write_section(section, 0, out);
  }
}

}  // namespace hprof::tool
