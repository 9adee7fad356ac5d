// Tables of weighted stacks, from any kind of file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/format/input.h"

namespace hprof::tool {

struct ProfileFrame {
  std::string class_name;  // "java.util.Map$Entry"
  std::string method;
  std::string source;  // "" when unknown
  int64_t line = 0;    // 0 or less: unknown
};

// A column that weighs stacks.
struct ProfileWeight {
  enum Unit { kCount = 1, kNanoseconds = 2, kBytes = 3 };  // as the page numbers them
  std::string name, title;
  Unit unit;
  bool preferred;  // shown at first
  bool state;      // the state now, not events over time
};

struct ProfileRow {
  uint64_t trace;                // of Profile::traces
  std::vector<uint64_t> values;  // one for each weight
  std::string name = {};         // class, method or monitor; "": not in the file
  std::string label = {};        // of a lock that is not a Java monitor: "(JUC lock)"
};

struct ProfileTable {
  std::string name, title;  // "cpu_samples", "CPU SAMPLES"
  std::vector<ProfileWeight> weights;
  std::vector<ProfileRow> rows;
  bool leaf = false;                  // names of rows are drawn on top of their stacks: what was allocated
  std::vector<uint64_t> totals = {};  // of a weight, rows that a cutoff left out included; 0 or none: of rows
};

struct Profile {
  std::string file;
  std::vector<std::pair<std::string, std::string>> about;  // key and value: created, format
  std::map<uint64_t, std::vector<ProfileFrame>> traces;    // innermost first
  std::map<uint64_t, std::string> threads;                 // by trace: the thread's name, if traces are split
                                                           // by thread
  std::set<uint64_t> cut;                                  // traces that lack their outermost frames
  std::vector<ProfileTable> tables;
  std::vector<std::string> notes;
  uint64_t created_ms = 0;   // since 1970; 0: not known
  uint64_t duration_ns = 0;  // of the profile; 0: not known
};

// Reads a text report, a call list of cpu=old, a binary file with CPU SAMPLES or ALLOC SITES, folded stacks
// ("a;b;c 42"), or pprof's profile.proto; also compressed by gzip. False with *error, which names
// the line or byte: it is none of these, or has no table with stacks.
bool read_profile(const std::string& path, Profile* profile, std::string* error);
// The same from a source at its start; here a profile without tables is accepted.
bool read_profile(ByteSource& source, Profile* profile, std::string* error);

// The readers, for what open_source() gave.
bool read_text_profile(Input& in, Profile* profile, std::string* error);
// cpu=old: "count callee caller time" and its rows, as stacks of two frames.
bool read_call_list(Input& in, Profile* profile, std::string* error);
bool read_binary_profile(Input& in, Profile* profile, std::string* error);
bool read_folded_profile(Input& in, Profile* profile, std::string* error);
bool read_pprof_profile(Input& in, Profile* profile, std::string* error);

// Class and method of "some.Class.method".
ProfileFrame frame_of_name(std::string_view name);
// Removes the encoders' marks for a stack that was cut ("[cut]" as its outermost frame) and for one without
// frames ("[unknown]").
void take_off_marks(uint64_t trace, Profile* profile);

// The tables that the formats know, without rows.
ProfileTable samples_table();
ProfileTable times_table();
ProfileTable sites_table();
ProfileTable monitors_table();

}  // namespace hprof::tool
