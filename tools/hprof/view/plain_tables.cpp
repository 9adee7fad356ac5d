#include "tools/hprof/view/plain_tables.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tools/format/utf8.h"
#include "tools/heap/output/html_page.h"
#include "tools/hprof/command.h"
#include "tools/hprof/view/json_columns.h"

namespace hprof::tool {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

Table table_of(const PlainTable& from, uint64_t top) {
  Table table{"rows", "", {}};
  for (size_t i = 0; i < from.columns.size(); ++i) {
    const CellKind kind = has_numbers(from, i) ? CellKind::kNumber : CellKind::kText;
    table.columns.push_back({"", printable(from.columns[i]), kind});
  }
  for (const std::vector<std::string>& row : from.rows) {
    if (top != 0 && table.rows.size() == top) break;
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const std::string& cell : row) cells.emplace_back(printable(cell));
  }
  table.left_out = from.rows.size() - table.rows.size();
  return table;
}

}  // namespace

Cell data_cell(const std::string& text) {
  uint64_t number = 0;
  if (parse_number(text, UINT64_MAX, &number)) return number;
  const bool is_decimal = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return is_decimal ? Cell(std::strtod(text.c_str(), nullptr)) : Cell(text);
}

PlainTable with_columns(const PlainTable& table) {
  if (!table.columns.empty()) return table;
  PlainTable made{table.title, {}, {}, words_of(table.head.size() > 1 ? table.head[1] : "")};
  for (const std::vector<std::string>& row : table.rows) {
    made.rows.push_back(words_of(row[0]));
    if (made.rows.back().size() == made.columns.size()) continue;
    made.columns = {table.head.size() > 1 ? table.head[1] : ""};
    made.rows = table.rows;
    break;
  }
  return made;
}

std::string windows_text(const PlainTable& table) {
  if (table.windows < 2) return "";
  const std::string windows = std::to_string(table.windows) + " windows";
  if (table.kinds.empty()) return "the last of " + windows;
  const bool has_states =
      std::find(table.kinds.begin(), table.kinds.end(), PlainTable::Kind::kState) != table.kinds.end();
  return "the sum of " + windows + (has_states ? ", states as at the end of the last one" : "");
}

Section section_of(const PlainTable& from, uint64_t top) {
  const PlainTable whole = with_columns(from);
  const bool has_columns = !from.columns.empty() || whole.columns.size() > 1;
  const std::vector<std::string> keys =
      distinct_keys(has_columns ? whole.columns : std::vector<std::string>{"line"}, {});
  Section section{"", from.title, from.head};
  section.facts = {data_fact("is_read", yes_or_no(from.is_kept())),
                   data_fact("windows", number_or_null(from.windows)),
                   data_fact("is_sum", yes_or_no(from.windows > 1 && !from.kinds.empty()))};
  Table table{"rows", "", {}};
  for (size_t i = 0; i < keys.size(); ++i)
    table.columns.push_back({keys[i], "", has_numbers(whole, i) ? CellKind::kNumber : CellKind::kText});
  for (const std::vector<std::string>& row : whole.rows) {
    if (top != 0 && table.rows.size() == top) break;
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (size_t i = 0; i < keys.size(); ++i)
      cells.push_back(table.columns[i].kind == CellKind::kNumber ? data_cell(row[i]) : Cell(row[i]));
  }
  table.left_out = whole.rows.size() - table.rows.size();
  section.tables.push_back(std::move(table));
  return section;
}

void write_cells(const PlainTable& table, uint64_t top, std::ostream& out) {
  write_text({{}, {{"", "", {}, {table_of(table, top)}}}}, out);
}

std::string html_of_plain_tables(const Profile& profile) {
  std::ostringstream out;
  const bool is_all = profile.tables.empty();
  for (const PlainTable& table : profile.plain_tables) {
    if (table.rows.empty()) continue;
    out << "<details" << (is_all ? " open" : "") << "><summary>" << html_text(printable(table.title)) << ", "
        << table.rows.size() << (table.rows.size() == 1 ? " row" : " rows") << (table.windows > 1 ? ", " : "")
        << windows_text(table) << "</summary>\n";
    write_html_section({"", "", {}, {table_of(with_columns(table), 0)}}, out);
    out << "</details>\n";
  }
  return out.str();
}

}  // namespace hprof::tool
