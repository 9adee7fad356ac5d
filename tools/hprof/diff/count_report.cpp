#include "tools/hprof/diff/count_report.h"

#include <algorithm>

#include "tools/format/utf8.h"
#include "tools/heap/output/html_page.h"
#include "tools/hprof/view/json_columns.h"

namespace hprof::tool {

namespace {

// In a cell of a table, which no name can end.
std::string in_cell(const std::string& text) {
  std::string made;
  for (const char letter : html_text(printable(text)))
    made += letter == '|' ? "&#124;" : letter == '`' ? "&#96;" : std::string(1, letter);
  return made;
}

std::string code(const std::string& text) { return "<code>" + in_cell(text) + "</code>"; }

constexpr size_t kCallersInJson = 20;  // of all rows of a condition

size_t count_failed(const std::vector<CheckedCondition>& checked) {
  return static_cast<size_t>(
      std::count_if(checked.begin(), checked.end(), [](const CheckedCondition& each) { return each.holds; }));
}

}  // namespace

void write_markdown(const std::vector<CheckedCondition>& checked, const std::string& files,
                    std::ostream& out) {
  const size_t failed = count_failed(checked);
  out << "**hprof diff** of " << code(files) << ": "
      << (failed == 0 ? "no condition holds"
                      : std::to_string(failed) + " of " + std::to_string(checked.size()) +
                            (failed == 1 ? " conditions holds" : " conditions hold"))
      << "\n\n| condition | | in | before | now | change |\n| --- | --- | --- | ---: | ---: | ---: |\n";
  for (const CheckedCondition& each : checked)
    out << "| " << code(each.condition.text) << " | " << (each.holds ? "**fails**" : "passes") << " | "
        << in_cell(each.table) << " | " << number_text(each.before) << " | " << number_text(each.now) << " | "
        << change_text(each.now - each.before) << " |\n";
  if (failed == 0) return;
  out << "\n| row | before | now | change | from |\n| --- | ---: | ---: | ---: | --- |\n";
  for (const CheckedCondition& each : checked) {
    for (size_t i = 0; i < each.rows.size() && i < kCountRowsShown; ++i) {
      const CountRow& row = each.rows[i];
      out << "| " << code(row.name) << " | " << before_text(row.count) << " | "
          << number_text(row.count.after) << " | " << change_text(row.count.change()) << " | "
          << (row.callers.empty() ? "" : code(row.callers[0].first)) << " |\n";
    }
  }
}

std::string junit_text(const std::vector<CheckedCondition>& checked) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hprof diff\" tests=\"" +
                     std::to_string(checked.size()) + "\" failures=\"" +
                     std::to_string(count_failed(checked)) + "\" errors=\"0\" skipped=\"0\">\n";
  for (const CheckedCondition& each : checked) {
    text += "  <testcase classname=\"hprof.diff\" name=\"" +
            html_text(printable(each.condition.text) + " in " + printable(each.table)) + "\"";
    if (each.holds) {
      const std::string failure = text_of(each);
      text += "><failure message=\"" + html_text(failure.substr(0, failure.find('\n'))) + "\">" +
              html_text(failure) + "</failure></testcase>\n";
    } else {
      text += "/>\n";
    }
  }
  return text + "</testsuite>\n";
}

Section json_of(const std::vector<CheckedCondition>& checked) {
  const auto number = [](double value) { return Cell(rounded(value)); };
  const auto change = [](double value) { return Cell(rounded_change(value)); };
  const auto column = [](const char* key) { return data_column(key, CellKind::kNumber); };
  Section section{"conditions", "conditions of --fail-if"};
  section.facts = {data_fact("conditions", uint64_t{checked.size()}),
                   data_fact("hold", uint64_t{count_failed(checked)})};
  Table all{
      "conditions",
      "",
      {{"condition", ""}, {"holds", ""}, {"table", ""}, column("before"), column("now"), column("change")}};
  for (const CheckedCondition& each : checked) {
    all.rows.push_back({each.condition.text, yes_or_no(each.holds), each.table, number(each.before),
                        number(each.now), change(each.now - each.before)});
    if (!each.holds) continue;
    Section part{"", each.condition.text};
    part.facts = {data_fact("condition", each.condition.text), data_fact("table", each.table)};
    Table rows{
        "rows",
        "",
        {column("before_least"), column("before_most"), column("now"), column("change"), {"name", ""}}};
    Table callers{"callers",
                  "",
                  {column("before_least"),
                   column("before_most"),
                   column("now"),
                   column("change"),
                   {"name", ""},
                   {"caller", ""}}};
    const auto cells = [&](const Count& count) -> std::vector<Cell> {
      return {number(count.least()), number(count.most()), number(count.after), change(count.change())};
    };
    const size_t shown = std::min(each.rows.size(), kCountRowsShown);
    for (size_t i = 0; i < shown; ++i) {
      rows.rows.push_back(cells(each.rows[i].count));
      rows.rows.back().emplace_back(each.rows[i].name);
      for (const auto& [caller, count] : each.rows[i].callers) {
        if (callers.rows.size() == kCallersInJson) {
          callers.left_out++;
          continue;
        }
        callers.rows.push_back(cells(count));
        callers.rows.back().emplace_back(each.rows[i].name);
        callers.rows.back().emplace_back(caller);
      }
    }
    rows.left_out = each.rows.size() - shown;
    part.tables = {std::move(rows), std::move(callers)};
    section.parts.push_back(std::move(part));
  }
  section.tables.push_back(std::move(all));
  return section;
}

}  // namespace hprof::tool
