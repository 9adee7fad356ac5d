#include "tools/hprof/diff/profile_diff.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "tools/format/utf8.h"
#include "tools/hprof/diff/change_table.h"
#include "tools/hprof/diff/count_report.h"
#include "tools/hprof/diff/plain_diff.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/view/json_columns.h"
#include "tools/hprof/view/page.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

namespace {

// What to say if the two sides measure different things; "": they do not.
std::string clocks_text(const std::vector<Profile>& two) {
  const std::string before = clock_of(two[0]), after = clock_of(two[1]);
  if (before.empty() || after.empty() || before == after) return "";
  return "not comparable: " + two[0].file + " has " + before + ", " + two[1].file + " has " + after;
}

// The file, and which windows the table is the sum of.
std::string name_of(const Profile& profile, const ProfileTable& table) {
  std::string name = profile.file;
  for (const auto& [key, value] : profile.about)
    if (table.windows != 0 && key == "windows") name += " (" + value + ")";
  return name;
}

// How the time of the process changed, which tables of Java code lack in part; "": one side does not say it.
std::string process_change(const std::vector<Profile>& two) {
  ProcessTime times[2];
  for (size_t i = 0; i < 2; ++i) {
    const auto has_time = [&](const ProfileTable& table) { return is_of_table(times[i], table); };
    const std::vector<ProfileTable>& tables = two[i].tables;
    if (!read_process_time(two[i].notes, &times[i]) || std::none_of(tables.begin(), tables.end(), has_time))
      return "";
  }
  return change_text(times[0], times[1]);
}

// What to say of two profiles that have no table in common.
std::string without_common_table(const std::vector<Profile>& two) {
  std::string text = "the two files have no table of the same kind: ", folded;
  for (const Profile& profile : two) {
    std::string titles;
    for (const ProfileTable& table : profile.tables) titles += (titles.empty() ? "" : ", ") + table.title;
    for (const PlainTable& table : profile.plain_tables) titles += (titles.empty() ? "" : ", ") + table.title;
    text += (&profile == &two[0] ? "" : "; ") + profile.file + " has " + printable(titles);
    if (titles != "FOLDED STACKS") folded = profile.file;
  }
  if (text.find(" has FOLDED STACKS") != std::string::npos)
    text += "; hprof convert " + folded + " --to=collapsed makes folded stacks of it";
  return text;
}

// The page compares the tables that were compared.
void keep_last_tables(Profile* profile) {
  std::vector<ProfileTable> tables;
  for (const LastTable& last : last_tables(*profile)) tables.push_back(*last.table);
  profile->tables = std::move(tables);
}

// Leaves of each stack the innermost method, as a file of counts has it.
void keep_methods(Profile* profile) {
  for (auto& [number, frames] : profile->traces) {
    if (frames.empty()) continue;
    frames.resize(1);
    frames[0] = {frames[0].class_name, frames[0].method, "", 0};
  }
}

// A table that both profiles have.
class TableDiff {
 public:
  TableDiff(const ComparedTable& before, const ComparedTable& after, const Given& given)
      : before_(before), after_(after), given_(given), top_(given.number("--top", kTopRows)) {
    all_ = {sum_of(before), sum_of(after)};
    sampling_.sample =
        static_cast<double>(std::max(weight().sample, after.table.weights[after.weight].sample));
    is_scaled_ = given.has("--normalise") && all_.before != 0 && all_.after != 0;
    if (is_scaled_) sampling_.scale = all_.after / all_.before;
    sampling_.lacks_rows = any_of(may_lack_rows);
    all_.before *= sampling_.scale;
  }

  void print() const {
    if (!scaling().empty()) std::cout << scaling() << '\n';
    if (has_places()) {
      const std::string by = given_.text("--by");
      std::cout << weight().title << " by " << kind() << ", first the largest change of "
                << (puts_self_first() ? "self"
                    : by == "total"   ? by
                                      : "total that its callees do not explain")
                << '\n';
      places().print(std::cout);
    }
    if (has_rows()) rows().print(std::cout);
  }

  Section section() const {
    const ProfileTable& table = before_.table;
    Section section{"", table.title};
    if (!scaling().empty()) section.text.push_back(scaling());
    const uint64_t sample = weight().sample;
    section.facts = {data_fact("table", table.name),
                     data_fact("column", column_keys(table)[before_.weight]),
                     data_fact("unit", std::string(unit_of(weight()))),
                     data_fact("numbers", std::string(numbers_of(before_.profile, table, weight()))),
                     data_fact("sample", number_or_null(sample)),
                     data_fact("repeats", yes_or_no(repeats(before_.profile, table, weight()) &&
                                                    repeats(after_.profile, after_.table, weight()))),
                     data_fact("may_lack_rows", yes_or_no(sampling_.lacks_rows)),
                     data_fact("before_times", sampling_.scale)};
    const auto add = [&](const ChangeTable& from, const std::string& key) {
      if (section.tables.empty())
        for (Fact& fact : from.facts()) section.facts.push_back(std::move(fact));
      section.tables.push_back(from.table(key.c_str()));
    };
    if (has_places()) add(places(), kind() + "s");
    if (has_rows()) add(rows(), "rows");
    return section;
  }

