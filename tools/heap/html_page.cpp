// Tables as tables; a table whose first column is a depth becomes a tree.
#include "tools/heap/html_page.h"

#include <ostream>

namespace hprof::tool {

namespace {

// The policy makes the browser refuse whatever names in the heap might inject.
constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; border-bottom: 1px solid #ccc; margin-top: 2em } h3 { font-size: 1.05em }
table { border-collapse: collapse; margin: .5em 0 } caption { text-align: left; font-weight: 600 }
th, td { padding: .1em .9em .1em 0; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums }
th { color: #666; font-weight: normal; border-bottom: 1px solid #ddd }
.n { text-align: right; white-space: nowrap } td:last-child, summary, .leaf { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
.note { color: #666 } details, .leaf { margin-left: 1.4em } .leaf { padding-left: 1em } b { font-weight: normal; color: #a30 }
nav a { margin-right: 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } th, .note { color: #999 } b { color: #f96 } a { color: #8cf } }
</style>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  }
  return result;
}

uint64_t depth_of(const Table& table, size_t row) {
  return row < table.rows.size() ? std::get<uint64_t>(table.rows[row][0]) : 0;
}

// Writes a <details> for each row that has deeper rows below it.
void write_tree(const Table& table, std::ostream& out) {
  uint64_t open = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    uint64_t depth = depth_of(table, row);
    for (; open > depth; --open) out << "</details>\n";
    std::string line;
    for (size_t i = 1; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      std::string text = column.data_only ? "" : escaped(cell_text(column, table.rows[row][i]));
      if (!text.empty()) line += column.kind == CellKind::kObject ? text : "<b>" + text + "</b> ";
    }
    if (depth_of(table, row + 1) > depth) {
      out << "<details><summary>" << line << "</summary>\n";
      open = depth + 1;
    } else {
      out << "<div class=\"leaf\">" << line << "</div>\n";
    }
  }
  for (; open > 0; --open) out << "</details>\n";
}

void write_rows(const Table& table, std::ostream& out) {
  out << "<table>";
  if (!table.title.empty()) out << "<caption>" << escaped(table.title) << "</caption>";
  bool titled = false;
  for (const Column& column : table.columns) titled = titled || !column.title.empty();
  auto cell = [&](const char* tag, size_t i, const std::string& text) {
    bool number = is_number(table.columns[i]);
    out << '<' << tag << (number ? " class=\"n\">" : ">") << escaped(text) << "</" << tag << '>';
  };
  if (titled) {
    out << "\n<tr>";
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (!table.columns[i].data_only) cell("th", i, table.columns[i].title);
    out << "</tr>";
  }
  for (const auto& row : table.rows) {
    out << "\n<tr>";
    for (size_t i = 0; i < row.size(); ++i)
      if (!table.columns[i].data_only) cell("td", i, cell_text(table.columns[i], row[i]));
    out << "</tr>";
  }
  out << "</table>\n";
}

void write_facts(const Section& section, std::ostream& out) {
  Table table{"facts", "", {{"", ""}, {"", ""}}};
  for (const Fact& fact : section.facts) {
    if (!fact.column.data_only) table.rows.push_back({fact.column.title, fact_text(fact)});
  }
  if (!table.rows.empty()) write_rows(table, out);
}

void write_section(const Section& section, unsigned level, std::ostream& out) {
  std::string tag = "h" + std::to_string(level);
  if (!section.title.empty()) {
    out << '<' << tag << (level == 2 ? " id=\"" + escaped(section.key) + "\"" : "") << '>'
        << escaped(section.title) << "</" << tag << ">\n";
  }
  for (const std::string& text : section.text) out << "<p>" << escaped(text) << "</p>\n";
  write_facts(section, out);
  for (const Table& table : section.tables) {
    if (table.data_only) continue;
    if (table.is_tree()) {
      write_tree(table, out);
    } else {
      write_rows(table, out);
    }
    if (table.left_out > 0) out << "<p class=\"note\">... " << count_text(table.left_out) << " more</p>\n";
    if (!table.note.empty()) out << "<p class=\"note\">" << escaped(table.note) << "</p>\n";
  }
  for (const Section& part : section.parts) write_section(part, level < 6 ? level + 1 : level, out);
}

}  // namespace

void write_html(const Document& document, const std::string& title, std::ostream& out) {
  out << kHead << "<title>" << escaped(title) << "</title></head><body>\n<h1>" << escaped(title)
      << "</h1>\n<nav>";
  for (const Section& section : document.sections) {
    out << "<a href=\"#" << escaped(section.key) << "\">" << escaped(section.title) << "</a> ";
  }
  out << "</nav>\n";
  for (const Section& section : document.sections) write_section(section, 2, out);
  out << "</body></html>\n";
}

}  // namespace hprof::tool
