#include "tools/hprof/diff/count_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "tools/format/utf8.h"
#include "tools/format/wildcard.h"
#include "tools/hprof/diff/change_table.h"
#include "tools/hprof/print/profile_sums.h"

namespace hprof::tool {

namespace {

constexpr Measure kRows[] = {{"calls", Measure::kEither, Measure::kCount, true},
                             {"objects", Measure::kEither, Measure::kCount, true},
                             {"bytes", Measure::kEither, Measure::kBytes, true},
                             {"contentions", Measure::kEither, Measure::kCount, true},
                             {"made", Measure::kEither, Measure::kCount, true},
                             {"caught", Measure::kEither, Measure::kCount, true},
                             {"defined", Measure::kEither, Measure::kCount, true},
                             {"tasks", Measure::kEither, Measure::kCount, true},
                             {"new", Measure::kEither, Measure::kCount}};
constexpr Measures kMeasures(kRows, "name");
// The columns of a measure; of the last one the rows count.
const std::vector<std::string> kColumns[] = {
    {"calls"},
    {"allocated_objects"},
    {"allocated_bytes", "bytes"},
    {"contentions"},
    {"made"},
    {"caught"},
    {"defined"},
    {"tasks"},
    {"calls", "allocated_objects", "contentions", "made", "defined", "tasks"}};
constexpr size_t kNew = sizeof kRows / sizeof kRows[0] - 1;
constexpr size_t kCallersShown = 3;

struct CountColumn {
  const ProfileTable* table = nullptr;
  size_t weight = 0;
};

// By the tables' names: the last table of each that has one of the columns.
std::map<std::string, CountColumn> columns_of(const Profile& profile, size_t measure) {
  std::map<std::string, CountColumn> found;
  for (const LastTable& last : last_tables(profile)) {
    const std::vector<ProfileWeight>& weights = last.table->weights;
    for (size_t i = weights.size(); i-- > 0;) {
      const auto& wanted = kColumns[measure];
      if (std::find(wanted.begin(), wanted.end(), weights[i].name) != wanted.end())
        found[last.table->name] = {last.table, i};
    }
  }
  return found;
}

bool has_name(const Profile& profile, const ProfileRow& row, const std::string& name) {
  if (name.empty() || matches(name, row_name(profile, row))) return true;
  const std::vector<ProfileFrame>& frames = frames_of(profile, row);
  return !frames.empty() && matches(name, method_text(frames[0]));
}

// The rows of a table with a name, in all runs.
class CountedRows {
 public:
  CountedRows(size_t runs, const std::string& name) : runs_(runs), name_(name) {}

  // run: its number, or how many there are: AFTER.
  void add(const Profile& profile, const CountColumn& column, size_t run) {
    for (const ProfileRow& row : column.table->rows) {
      if (!has_name(profile, row, name_)) continue;
      Row& to = rows_[row_place(profile, row)];
      const auto value = static_cast<double>(row.values[column.weight]);
      add(value, run, &to.count);
      const std::vector<ProfileFrame>& frames = frames_of(profile, row);
      to.has_callers[run != runs_] = to.has_callers[run != runs_] || frames.size() > 1;
      if (frames.size() > 1) add(value, run, &to.callers[method_text(frames[1])]);
    }
  }

  bool is_empty() const { return rows_.empty(); }

  void check(CheckedCondition* checked) const {
    const Condition& condition = checked->condition;
    const bool is_new = condition.measure == kNew;
    std::vector<std::pair<double, CountRow>> ranked;
    for (const auto& [name, row] : rows_) {
      const bool is_fresh = row.count.most() == 0 && row.count.after != 0;
      if (is_new && !is_fresh) continue;
      checked->before += is_new ? 0 : row.count.before();
      checked->now += is_new ? 1 : row.count.after;
      const double amount = condition.kind == Condition::kValue ? row.count.after : row.count.change();
      const double key = condition.above ? amount : -amount;
      if (key > 0 || condition.kind == Condition::kValue) ranked.push_back({key, {name, row.count, {}}});
    }
    const double change = checked->now - checked->before;
    double value = condition.kind == Condition::kValue ? checked->now : change;
    if (condition.kind == Condition::kShare && change != 0)
      value = checked->before != 0 ? 100 * change / checked->before
                                   : std::copysign(std::numeric_limits<double>::infinity(), change);
    checked->holds = condition.holds(value);
    if (!checked->holds) return;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [key, row] : ranked) {
      if (checked->rows.size() < kCountRowsShown) row.callers = callers_of(rows_.at(row.name));
      checked->rows.push_back(std::move(row));
    }
  }

 private:
  struct Row {
    Count count;
    std::map<std::string, Count> callers;
    bool has_callers[2] = {};  // in AFTER, in BEFORE
  };

  void add(double value, size_t run, Count* to) const {
    to->runs.resize(runs_);
    (run == runs_ ? to->after : to->runs[run]) += value;
  }

