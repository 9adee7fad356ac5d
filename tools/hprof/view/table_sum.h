// The sum of tables of one name: of windows, or of processes.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

class TableSum {
 public:
  enum class Of {
    kWindows,    // of one process: a state is that of the last table
    kProcesses,  // states add up, too
  };
  explicit TableSum(Of of) : of_(of) {}
  // Takes the rows out of the table. Windows come in the order of time.
  void add(ProfileTable& table);
  // The rows with the largest numbers first.
  ProfileTable take();

 private:
  std::vector<size_t> columns_of(const ProfileTable& table);
  void add(ProfileRow& row, const std::vector<size_t>& columns);
  void add_totals(const ProfileTable& table, const std::vector<size_t>& columns);
  bool keeps_last(const ProfileWeight& weight) const { return weight.state && of_ == Of::kWindows; }
  void forget_states(size_t row);

  const Of of_;
  ProfileTable sum_;
  size_t added_ = 0;          // tables
  std::vector<size_t> seen_;  // by row, the last table that has it
  std::map<std::tuple<uint64_t, std::string, std::string>, size_t> places_;  // of rows
};

}  // namespace hprof::tool
