// Tables of weighted stacks, from any kind of file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/format/input.h"

namespace hprof::tool {

struct ProfileFrame {
  std::string class_name;  // "java.util.Map$Entry"
  std::string method;
  std::string source;  // "" when unknown
  int64_t line = 0;    // 0 or less: unknown
};

// A column of weights.
struct ProfileWeight {
  enum Unit { kCount = 1, kNanoseconds = 2, kBytes = 3 };  // numbers of data.js
  std::string name, title;
  Unit unit;
  bool preferred;       // shown at first
  bool state;           // a state, not events over time
  uint64_t sample = 0;  // what a sample stands for; 0: not known, or not sampled
};

struct ProfileRow {
  uint64_t trace;                // of Profile::traces
  std::vector<uint64_t> values;  // one for each weight
  std::string name = {};         // class, method or monitor; "": none
  std::string label = {};        // of a lock that is not a Java monitor: "(JUC lock)"
};

struct ProfileTable {
  std::string name, title;  // "cpu_samples", "CPU SAMPLES"
  std::vector<ProfileWeight> weights;
  std::vector<ProfileRow> rows;
  bool leaf = false;                  // rows' names are top frames: what was allocated
  size_t windows = 0;                 // how many it is the sum of; 0: it has all since the start
  size_t processes = 0;               // how many it is the sum of; 0: it is of one
  std::vector<uint64_t> totals = {};  // by weight, with rows below the cutoff; 0 or empty: not known
};

// A table without stacks.
struct PlainTable {
  // What a column has.
  enum class Kind : uint8_t {
    kName,   // tells its row from others, with the other columns of this kind
    kAdds,   // a number of what happened: those of windows add up
    kState,  // as it was when the report was made
  };
  std::string title;                           // "CALL LATENCY"
  std::vector<std::string> head;               // lines above it: in the text, that of BEGIN and the headings
  std::vector<std::vector<std::string>> rows;  // cells; without columns a row is one line of the text
  std::vector<std::string> columns = {};       // names
  std::vector<Kind> kinds = {};                // of the columns; empty: the format does not tell
  size_t order = SIZE_MAX;                     // the column by which the rows are ranked; SIZE_MAX: not known
  size_t windows = 0;  // how many it is the sum of, without kinds the last of; 0: it has all since the start
  // False: the section has no rows of that kind, so only its title was read.
  bool is_kept() const { return !rows.empty() || head.size() > 1; }
};

// A collector's report of what was new in a stretch of time (every=).
struct ProfileWindow {
  uint64_t number = 0;                // 0: the file does not say it
  uint64_t begin_ms = 0, end_ms = 0;  // since 1970; 0: not known
  std::vector<ProfileTable> tables;
  std::vector<PlainTable> plain_tables;
  std::vector<std::string> notes;
};

// The sum, at most UINT64_MAX.
inline uint64_t add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

// The nearest whole numbers that the types have.
inline uint64_t rounded(double value) {
  constexpr double kMost = 18446744073709549568.0;
  return !(value > 0) ? 0 : value < kMost ? static_cast<uint64_t>(value + 0.5) : UINT64_MAX;
}
inline int64_t rounded_change(double value) {
  const uint64_t size = std::min<uint64_t>(rounded(std::abs(value)), INT64_MAX);
  return value < 0 ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
}

struct ProfileThread {
  uint64_t serial;
  std::string name;
  bool ended;
  uint64_t nid = 0;  // the system's id, by which jstack and logs name it; 0: not known
};

struct Profile {
  std::string file;
  std::vector<std::pair<std::string, std::string>> about;  // key and value: created, format
  std::map<uint64_t, std::vector<ProfileFrame>> traces;    // innermost first
  std::map<uint64_t, std::string> threads;                 // by trace: the thread's name, if traces are split
                                                           // by thread
  std::map<uint64_t, size_t> thread_places;                // by trace: its place in all_threads, if known
  std::vector<ProfileThread> all_threads;                  // as a text report names them
  std::set<uint64_t> cut;                                  // traces that lack outer frames
  std::vector<ProfileTable> tables;                        // but for those of windows
  std::vector<PlainTable> plain_tables;                    // the last one of each title
  std::map<std::string, size_t> plain_places;              // in plain_tables, by title
  std::vector<size_t> fresh_plain;  // places of those that came since the last note of a report's end
  std::vector<std::string> notes;
  std::string unread;                  // where and why the reader stopped; "": it has read all
  std::vector<ProfileWindow> windows;  // in the order of the file
  bool by_method = false;              // counts of methods: no stack has a caller, and no frame a line
  // The tables are of a stretch of time, as the format has it: those of several files add up.
  bool is_stretch = false;
  std::string page_lines;  // the data of a page, in place of all else but `file` and `about`
  // Times of day that a reader of events keeps to, as WindowChoice has them; "": any.
  std::string from, to;
  bool keeps_to_times = false;  // the reader has done so
  uint64_t created_ms = 0;      // since 1970; 0: not known
  uint64_t duration_ns = 0;     // of the profile; 0: not known
};

// Numbers the traces of a profile: those of the same frames and thread have one number.
class TraceTable {
 public:
  explicit TraceTable(Profile* profile) : profile_(*profile) {}
  // thread: "" = none.
  uint64_t number_of(std::vector<ProfileFrame> frames, const std::string& thread, bool is_cut);

