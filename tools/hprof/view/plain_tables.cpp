#include "tools/hprof/view/plain_tables.h"

#include <sstream>

#include "tools/format/utf8.h"
#include "tools/heap/output/html_page.h"

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

void write_cells(const PlainTable& table, uint64_t top, std::ostream& out) {
  write_text({{}, {{"", "", {}, {table_of(table, top)}}}}, out);
}

std::string html_of_plain_tables(const Profile& profile) {
  std::ostringstream out;
  const bool is_all = profile.tables.empty();
  for (const PlainTable& table : profile.plain_tables) {
    if (table.rows.empty()) continue;
    out << "<details" << (is_all ? " open" : "") << "><summary>" << html_text(printable(table.title)) << ", "
        << table.rows.size() << (table.rows.size() == 1 ? " row" : " rows")
        << (table.windows > 1 ? ", the last of " + std::to_string(table.windows) + " windows" : "")
        << "</summary>\n";
    write_html_section({"", "", {}, {table_of(with_columns(table), 0)}}, out);
    out << "</details>\n";
  }
  return out.str();
}

}  // namespace hprof::tool
