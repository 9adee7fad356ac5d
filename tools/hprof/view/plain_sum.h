// A table without stacks of several windows as one.
#pragma once

#include <map>
#include <string>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Adds up what happened in the windows; numbers of a state are those of the last window that has the row. Of
// a format that does not tell columns apart the last window's table counts.
class PlainSum {
 public:
  // In the order of time.
  void add(PlainTable table);
  PlainTable take();

 private:
  void begin(PlainTable table);
  void add_row(std::vector<std::string> row);
  std::string key_of(const std::vector<std::string>& row) const;

  PlainTable sum_;
  size_t windows_ = 0;
  std::map<std::string, size_t> places_;  // of rows, by their names
};

}  // namespace hprof::tool
