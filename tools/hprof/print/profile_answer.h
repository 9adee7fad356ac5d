// What hprof print says of a profile, before it becomes text or JSON.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tools/hprof/print/print.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

// A method or a source line.
struct PlaceRow {
  std::string place;
  uint64_t self, total;
  uint64_t counted;  // of the column beside, as innermost frame
};

// A frame of the hottest path.
struct HottestStep {
  size_t alike;  // frames before it that are left out, since the weight stays the same
  bool is_own;   // the program's innermost frame, with others below it
  std::string place;
  uint64_t total;
};

struct ThreadSum {
  const ProfileThread* thread = nullptr;  // nullptr: the file has no more than names
  std::string name;                       // "": none
  uint64_t sum = 0;
  std::map<std::string, uint64_t> tops;  // by method

  bool has_ended() const { return thread != nullptr && thread->ended; }
  // The method that is most often on top, and its weight.
  const std::pair<const std::string, uint64_t>& top() const;
};

// The parts that are not asked for, or that the table does not have, are empty.
struct TableAnswer {
  LastTable last;
  size_t weight;             // the column that ranks
  uint64_t sum;              // of that column
  std::string repeats;       // "sampled", "exact: calls"
  bool may_lack_rows;        // small rows of calls or objects
  const char* kind;          // of places: "method", "line"; nullptr: there are none
  size_t beside = SIZE_MAX;  // column of PlaceRow::counted; SIZE_MAX: none
  bool is_elapsed;           // the title is of CPU time, but the time is not
  uint64_t cut;              // weight of stacks that lack callers
  size_t overloaded;         // methods of several descriptors
  bool has_path, has_rows, has_threads;
  std::vector<PlaceRow> places;
  std::vector<HottestStep> path;
  std::vector<const ProfileRow*> rows;
  std::vector<ThreadSum> threads;

  const ProfileTable& table() const { return *last.table; }
  const ProfileWeight& column() const { return last.table->weights[weight]; }
};

struct ProfileAnswer {
  const Profile& profile;
  std::vector<TableAnswer> tables;  // the last one of each kind
  bool has_time = false;            // of the whole process, of which a table is a part
  ProcessTime time = {};
};

// The profile must outlive the answer.
ProfileAnswer answer_of(const Profile& profile, const PrintOptions& options);
// "CPU SAMPLES, samples 120 in the rows", and what of them the file has.
std::string heading_of(const TableAnswer& answer, const PrintOptions& options);
// By weight, the largest first.
std::vector<ThreadSum> thread_sums(const Profile& profile, const ProfileTable& table, size_t weight);
// The threads of a table.
void print_threads(const TableAnswer& answer, const PrintOptions& options, std::ostream& out);

// The methods of a class that were never called.
struct NeverOfClass {
  std::string name;
  std::vector<std::string> never;  // methods, with the lines where they begin
  size_t methods = 0;
};
struct NeverOfPackage {
  std::string name;                   // "": no package
  std::vector<NeverOfClass> classes;  // with such methods
  size_t never = 0, methods = 0;
};
struct NeverCalled {
  std::vector<NeverOfPackage> packages;  // those with the most such methods first
  size_t never = 0, methods = 0;
  size_t dead = 0, classes = 0;  // dead: classes with such methods
  std::string since;             // "since the program's start"
  std::vector<std::string> notes;
};
// False: there is no table of calls=y with rows for these methods.
bool never_called(const Profile& profile, const std::string& package, NeverCalled* answer);
void print_never_called(const NeverCalled& answer, const PrintOptions& options, std::ostream& out);

// The answers in JSON.
Section json_of(const Profile& profile, const PrintOptions& options);
Section json_of_plain_tables(const Profile& profile, const PrintOptions& options);
Section json_of(const NeverCalled& answer, const PrintOptions& options);

}  // namespace hprof::tool
