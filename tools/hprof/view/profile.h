// Tables of weighted stacks, whatever file they come from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/hprof/format/input.h"

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
  bool state;      // what is alive now, not what has happened
};

struct ProfileRow {
  uint64_t trace;                // of Profile::traces
  std::vector<uint64_t> values;  // one for each weight
  std::string name = {};         // class, method or monitor; "" where the file does not say
};

struct ProfileTable {
  std::string name, title;  // "cpu_samples", "CPU SAMPLES"
  std::vector<ProfileWeight> weights;
  std::vector<ProfileRow> rows;
};

struct Profile {
  std::string file;
  std::vector<std::pair<std::string, std::string>> about;  // key and value: created, format
  std::map<uint64_t, std::vector<ProfileFrame>> traces;    // innermost first
  std::vector<ProfileTable> tables;
  std::vector<std::string> notes;
};

// Reads a text report, a binary file with CPU SAMPLES or ALLOC SITES, or folded stacks ("a;b;c 42"); gzip as
// it comes. False with *error, which names the line or byte, when it is none of them or has no table with
// stacks.
bool read_profile(const std::string& path, Profile* profile, std::string* error);

// The readers, for what open_source() gave.
bool read_text_profile(Input& in, Profile* profile, std::string* error);
bool read_binary_profile(Input& in, Profile* profile, std::string* error);
bool read_folded_profile(Input& in, Profile* profile, std::string* error);

// The tables that the formats know, without rows.
ProfileTable samples_table();
ProfileTable times_table();
ProfileTable sites_table();
ProfileTable monitors_table();

}  // namespace hprof::tool
