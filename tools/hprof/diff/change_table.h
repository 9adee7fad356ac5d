// Rows of changes, as text and as JSON: a name, and for some values how much they changed, with both sides.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/hprof/diff/changes.h"

namespace hprof::tool {

// "+12", "-12.3 ms", "0".
std::string signed_text(const ProfileWeight& weight, double change);

// One value of all rows.
struct ChangeColumn {
  std::string title;
  std::string key;  // in JSON
  const ProfileWeight& weight;
  Sides all = {};          // of which both sides have shares; 0: they have none
  Sampling sampling = {};  // what it explains has a mark
  bool errors = false;     // with a column of the errors, if there are any
};

class ChangeTable {
 public:
  // `what` names the rows, in JSON `key`.
  ChangeTable(std::vector<ChangeColumn> columns, std::string what, std::string key)
      : columns_(std::move(columns)), what_(std::move(what)), key_(std::move(key)) {}
  // The sums of all rows, the first line of the text.
  void add_sums(std::vector<Sides> values) { sums_ = std::move(values); }
  // Further lines of a name are printed below the row.
  void add(std::vector<Sides> values, std::string name);
  // How many rows have not been added, as --top says, and how many since they did not change.
  void leave_out(size_t rows, size_t same);

  void print(std::ostream& out) const;
  Table table(const char* key) const;
  // "sum_before" and "sum_after" of the first column, "calls_sum_before" of others.
  std::vector<Fact> facts() const;

 private:
  struct Row {
    std::vector<Sides> values;  // of columns
    std::string name;
  };
  std::vector<std::string> head() const;
  std::vector<std::string> cells_of(const Row& row) const;

  std::vector<ChangeColumn> columns_;
  std::string what_, key_;
  std::vector<Sides> sums_;
  std::vector<Row> rows_;
  size_t left_out_ = 0, same_ = 0;
};

// The key of rows with stacks: in the text a name and its stack are one, in JSON two fields.
constexpr char kStackKey[] = "stack";

// What a file has of that name: a class, or what a table's rows are named.
struct Change {
  std::string name;
  Sides values[2];  // for each column
};
using Changes = std::map<std::string, Change>;

// The first `top` rows, 0 = all, the largest changes of the first column first, and behind all others those
// that sampling explains.
ChangeTable table_of_changes(const Changes& changes, const std::vector<ChangeColumn>& columns,
                             const char* what, const char* key, uint64_t top);

}  // namespace hprof::tool