 private:
  static double sum_of(const ComparedTable& from) {
    double sum = 0;
    for (const ProfileRow& row : from.table.rows) sum += static_cast<double>(row.values[from.weight]);
    return sum;
  }
  const ProfileWeight& weight() const { return before_.table.weights[before_.weight]; }
  bool any_of(bool (*has)(const Profile&, const ProfileTable&)) const {
    return has(before_.profile, before_.table) || has(after_.profile, after_.table);
  }

  std::string scaling() const {
    if (!given_.has("--normalise")) return "";
    std::ostringstream text;
    if (is_scaled_)
      text << "before times " << sampling_.scale << ", so that the totals are equal";
    else
      text << "not scaled: the total of " << (all_.before == 0 ? "BEFORE" : "AFTER") << " is 0";
    return text.str();
  }

  // Calls of a method are its own: those below it are of others.
  bool puts_self_first() const { return given_.text("--by") == "self" || weight().name == kCountWeights[0]; }
  bool is_by_line() const { return given_.has("--lines"); }
  bool is_by_stack() const { return given_.has("--traces"); }
  std::string kind() const { return is_by_line() ? "line" : "method"; }
  bool has_places() const { return any_of(has_stacks) && !is_by_stack(); }
  bool has_rows() const {
    return is_by_stack() || !any_of(has_stacks) || (!is_by_line() && any_of(has_names));
  }

  ChangeTable places() const {
    const auto text = is_by_line() ? frame_text : method_text;
    std::vector<PlaceChange> changes = changes_by_place(before_, after_, text, sampling_.scale);
    const size_t places = changes.size();
    const bool is_counted = before_.beside != SIZE_MAX && after_.beside != SIZE_MAX;
    Sides counted;
    for (PlaceChange& each : changes) {
      if (!is_counted) each.counted = {};
      counted.before += each.counted.before;
      counted.after += each.counted.after;
    }
    changes.erase(std::remove_if(changes.begin(), changes.end(),
                                 [](const PlaceChange& each) {
                                   return each.total.change() == 0 && each.self.change() == 0 &&
                                          each.counted.change() == 0;
                                 }),
                  changes.end());
    const std::string by = given_.text("--by");
    const bool is_self_first = puts_self_first();
    put_largest_first(&changes,
                      is_self_first   ? &PlaceChange::self
                      : by == "total" ? &PlaceChange::total
                                      : &PlaceChange::own,
                      sampling_);
    const char *first = is_self_first ? "self" : "total", *second = is_self_first ? "total" : "self";
    std::vector<ChangeColumn> columns = {{first, std::string(first) + "_", weight(), all_, sampling_, true},
                                         {second, std::string(second) + "_", weight(), {}, sampling_}};
    if (is_counted) {
      const ProfileWeight& beside = before_.table.weights[before_.beside];
      columns.push_back({beside.title,
                         column_keys(before_.table)[before_.beside] + "_",
                         beside,
                         {},
                         {static_cast<double>(beside.sample), sampling_.scale, sampling_.lacks_rows}});
    }
    ChangeTable table(columns,
                      kind() + (is_self_first ? " (self: innermost; total: anywhere in the stack)"
                                              : " (total: anywhere in the stack; self: innermost)"),
                      kind());
    const auto known = [&](std::vector<Sides> values) {
      values.resize(columns.size());
      return values;
    };
    table.add_sums(known({all_, all_, counted}));
    const size_t shown = top_ == 0 ? changes.size() : std::min<size_t>(changes.size(), top_);
    for (size_t i = 0; i < shown; ++i) {
      const PlaceChange& each = changes[i];
      table.add(known({is_self_first ? each.self : each.total, is_self_first ? each.total : each.self,
                       each.counted}),
                each.place);
    }
    table.leave_out(changes.size() - shown, places - changes.size());
    return table;
  }

  // What was allocated or locked, and by which method; or each stack.
  ChangeTable rows() const {
    const bool traces = is_by_stack();
    Changes changes;
    add_rows(before_, traces, &Sides::before, sampling_.scale, &changes);
    add_rows(after_, traces, &Sides::after, 1, &changes);
    return table_of_changes(changes, {{weight().title, "", weight(), all_, sampling_, true}},
                            traces ? "name, and its stack" : "name", traces ? kStackKey : "name", top_);
  }

  static void add_rows(const ComparedTable& from, bool traces, double Sides::*side, double scale,
                       Changes* changes) {
    for (const ProfileRow& row : from.table.rows) {
      std::string name = traces ? row_name(from.profile, row) : row_place(from.profile, row);
      if (traces)
        for (const ProfileFrame& frame : frames_of(from.profile, row)) name += '\n' + frame_text(frame);
      Change& change = (*changes)[name];
      change.name = name;
      change.values[0].*side += static_cast<double>(row.values[from.weight]) * scale;
    }
  }

