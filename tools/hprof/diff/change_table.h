// Prints rows of changes: a name, and for some values how much they changed, with both sides.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tools/hprof/diff/changes.h"

namespace hprof::tool {

// "+12", "-12.3 ms", "0".
std::string signed_text(const ProfileWeight& weight, double change);

// One value of all rows.
struct ChangeColumn {
  std::string title;
  const ProfileWeight& weight;
  Sides all = {};          // of which both sides have shares; 0: they have none
  Sampling sampling = {};  // what it explains has a mark
  bool errors = false;     // with a column of the errors, if there are any
};

class ChangeTable {
 public:
  // `what` names the rows.
  ChangeTable(std::vector<ChangeColumn> columns, const std::string& what);
  // Further lines of a name are printed below the row.
  void add(const std::vector<Sides>& values, const std::string& name);
  // left_out: how many rows have not been added, as --top says; same: how many for they did not change.
  void print(size_t left_out, size_t same, std::ostream& out) const;

 private:
  const std::vector<ChangeColumn> columns_;
  std::vector<std::vector<std::string>> cells_;
  bool any_marked_ = false;
};

// What a file has of that name: a class, or what a table's rows are named.
struct Change {
  std::string name;
  Sides values[2];  // for each column
};
using Changes = std::map<std::string, Change>;

// Prints the first `top` rows, 0 = all, the largest changes of the first column first, and behind all others
// those that sampling explains.
void print_changes(const Changes& changes, const std::vector<ChangeColumn>& columns, const char* what,
                   uint64_t top);

}  // namespace hprof::tool
