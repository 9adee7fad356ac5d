// Sums of a table's rows, by stack or by line.
#pragma once

#include <string>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// "Some.Class.method(File.java:12)", as in reports.
std::string frame_text(const ProfileFrame& frame);
// "Some.Class.method"
std::string method_text(const ProfileFrame& frame);
// The stack of a row, innermost frame first; empty: it has none.
const std::vector<ProfileFrame>& frames_of(const Profile& profile, const ProfileRow& row);
// The row's class, method or monitor, else the method of its innermost frame.
std::string row_name(const Profile& profile, const ProfileRow& row);

// The last table of a name: the sum of windows, or the table that has all since the start, as earlier ones
// do.
struct LastTable {
  const ProfileTable* table;
  size_t of;  // number of such tables; of windows 1
};
// In the order of their first tables.
std::vector<LastTable> last_tables(const Profile& profile);

// The column to show first.
size_t preferred_weight(const ProfileTable& table);

// A source line or a method.
struct PlaceSum {
  std::string place;
  uint64_t self = 0;   // of stacks with it as the innermost frame
  uint64_t total = 0;  // of stacks that contain it
};
// Largest first. `text` names the place of a frame: frame_text or method_text.
std::vector<PlaceSum> sums_by_place(const Profile& profile, const ProfileTable& table, size_t weight,
                                    std::string (*text)(const ProfileFrame&));

// From the outermost frame on, each time the method that has the most weight below the one before, while that
// is at least a tenth of the sum; `total` is the weight that passes there.
std::vector<PlaceSum> hottest_path(const Profile& profile, const ProfileTable& table, size_t weight);

// "1234", "12.3 ms" for nanoseconds.
std::string weight_text(const ProfileWeight& weight, uint64_t value);

}  // namespace hprof::tool