  const ComparedTable before_, after_;
  const Given& given_;
  const uint64_t top_;
  Sides all_;
  Sampling sampling_;
  bool is_scaled_ = false;
};

size_t weight_named(const ProfileTable& table, const std::string& name) {
  for (size_t i = 0; i < table.weights.size(); ++i)
    if (table.weights[i].name == name) return i;
  return SIZE_MAX;
}

// The column to compare: BEFORE's, or if AFTER lacks it AFTER's.
size_t weight_of_both(const ProfileTable& before, const ProfileTable& after) {
  const size_t weight = preferred_weight(before);
  if (weight_named(after, before.weights[weight].name) != SIZE_MAX) return weight;
  return weight_named(before, after.weights[preferred_weight(after)].name);
}

// The columns of BEFORE's table in AFTER's.
ComparedTable counterpart(const ComparedTable& before, const Profile& profile, const ProfileTable& table) {
  const std::vector<ProfileWeight>& weights = before.table.weights;
  return {profile, table, weight_named(table, weights[before.weight].name),
          before.beside == SIZE_MAX ? SIZE_MAX : weight_named(table, weights[before.beside].name)};
}

// Writes the file of --junit, and in place of the tables what --markdown is for. Returns an ExitStatus.
int write_reports(const std::vector<CheckedCondition>& checked, const std::vector<Profile>& two,
                  const Given& given) {
  std::string path;
  if (given.has("--markdown")) write_markdown(checked, two[0].file + " and " + two[1].file, std::cout);
  if (!given.has("--junit")) return kDone;
  return write_output(given, given.text("--junit"), ".xml", junit_text(checked), &path);
}

// Says on stderr which conditions hold.
int report(const std::vector<CheckedCondition>& checked) {
  int status = kDone;
  for (const CheckedCondition& each : checked) {
    if (!each.holds) continue;
    std::cerr << "hprof: --fail-if=" << text_of(each) << '\n';
    status = kFoundProblems;
  }
  return status;
}

}  // namespace

int diff_profiles(std::vector<Profile> runs, Profile new_run, const std::vector<Condition>& conditions,
                  const Given& given) {
  std::string error;
  std::vector<CheckedCondition> checked;
  if (!check_conditions(conditions, runs, new_run, &checked, &error)) return fail(error);
  std::vector<Profile> two;
  two.push_back(std::move(runs[0]));
  two.push_back(std::move(new_run));
  if (two[0].by_method || two[1].by_method)
    for (Profile& profile : two) keep_methods(&profile);
  for (Profile& profile : two)
    if (!rank_by(given.text("--by"), &profile, &error)) return fail(error);
  bool any = false;
  const std::string clocks = clocks_text(two);
  if (!clocks.empty()) std::cerr << "hprof: " << clocks << '\n';
  const std::string process = process_change(two);
  if (!process.empty() && !given.has("--json") && !given.has("--markdown")) std::cout << process << '\n';
  Section changes{"changes", two[0].file + " and " + two[1].file};
  if (!process.empty()) changes.text.push_back(process);
  if (!clocks.empty()) changes.text.push_back(clocks);
  changes.facts = {data_fact("before", two[0].file), data_fact("after", two[1].file)};
  std::map<std::string, LastTable> others;
  for (const LastTable& each : last_tables(two[1])) others.emplace(each.table->name, each);
  for (const LastTable& last : last_tables(two[0])) {
    const auto other = others.find(last.table->name);
    if (other == others.end()) continue;
    const size_t weight = weight_of_both(*last.table, *other->second.table);
    if (weight == SIZE_MAX) continue;
    const ComparedTable before = {two[0], *last.table, weight, weight_beside(*last.table, weight)};
    const ComparedTable after = counterpart(before, two[1], *other->second.table);
    if (after.weight == SIZE_MAX) continue;
    any = true;
    if (given.has("--markdown")) continue;
    if (given.has("--json")) {
      changes.parts.push_back(TableDiff(before, after, given).section());
      continue;
    }
    std::cout << before.table.title << " of " << name_of(two[0], before.table) << " and "
              << name_of(two[1], after.table);
    if (last.of > 1 || other->second.of > 1) std::cout << ", the last of each: it holds all that was seen";
    std::cout << '\n';
    TableDiff(before, after, given).print();
  }
  const std::string by = given.text("--by");
  const uint64_t top = given.number("--top", kTopRows);
  Section plain = json_of_plain_changes(two[0], two[1], by, top);
  any = any || !plain.parts.empty();
  if (!given.has("--markdown") && !given.has("--json"))
    print_plain_changes(two[0], two[1], by, top, std::cout);
  if (!any) return fail(without_common_table(two));
  if (given.has("--json")) {
    Document document = {{}, {std::move(changes), std::move(plain), json_of(checked)}, kDiffSchema};
    for (const Profile& profile : two)
      if (!profile.unread.empty()) document.problems.push_back(profile.file + ": " + profile.unread);
    write_json(document, std::cout);
  }
  int status = write_reports(checked, two, given);
  if (status == kDone && given.has("-o")) {
    for (Profile& profile : two) keep_last_tables(&profile);
    status = show_page(two, given.text("-o"), given);
  }
  return status == kDone ? report(checked) : status;
}

}  // namespace hprof::tool