  // A side that has the row without callers says nothing of them.
  static std::vector<std::pair<std::string, Count>> callers_of(const Row& row) {
    std::vector<std::pair<std::string, Count>> callers;
    if ((row.count.after != 0 && !row.has_callers[0]) || (row.count.most() != 0 && !row.has_callers[1]))
      return callers;
    for (const auto& [name, count] : row.callers)
      if (count.change() != 0) callers.emplace_back(name, count);
    std::stable_sort(callers.begin(), callers.end(), [](const auto& a, const auto& b) {
      return std::abs(a.second.change()) > std::abs(b.second.change());
    });
    return callers;
  }

  const size_t runs_;
  const std::string& name_;
  std::map<std::string, Row> rows_;
};

std::string numbers_text(const std::string& before, double change, double now) {
  return before + " before, " + number_text(now) + " now (" + change_text(change) + ")";
}

}  // namespace

std::string number_text(double value) { return std::to_string(rounded(value)); }

std::string change_text(double change) { return (change < 0 ? "-" : "+") + number_text(std::abs(change)); }

std::string before_text(const Count& count) {
  return number_text(count.least()) +
         (count.most() != count.least() ? " to " + number_text(count.most()) : "");
}

double Count::least() const { return runs.empty() ? 0 : *std::min_element(runs.begin(), runs.end()); }
double Count::most() const { return runs.empty() ? 0 : *std::max_element(runs.begin(), runs.end()); }
double Count::before() const { return std::min(std::max(after, least()), most()); }

bool parse_count_condition(const std::string& text, Condition* condition, std::string* error) {
  return parse_condition(text, kMeasures, condition, error);
}

bool check_conditions(const std::vector<Condition>& conditions, const std::vector<Profile>& before,
                      const Profile& after, std::vector<CheckedCondition>* checked, std::string* error) {
  for (const Condition& condition : conditions) {
    const auto wrong = [&](const std::string& what) {
      *error = "--fail-if=" + condition.text + ": " + what;
      return false;
    };
    std::vector<std::map<std::string, CountColumn>> runs;
    for (const Profile& profile : before) runs.push_back(columns_of(profile, condition.measure));
    const auto columns = columns_of(after, condition.measure);
    const std::string column =
        condition.measure == kNew ? "table of counts" : kMeasures[condition.measure].name;
    if (columns.empty()) return wrong(after.file + " has no " + column);
    bool any = false, is_known = false;
    for (const auto& [name, column_after] : columns) {
      CheckedCondition made;
      made.condition = condition;
      made.table = column_after.table->title;
      CountedRows rows(runs.size(), condition.name);
      const auto fault_of = [&](const Profile& profile, const ProfileTable& table) -> std::string {
        const std::string which = made.table + " of " + profile.file;
        if (is_sampled(profile, table)) return which + " is sampled; conditions take exact counts";
        return may_lack_rows(profile, table) ? which + " " + kLacksRows : "";
      };
      bool all_have = true;
      for (size_t i = 0; i < runs.size(); ++i) {
        const auto found = runs[i].find(name);
        all_have = all_have && found != runs[i].end();
        if (!all_have) break;
        const std::string fault = fault_of(before[i], *found->second.table);
        if (!fault.empty()) return wrong(fault);
        rows.add(before[i], found->second, i);
      }
      if (!all_have) continue;
      const std::string fault = fault_of(after, *column_after.table);
      if (!fault.empty()) return wrong(fault);
      rows.add(after, column_after, runs.size());
      is_known = is_known || !rows.is_empty() || condition.name.empty();
      rows.check(&made);
      checked->push_back(std::move(made));
      any = true;
    }
    for (size_t i = 0; i < runs.size() && !any; ++i)
      if (runs[i].empty() || i + 1 == runs.size())
        return wrong(before[i].file + " has no " + column + " of the same kind");
    if (!is_known) return wrong("no row of " + after.file + " or of a file before has that name");
  }
  return true;
}

std::string text_of(const CheckedCondition& checked) {
  std::string text = checked.condition.text + (checked.holds ? " holds: " : ": ") +
                     numbers_text(number_text(checked.before), checked.now - checked.before, checked.now) +
                     " in " + checked.table;
  for (size_t i = 0; i < checked.rows.size() && i < kCountRowsShown; ++i) {
    const CountRow& row = checked.rows[i];
    text += "\n  " + printable(row.name) + ": " +
            numbers_text(before_text(row.count), row.count.change(), row.count.after);
    for (size_t each = 0; each < row.callers.size() && each < kCallersShown; ++each)
      text += "\n    " + change_text(row.callers[each].second.change()) + " from " +
              printable(row.callers[each].first);
    if (row.callers.size() > kCallersShown)
      text += "\n    ... " + std::to_string(row.callers.size() - kCallersShown) + " more callers";
  }
  if (checked.rows.size() > kCountRowsShown)
    text += "\n  ... " + std::to_string(checked.rows.size() - kCountRowsShown) + " more";
  return text;
}

}  // namespace hprof::tool
