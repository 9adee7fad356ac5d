// Renders documents as text and JSON.
#include "tools/heap/document.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ostream>

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

void write_table(const Table& table, const std::string& indent, std::ostream& out) {
  if (!table.title.empty()) out << indent << table.title << '\n';
  if (table.rows.empty()) {
    out << indent << "  (none)\n";
    return;
  }
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> widths;
  bool titled = false;
  for (const Column& column : table.columns) {
    widths.push_back(width_of_text(column.title));
    titled = titled || !column.title.empty();
  }
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      rows.back().push_back(cell_text(table.columns[i], row[i]));
      widths[i] = std::max(widths[i], width_of_text(rows.back().back()));
    }
  }
  auto line = [&](auto text_of) {
    std::string separator = indent + "  ";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].kind == CellKind::kData) continue;
      bool right = table.columns[i].kind != CellKind::kText;
      bool last = i + 1 == table.columns.size();
      out << separator;
      pad(out, text_of(i), last && !right ? 0 : widths[i], right);
      separator = "  ";
    }
    out << '\n';
  };
  if (titled) line([&](size_t i) { return table.columns[i].title; });
  for (const auto& row : rows) line([&](size_t i) { return row[i]; });
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
  for (const Table& table : section.tables) {
    if (!first) out << '\n';
    first = false;
    write_table(table, indent, out);
  }
  for (const Section& part : section.parts) {
    out << '\n';
    write_section(part, depth + 1, out);
  }
}

// Bytes of the well-formed character at this position; 0: there is none, or a surrogate.
size_t utf8_length(const std::string& text, size_t at) {
  auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0};
  };
  uint8_t c = byte(0), second = byte(1);
  size_t length = c < 0x80                ? 1
                  : c >= 0xc2 && c < 0xe0 ? 2
                  : c >= 0xe0 && c < 0xf0 ? 3
                  : c >= 0xf0 && c < 0xf5 ? 4
                                          : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
  bool outside = (c == 0xed && second >= 0xa0) || (c == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

std::string json_cell(const Cell& cell) {
  if (auto* text = std::get_if<std::string>(&cell)) return json_string(*text);
  if (auto* number = std::get_if<uint64_t>(&cell)) return std::to_string(*number);
  if (auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  return number_text("%.6g", std::get<double>(cell), "");
}

void json_section(const Section& section, std::ostream& out) {
  out << "{\"title\":" << json_string(section.title);
  if (!section.text.empty()) {
    out << ",\"text\":[";
    for (size_t i = 0; i < section.text.size(); ++i)
      out << (i == 0 ? "" : ",") << json_string(section.text[i]);
    out << "]";
  }
  for (const Table& table : section.tables) {
    out << ",\n" << json_string(table.key) << ":[";
    for (size_t r = 0; r < table.rows.size(); ++r) {
      out << (r == 0 ? "\n{" : ",\n{");
      for (size_t i = 0; i < table.rows[r].size(); ++i) {
        out << (i == 0 ? "" : ",") << json_string(table.columns[i].key) << ":" << json_cell(table.rows[r][i]);
      }
      out << "}";
    }
    out << "]";
  }
  if (!section.parts.empty()) {
    out << ",\n\"parts\":[";
    for (size_t i = 0; i < section.parts.size(); ++i) {
      out << (i == 0 ? "" : ",");
      json_section(section.parts[i], out);
    }
    out << "]";
  }
  out << "}";
}

}  // namespace

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
  if (auto* text = std::get_if<std::string>(&cell)) return *text;
  if (auto* change = std::get_if<int64_t>(&cell)) {
    uint64_t size =
        *change < 0 ? uint64_t{0} - static_cast<uint64_t>(*change) : static_cast<uint64_t>(*change);
    std::string text = column.kind == CellKind::kCount ? count_text(size) : bytes_text(size);
    return (*change < 0 ? "-" : *change > 0 ? "+" : "") + text;
  }
  if (auto* real = std::get_if<double>(&cell)) return number_text("%.1f", *real * 100, "%");
  uint64_t number = std::get<uint64_t>(cell);
  return column.kind == CellKind::kBytes ? bytes_text(number) : count_text(number);
}

void write_text(const Document& document, std::ostream& out) {
  bool first = true;
  for (const Section& section : document.sections) {
    if (!first) out << '\n';
    first = false;
    write_section(section, 0, out);
  }
}

void write_json(const Document& document, std::ostream& out) {
  out << "{";
  for (size_t i = 0; i < document.sections.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << json_string(document.sections[i].key) << ":";
    json_section(document.sections[i], out);
  }
  out << "\n}\n";
}

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    auto byte = static_cast<unsigned char>(c);
    size_t length = utf8_length(text, at);
    if (length == 0) {
      result += "\\ufffd";
      length = 1;
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      result += escaped;
    } else if (byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0) {  // a control, too
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(text[at + 1]));
      result += escaped;
    } else {
      result.append(text, at, length);
    }
    at += length;
  }
  return result + "\"";
}

}  // namespace hprof::tool
