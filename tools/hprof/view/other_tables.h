// Reads tables without a form of their own in the text format: rows `TITLE: name=value name=value`, in ranked
// tables with rank=, self= and accum= first.
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
  // Adds the last table to the profile, as a plain one unless it ranks stacks: call it at each line that is
  // no row. take() adds the earlier ones.
  void finish();

 private:
  using Words = std::vector<std::pair<std::string, std::string>>;  // name and value
  static bool is_ranked(const Words& row);
  bool parse(std::string_view words, Words* row) const;
  bool continues(std::string_view title, const Words& row) const;
  bool is_trace(size_t column) const;
  bool is_number(size_t column) const;
  bool falls(size_t column) const;
  uint64_t number(size_t row, size_t column) const;
  void put_profile(size_t trace, const std::vector<size_t>& numbers, const std::vector<size_t>& texts);
  void put_plain(size_t trace);

  Profile& profile_;
  std::string title_;
  std::vector<Words> rows_;      // of the table being read; each has the names of the first
  std::set<std::string> texts_;  // of each row, those values that are no numbers
};

}  // namespace hprof::tool
