// The checker of binary files: framing, order of definitions, tables; heap dumps are heap_checker's.
#pragma once

#include "tools/format/records.h"
#include "tools/hprof/check/heap_checker.h"
#include "tools/hprof/check/problems.h"

namespace hprof::tool {

class BinaryChecker {
 public:
  // Owns neither. The input must be able to seek back to the start of a heap dump.
  BinaryChecker(Input& in, ProblemLog& log);
  // Reads the whole input. False: reading failed (see the input's error()).
  bool run();

 private:
  struct Pending {
    uint64_t offset;  // of the first record that referred to it
    const char* user;
    bool operator<(const Pending& other) const { return offset < other.offset; }
  };

  bool header(bool readable);
  void record(const RecordHead& head);
  void before_record(const RecordHead& head);
  void string(const RecordHead& head);
  void load_class(const RecordHead& head);
  void unload_class(const RecordHead& head);
  void frame(const RecordHead& head);
  void trace(const RecordHead& head);
  void start_thread(const RecordHead& head);
  void end_thread(const RecordHead& head);
  void alloc_sites(const RecordHead& head);
  void site_rows(const RecordHead& head, const SitesHead& sites);
  void cpu_samples(const RecordHead& head);
  void control_settings(const RecordHead& head);
  void heap_dump(const RecordHead& head);
  void finish_dump(bool closed, uint64_t offset);
  void finish();
  void finish_names();
  void finish_traces();

  bool exact_length(const RecordHead& head, uint64_t expected);
  void need_string(uint64_t id, const RecordHead& head, const char* user);
  void need_class(uint32_t serial, const RecordHead& head, const char* user);
  void need_trace(uint32_t serial, const RecordHead& head);
  void name_trace(uint32_t serial, const RecordHead& head, const char* user);

  Input& in_;
  ProblemLog& log_;
  FileHeader header_;
  Definitions definitions_;
  HeapChecker heap_;
  IdMap<Pending> missing_strings_, missing_classes_, missing_frames_, missing_traces_, named_traces_;
  IdMap<uint64_t> trace_threads_;  // thread serial numbers of traces; value: offset of the first trace
  uint64_t records_ = 0;
  uint32_t last_time_ = 0;
  bool in_segments_ = false;
  bool between_ = false;
  uint64_t dumps_ = 0;
  uint64_t first_samples_ = 0;  // offset, 0 = none
};

}  // namespace hprof::tool
