#include "tools/heap/output/html_page.h"

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
.n { text-align: right; white-space: nowrap } td:last-child { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
.note { color: #666 }
nav a { margin-right: 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } th, .note { color: #999 } a { color: #8cf } }
</style>
)";

void write_rows(const Table& table, std::ostream& out) {
  out << "<table>";
  if (!table.title.empty()) out << "<caption>" << html_text(table.title) << "</caption>";
  bool titled = false;
  for (const Column& column : table.columns) titled = titled || !column.title.empty();
  auto cell = [&](const char* tag, size_t i, const std::string& text) {
    bool number = is_number(table.columns[i]);
    out << '<' << tag << (number ? " class=\"n\">" : ">") << html_text(text) << "</" << tag << '>';
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

void write_part(const Section& section, unsigned level, std::ostream& out) {
  std::string tag = "h" + std::to_string(level);
  if (!section.title.empty()) {
    out << '<' << tag << (level == 2 ? " id=\"" + html_text(section.key) + "\"" : "") << '>'
        << html_text(section.title) << "</" << tag << ">\n";
  }
  for (const std::string& text : section.text) out << "<p>" << html_text(text) << "</p>\n";
  write_facts(section, out);
  for (const Table& table : section.tables) {
    if (table.data_only) continue;
    write_rows(table, out);
    if (table.left_out > 0) out << "<p class=\"note\">... " << count_text(table.left_out) << " more</p>\n";
    if (!table.note.empty()) out << "<p class=\"note\">" << html_text(table.note) << "</p>\n";
  }
  for (const Section& part : section.parts) write_part(part, level < 6 ? level + 1 : level, out);
}

}  // namespace

std::string html_text(const std::string& text) {
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

void write_html_section(const Section& section, std::ostream& out) { write_part(section, 3, out); }

void write_html(const Document& document, const std::string& title, std::ostream& out) {
  out << kHead << "<title>" << html_text(title) << "</title></head><body>\n<h1>" << html_text(title)
      << "</h1>\n<nav>";
  for (const Section& section : document.sections) {
    out << "<a href=\"#" << html_text(section.key) << "\">" << html_text(section.title) << "</a> ";
  }
  out << "</nav>\n";
  for (const Section& section : document.sections) write_part(section, 2, out);
  out << "</body></html>\n";
}

}  // namespace hprof::tool
