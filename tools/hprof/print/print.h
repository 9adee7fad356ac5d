// The printers of hprof print, and what they share.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>

#include "tools/format/input.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/command.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

struct PrintOptions {
  uint64_t top = 20;         // rows of each table, 0 = all
  bool lines = false;        // of a profile: only sums by line
  bool traces = false;       // every row with its stack
  bool threads = false;      // the threads of each table, in place of its methods
  bool never = false;        // only the methods that were never called
  std::string by = {};       // what ranks the rows, as --by says it; "": as each table does
  std::string thread = {};   // names of threads that the rows are of; "": all
  bool methods = false;      // of a profile: only sums by method
  bool csv = false;          // exact counts as CSV
  bool json = false;         // all of it as JSON
  std::string package = {};  // of --never: a package or class; "": all

  bool shows(uint64_t row) const { return top == 0 || row < top; }
  // Says how many of a table's rows are not shown.
  void print_left_out(std::ostream& out, uint64_t rows) const {
    if (top != 0 && rows > top) out << "  ... " << rows - top << " more\n";
  }
};

// Writes one line by a format of printf.
__attribute__((format(printf, 2, 3))) inline void print_line(std::ostream& out, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out << text << '\n';
}

// "  12.50%"
std::string percent(uint64_t part, uint64_t whole);
// The text behind as many blanks as fill the width.
std::string padded(const std::string& text, size_t width);

// True: some of the table's traces name their thread.
bool names_threads(const Profile& profile, const ProfileTable& table);
constexpr OptionRow kThreadOption = {"--thread", "NAMES",
                                     "take only these threads, by name or nid: main,http-*"};
// Leaves only rows of threads with these names ("main,http-*") or nids. False with *error: there are none.
bool keep_threads(const std::string& names, Profile* profile, std::string* error);

// The last table of each kind in a report: its methods, its hottest path, and its rows.
void print_profile(const Profile& profile, const PrintOptions& options, std::ostream& out);

// True: it is the table of calls=y, from a format that has its rows without calls.
bool is_of_methods(const ProfileTable& table);

// Prints the exact counts of each method and class as CSV, ordered by name. False with *error: there are
// none, or rows may be missing.
bool print_counts(const Profile& profile, std::ostream& out, std::string* error);

// Prints a line per record and heap sub-record of a binary file in its order, with names that the file has
// defined before. False with *error: truncated or unreadable; everything before is printed.
bool print_records(Input& in, std::ostream& out, std::string* error);

// Summarises a binary file in tables: records by type; for each heap dump its size and roots; each sites and
// samples table. False with *error: truncated; what was read is printed.
bool print_summary(Input& in, const PrintOptions& options, std::ostream& out, std::string* error);
// The same of the file and its dumps in JSON.
bool json_of_file(Input& in, Section* section, std::string* error);

}  // namespace hprof::tool
