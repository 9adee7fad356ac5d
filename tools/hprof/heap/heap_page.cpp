#include "tools/hprof/heap/heap_page.h"

#include <algorithm>
#include <sstream>

#include "tools/heap/output/html_page.h"
#include "tools/hprof/view/page.h"

namespace hprof::tool {

namespace {

const Section* section_of(const Document& document, const std::string& key) {
  for (const Section& section : document.sections) {
    if (section.key == key) return &section;
  }
  return nullptr;
}

const Table* table_of(const Section* section, const std::string& key) {
  if (section == nullptr) return nullptr;
  for (const Table& table : section->tables) {
    if (table.key == key) return &table;
  }
  return nullptr;
}

size_t column_of(const Table& table, const std::string& key) {
  size_t at = 0;
  while (at < table.columns.size() && table.columns[at].key != key) ++at;
  return at;
}

// The rows of the dominator tree as stacks: a frame for each object, and what it retains without those above
// it.
Profile tree_profile(const Document& document, const std::string& title) {
  Profile profile;
  profile.file = title;
  const Table* tree = table_of(section_of(document, "dominators"), "tree");
  ProfileTable table{
      "dominators", "DOMINATOR TREE", {{"bytes", "retained", ProfileWeight::kBytes, true, false}}, {}};
  const size_t bytes = column_of(*tree, "retained_bytes"), object = column_of(*tree, "object");
  auto depth_of = [&](size_t row) { return std::get<uint64_t>(tree->rows[row][0]); };
  std::vector<uint64_t> own(tree->rows.size());
  std::vector<size_t> above;  // rows
  std::vector<ProfileFrame> stack;
  for (size_t row = 0; row < tree->rows.size(); ++row) {
    if (const auto* value = std::get_if<uint64_t>(&tree->rows[row][bytes])) own[row] = *value;
    above.resize(std::min<size_t>(above.size(), depth_of(row)));
    stack.resize(above.size());
    if (!above.empty()) own[above.back()] -= std::min(own[above.back()], own[row]);
    above.push_back(row);
    std::string name = cell_text(tree->columns[object], tree->rows[row][object]);
    if (name.rfind("... ", 0) == 0) name = '(' + name.substr(4) + ')';  // dots separate packages in the page
    stack.push_back({"", name, "", 0});
    profile.traces[row + 1].assign(stack.rbegin(), stack.rend());
  }
  for (size_t row = 0; row < own.size(); ++row) table.rows.push_back({row + 1, {own[row]}});
  profile.tables.push_back(table);
  profile.notes.push_back(
      "Each object is below the one that retains it, and as wide as what it retains itself.");
  return profile;
}

// The first object of a path, the references from there on, and the last object.
std::string path_line(const Table& path) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t row = 0; row < path.rows.size(); ++row) {
    const bool last = row + 1 == path.rows.size();
    if (row == kShown && !last) text += " \xe2\x86\x92 ...";
    if (row >= kShown && !last) continue;
    const std::string object = cell_text(path.columns[1], path.rows[row][1]);
    std::string step = cell_text(path.columns[0], path.rows[row][0]);
    if (last) step += ' ' + object;
    text += row == 0 ? object : " \xe2\x86\x92 " + step;
  }
  return text;
}

// What the first screen says: each suspect in two lines, with its tables folded; then the rest of the answer.
std::string answer(const Document& document) {
  std::ostringstream out;
  const Section* leaks = section_of(document, "leaks");
  for (const std::string& problem : document.problems)
    out << "<p>Incomplete: " << html_text(problem) << "</p>\n";
  if (leaks != nullptr) {
    for (const std::string& text : leaks->text) out << "<p>" << html_text(text) << "</p>\n";
    for (const Section& part : leaks->parts) {
      out << "<details><summary>" << html_text(part.title) << "</summary>\n";
      Section inner = part;
      inner.title.clear();
      write_html_section(inner, out);
      out << "</details>\n";
      const Table* path = table_of(&part, "path");
      if (path != nullptr) out << "<p class=\"held\">" << html_text(path_line(*path)) << "</p>\n";
    }
  }
  out << "<details><summary>The dump, its classes, packages, loaders, threads and strings</summary>\n";
  for (const Section& section : document.sections) {
    if (section.key != "leaks" && section.key != "dominators") write_html_section(section, out);
  }
  out << "</details>\n";
  return out.str();
}

}  // namespace

void write_heap_page(const Document& document, const std::string& title, std::ostream& out) {
  if (table_of(section_of(document, "dominators"), "tree") == nullptr)
    return write_html(document, title, out);
  write_page({tree_profile(document, title)}, out, answer(document));
}

}  // namespace hprof::tool
