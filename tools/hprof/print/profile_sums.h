// Sums of a table's rows, by stack or by line.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/hprof/command.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// The place of a stack without frames.
constexpr const char* kEmptyTrace = "<empty trace>";

// "Some.Class.method(File.java:12)", as in reports.
std::string frame_text(const ProfileFrame& frame);
// "Some.Class.method"
std::string method_text(const ProfileFrame& frame);
// The stack of a row, innermost frame first; empty: it has none.
const std::vector<ProfileFrame>& frames_of(const Profile& profile, const ProfileRow& row);
// The row's class, method or monitor, else the method of its innermost frame.
std::string row_name(const Profile& profile, const ProfileRow& row);
// The same, and of a class or monitor the method: "byte[] in Some.Class.method".
std::string row_place(const Profile& profile, const ProfileRow& row);
// The innermost method of the program, else the innermost one; "": the row has no stack.
std::string own_method(const Profile& profile, const ProfileRow& row);
// True: a row has a stack.
bool has_stacks(const Profile& profile, const ProfileTable& table);
// True: a row is more than its innermost method.
bool has_names(const Profile& profile, const ProfileTable& table);

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
// The column beside it: events that have its time or bytes, or what these events have. SIZE_MAX: none.
size_t weight_beside(const ProfileTable& table, size_t weight);

constexpr OptionRow kByOption = {"--by", "COLUMN", "rank by bytes, objects, live, calls, time, self, total"};
// Makes what --by says the preferred column of each table that has it; "self" and "total" change none. Sorts
// plain tables by it. False with *error: no table has it.
bool rank_by(const std::string& by, Profile* profile, std::string* error);

// The names of the labels at the roots of stacks (plugin=context).
std::set<std::string> labels_in(const Profile& profile);
// Replaces all tables by one, of what they have for each value of a label. False: none has that label.
bool sum_by_label(const std::string& label, Profile* profile);

// A source line or a method.
struct PlaceSum {
  std::string place;
  uint64_t self = 0;   // of stacks with it as the innermost frame
  uint64_t total = 0;  // of stacks that contain it
};
// The largest `key` first. `text` names the place of a frame: frame_text or method_text.
std::vector<PlaceSum> sums_by_place(const Profile& profile, const ProfileTable& table, size_t weight,
                                    std::string (*text)(const ProfileFrame&),
                                    uint64_t PlaceSum::*key = &PlaceSum::self);

// False: a method of the JDK (java., javax., jdk., sun., com.sun.), the VM, the kernel or a native library.
bool is_of_program(const std::string& method);
// The depth= of a report's head, in the original's formats 4 if it has none; 0: not known.
uint64_t depth_of(const Profile& profile);
// The part of a column that is in stacks which lack outer frames: marked, or of as many frames as depth_of().
uint64_t cut_part(const Profile& profile, const ProfileTable& table, size_t weight);
// "CPU time", "elapsed time (clock=wall)": what the samples or times of a report are of, as its notes say;
// "": not known.
const char* clock_of(const Profile& profile);

// From the outermost frame on, each time the method that has the most weight below the one before, while that
// is at least a tenth of the sum; `total` is the weight that passes there.
std::vector<PlaceSum> hottest_path(const Profile& profile, const ProfileTable& table, size_t weight);

// "1234", "12.3 ms" for nanoseconds.
std::string weight_text(const ProfileWeight& weight, uint64_t value);

}  // namespace hprof::tool
