// The checker of text files: the exact forms of the original's printf calls, and what their readers require.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tools/format/ascii_lines.h"
#include "tools/format/definitions.h"
#include "tools/format/id_set.h"
#include "tools/hprof/check/problems.h"

namespace hprof::tool {

class AsciiChecker {
 public:
  // Both must outlive the checker. The positions of the log are line numbers.
  AsciiChecker(Input& in, ProblemLog& log);
  // Reads the whole input. False: reading failed.
  bool run();

 private:
  enum class Section {
    kNone,
    kTrace,
    kSites,
    kSamples,
    kTimes,
    kMonitorTime,
    kLatency,
    kMonitorDump,
    kHeap,
    kOld
  };
  struct Trace {
    uint64_t line;
    uint64_t frames;
    bool first_run;  // in the first run of TRACE records of the file
    bool has_blank;  // in a class or method name
    bool has_thread;
    bool has_phase;
    std::string top;  // class and method of the first frame
  };
  struct Thread {
    uint64_t object;
    std::string name;
    bool ended;
  };
  struct Table {
    uint64_t begin;  // line
    unsigned headings = 0;
    uint64_t total = 0;
    uint64_t rows = 0;
    uint64_t sum = 0;
    uint64_t accumulated = 0;  // hundredths
    uint64_t last_key = UINT64_MAX;
    bool by_allocation = false;
    bool narrow = false;  // the columns of JDK 1.2 to 1.4
  };

  bool prelude(std::string_view first);
  void line(std::string_view text);
  // False: nothing but an error is to be said of the line.
  bool check_bytes(std::string_view text);
  // False: it is no record outside of the sections, and begins none.
  bool top_level(std::string_view text);
  bool thread_line(std::string_view text);
  bool trace_head(std::string_view text);
  void frame_line(std::string_view text);
  void end_trace();
  bool monitor_event(std::string_view text);
  bool extension(std::string_view text);
  bool section_begin(std::string_view text);
  void check_date(std::string_view text);

  void open_section(Section section);
  bool headings(std::string_view text, const char* const* expected, unsigned count);
  void sites_line(std::string_view text);
  void cpu_line(std::string_view text);
  void monitor_time_line(std::string_view text);
  void latency_line(std::string_view text);
  void monitor_dump_line(std::string_view text);
  void monitor_detail_line(std::string_view text);
  void old_line(std::string_view text);
  void end_cpu();
  bool row_start(Scan& scan, uint64_t* rank, uint64_t* self, uint64_t* accumulated);
  void row_percentages(uint64_t rank, uint64_t self, uint64_t accumulated);
  void row_key(uint64_t key, const char* what);
  const Trace* row_trace(uint64_t serial);
  void cpu_row_trace(uint64_t serial, std::string_view method);
  void same_columns(std::string_view text, const std::string& canonical);

  void heap_line(std::string_view text);
  bool root_line(std::string_view text);
  bool object_line(std::string_view text);
  void object_detail(std::string_view text);
  void define(uint64_t id);
  void refer(uint64_t id);
  void name_trace(uint64_t serial);
  void end_heap();
  void need_thread(uint64_t id);
  void wrong_line(std::string_view text, const char* expected);

  LineReader lines_;
  Input& in_;
  ProblemLog& log_;
  Section section_ = Section::kNone;
  std::unordered_map<uint64_t, Trace> traces_;
  std::unordered_map<uint64_t, Thread> threads_;
  std::unordered_map<uint64_t, uint64_t> live_objects_;  // thread object to thread id
  std::unordered_set<uint64_t> unknown_threads_;
  uint64_t trace_ = 0;             // the one being read
  bool run_begun_ = false;         // a TRACE was seen
  bool run_ended_ = false;         // and then something else
  bool carriage_returns_ = false;  // reported
  Table table_;
  uint64_t cpu_sections_ = 0;

  char object_kind_ = 0;  // of the heap record being read: C, O, A, or P for a primitive array
  uint64_t object_elements_ = 0;
  uint64_t heap_objects_ = 0, heap_bytes_ = 0, dumped_objects_ = 0, dumped_bytes_ = 0;
  IdSet objects_;
  IdMap<uint64_t> unresolved_;  // id to the first line that refers to it
  IdMap<uint64_t> missing_traces_;
};

}  // namespace hprof::tool
