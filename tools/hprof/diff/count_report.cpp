#include "tools/hprof/diff/count_report.h"

#include <algorithm>

#include "tools/format/utf8.h"
#include "tools/heap/output/html_page.h"

namespace hprof::tool {

namespace {

// As code in a cell of a table: no name can end either.
std::string code(const std::string& text) {
  std::string made = "<code>";
  for (const char letter : html_text(printable(text)))
    made += letter == '|' ? "&#124;" : letter == '`' ? "&#96;" : std::string(1, letter);
  return made + "</code>";
}

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
        << each.table << " | " << number_text(each.before) << " | " << number_text(each.now) << " | "
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

}  // namespace hprof::tool
