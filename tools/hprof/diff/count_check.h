// Conditions of --fail-if on exact counts: calls, objects, bytes, contentions, made, caught, defined, tasks,
// and new rows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/heap/questions/conditions.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// False with *error: it is none of those.
bool parse_count_condition(const std::string& text, Condition* condition, std::string* error);

// A number in each run of BEFORE, and in AFTER.
struct Count {
  std::vector<double> runs;
  double after = 0;

  double least() const;
  double most() const;
  // What the runs have that is nearest to AFTER: within their range nothing changed.
  double before() const;
  double change() const { return after - before(); }
};

struct CountRow {
  std::string name;  // a method; a class or monitor and the method
  Count count;
  std::vector<std::pair<std::string, Count>> callers;  // that changed; empty: not known
};

struct CheckedCondition {
  Condition condition;
  std::string table;  // its title
  double before = 0, now = 0;
  bool holds = false;
  std::vector<CountRow> rows;  // why it holds: the largest change first
};

// Checks each condition in each table that has its column. False with *error: there is none in both, or it is
// one of samples or may lack rows, or no row has the name.
bool check_conditions(const std::vector<Condition>& conditions, const std::vector<Profile>& before,
                      const Profile& after, std::vector<CheckedCondition>* checked, std::string* error);

constexpr size_t kCountRowsShown = 5;  // of the rows why a condition holds
std::string number_text(double value);
std::string change_text(double change);       // "+12", "-3"
std::string before_text(const Count& count);  // "10", "10 to 12" of several runs
// "calls>+0 holds: 10 before, 12 now (+2)", and lines with the rows and their callers.
std::string text_of(const CheckedCondition& checked);

}  // namespace hprof::tool
