// Sums of a table's rows, by stack or by line.
#pragma once

#include <string>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// "Some.Class.method(File.java:12)", as a report shows a frame.
std::string frame_text(const ProfileFrame& frame);
// "Some.Class.method"
std::string method_text(const ProfileFrame& frame);
// The row's class, method or monitor from the report, else the method of its innermost frame.
std::string row_name(const Profile& profile, const ProfileRow& row);

// Tables of one name; the last one includes the others, since collectors are cumulative.
struct LastTable {
  const ProfileTable* table;
  size_t of;  // how many there are of its name
};
// In the order of their first ones.
std::vector<LastTable> last_tables(const Profile& profile);

// The column that is shown at first.
size_t preferred_weight(const ProfileTable& table);

struct LineSum {
  std::string line;
  uint64_t self = 0;   // of stacks with it as the innermost frame
  uint64_t total = 0;  // of stacks that contain it
};
// The largest first.
std::vector<LineSum> sums_by_line(const Profile& profile, const ProfileTable& table, size_t weight);

// "1234", "12.3 ms" for nanoseconds.
std::string weight_text(const ProfileWeight& weight, uint64_t value);

}  // namespace hprof::tool
