// The checker of one heap dump: layouts, sizes and references. It reads a dump twice: first the ids and class
// layouts, then the references.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/format/definitions.h"
#include "tools/format/heap_walker.h"
#include "tools/format/id_set.h"
#include "tools/format/input.h"
#include "tools/hprof/check/problems.h"

namespace hprof::tool {

class HeapChecker {
 public:
  HeapChecker(Input& in, ProblemLog& log, const Definitions& definitions);

  // First reading of a record's body; the input stands at its start.
  void add_segment(const RecordHead& head);
  // Second reading of all segments since the last call. Leaves the input anywhere.
  void finish();
  // Thread serial numbers of all ROOT THREAD OBJECTs so far.
  const IdMap<uint64_t>& root_threads() const { return root_threads_; }
  // Trace serial numbers used before their STACK TRACE; value: offset.
  const IdMap<uint64_t>& missing_traces() const { return missing_traces_; }
  // String ids of fields not yet defined when used; value: offset.
  const IdMap<uint64_t>& missing_strings() const { return missing_strings_; }
  // Class object ids that were dumped before any LOAD CLASS; value: offset.
  const IdMap<uint64_t>& missing_classes() const { return missing_classes_; }

 private:
  enum class State : uint8_t { kNew, kWorking, kDone, kBroken };
  struct Layout {
    uint64_t offset;  // of the CLASS DUMP
    uint64_t super;
    uint32_t instance_size;
    State state;
    bool is_array;
    uint64_t own_size;
    uint64_t size;  // with supers, once kDone
    // Own references: for each the bytes between it and the one before.
    std::vector<uint32_t> gaps;
    // Bytes from the last own reference to the first field of `next`, the nearest super with references.
    uint64_t lead;
    const Layout* next;
  };
  struct Segment {
    uint64_t start, end;
  };
  class FirstReading;
  class SecondReading;

  void report_walk(const WalkResult& result, uint64_t end);
  void resolve_from(uint64_t id);
  void resolve_one(uint64_t id, Layout& layout);
  void check_dumped_classes();

  Input& in_;
  ProblemLog& log_;
  const Definitions& definitions_;
  std::vector<Segment> segments_;
  IdSet objects_;
  IdMap<Layout> layouts_;
  IdMap<uint64_t> root_threads_, missing_traces_, missing_strings_, missing_classes_;
};

}  // namespace hprof::tool
