// Reads ranked tables without a form of their own in the text format: rows `TITLE: rank=1 self=75.00% ...
// name=value`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

class OtherTables {
 public:
  explicit OtherTables(Profile* profile) : profile_(*profile) {}
  // Takes a row, after the traces that it names. False: the line is none.
  bool take(std::string_view line);
  // Adds the last table to the profile, as a plain one if it has no stacks or numbers. take() adds the
  // earlier ones.
  void finish();

 private:
  using Words = std::vector<std::pair<std::string, std::string>>;  // name and value
  bool is_trace(size_t column) const;
  bool is_number(size_t column) const;
  bool falls(size_t column) const;
  uint64_t number(size_t row, size_t column) const;

  Profile& profile_;
  std::string title_;
  std::vector<Words> rows_;         // of the table being read; each has the names of the first
  std::vector<std::string> lines_;  // the same as text
};

}  // namespace hprof::tool