 private:
  Profile& profile_;
  std::unordered_map<std::string, uint64_t> known_;
};

// Reads a text report, a call list of cpu=old, a binary file with CPU SAMPLES or ALLOC SITES, a recording of
// JDK Flight Recorder, folded stacks ("a;b;c 42"), lines of JSON, a request of OTLP or pprof's profile.proto
// from a source at its start. False with *error, which names the line or byte: none of these.
bool read_profile(ByteSource& source, Profile* profile, std::string* error);

// The readers, for a source of open_source().
bool read_text_profile(Input& in, Profile* profile, std::string* error);
// cpu=old: "count callee caller time" and its rows, as stacks of two frames.
bool read_call_list(Input& in, Profile* profile, std::string* error);
bool read_binary_profile(Input& in, Profile* profile, std::string* error);
// What hprof print --csv writes: rows of exact counts, below this line.
constexpr const char* kCountsHead = "table,method,class,calls,objects,bytes,contentions";
bool read_counts_profile(Input& in, Profile* profile, std::string* error);
bool read_folded_profile(Input& in, Profile* profile, std::string* error);
bool read_pprof_profile(Input& in, Profile* profile, std::string* error);
bool read_jfr_profile(Input& in, Profile* profile, std::string* error);
bool read_json_profile(Input& in, Profile* profile, std::string* error);
bool read_otlp_profile(Input& in, Profile* profile, std::string* error);

// The columns of exact counts, in the order of kCountsHead.
constexpr const char* kCountWeights[] = {"calls", "allocated_objects", "allocated_bytes", "contentions"};
// Whether a table has the same numbers when the same runs again.
enum class Repeats {
  kNotKnown,
  kSampled,  // no: samples, or events that are long enough for a recording
  kExact,    // its columns that are exact counts have
};
Repeats repeats(const Profile& profile, const ProfileTable& table);
bool is_exact_count(const ProfileWeight& weight);  // one of kCountWeights
// "sampled", or "exact: calls" with the columns; "": not known.
std::string repeats_text(const Profile& profile, const ProfileTable& table);
bool is_sampled(const Profile& profile, const ProfileTable& table);
// True: rows of counts may be missing, since cutoff= goes by the share of another column. False: the report
// says cutoff=0, or it is a baseline or has calls alone (calls=y), which leave none out.
bool may_lack_rows(const Profile& profile, const ProfileTable& table);
constexpr const char* kLacksRows = "may lack small rows; take it with cutoff=0, or calls=y for calls";

// Class and method of "some.Class.method" or "some/Class.method".
ProfileFrame frame_of_name(std::string_view name);
// Takes off the name of a class that the VM makes what differs from run to run, as the agent does:
// "A$$Lambda" for "A$$Lambda$4.0x00007f5b4001800".
void keep_stable_part(std::string* class_name);
// Code without a name: "0x7f0010".
ProfileFrame frame_of_address(uint64_t address);
// True: all cells of the column are numbers.
bool has_numbers(const PlainTable& table, size_t column);
// The number of a trace and its innermost method, in a table without weights.
std::string trace_text(const Profile& profile, uint64_t trace);
// Adds a text to the name of a row, which has several columns of them.
void add_to_name(const std::string& text, ProfileRow* row);
// Puts the rows with the largest numbers of a column first.
void put_largest_first(size_t column, PlainTable* table);
// Adds a table, or replaces the earlier one of its title.
void put_plain_table(PlainTable table, Profile* profile);
// Removes the encoders' marks: "[cut]" as the outermost frame of a cut stack, "[unknown]" for a missing one.
void take_off_marks(uint64_t trace, Profile* profile);

// The known tables, without rows.
ProfileTable samples_table();
ProfileTable times_table();
ProfileTable sites_table();
ProfileTable monitors_table();

}  // namespace hprof::tool
