// The commands of hprof heap: what each reads, and its result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/questions/leaks.h"
#include "tools/heap/questions/limits.h"
#include "tools/heap/questions/paths.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// Opens a dump by the name that the user typed.
using DumpOpeners = std::function<std::unique_ptr<DumpOpener>(const std::string& name)>;

struct HeapSettings {
  SnapshotOptions snapshot;
  LeakOptions leaks;
  std::vector<Condition> limits;
  uint64_t memory = 0;  // limit in bytes, 0 = none
  std::string temp;     // folder for temporary files
  size_t top = 20;      // rows of a table, 0 = all
  size_t steps = kStepsShown;
  std::string text;         // find: the text to find
  bool subclasses = false;  // of CLASS, too
  bool json = false, csv = false;
  std::string table;                 // of csv, "" = the first
  bool index = false;                // store an index beside the dump in any case
  uint64_t index_from = UINT64_MAX;  // store one where that is possible, of files with at least so many bytes
};

struct HeapRun {
  const HeapSettings& settings;
  std::vector<std::string> words;  // files, then arguments
  DumpOpeners open;
  std::string error = "";               // not empty: there is no result
  bool exceeded = false;                // a condition of settings.limits holds
  std::vector<std::string> notes = {};  // for the user, beside the result
};

Document run_summary(HeapRun& run);
Document run_leaks(HeapRun& run);
// The summary, leaks and dominator tree of the page.
Document run_report(HeapRun& run);
Document run_histogram(HeapRun& run);
Document run_path(HeapRun& run);
Document run_dominators(HeapRun& run);
Document run_retained(HeapRun& run);
Document run_objects(HeapRun& run);
Document run_show(HeapRun& run);
Document run_threads(HeapRun& run);
Document run_waste(HeapRun& run);
Document run_references(HeapRun& run);
Document run_find(HeapRun& run);
Document run_diff(HeapRun& run);
// Writes rows; the document has only problems. fields: as in --fields=; run.notes: what some rows lack.
Document run_rows(HeapRun& run, const std::string& fields, bool retained, std::ostream& out);

// Uses the dump with the names of its threads, but without its dominator tree.
void use_heap(HeapRun& run, const std::function<void(const Snapshot&)>& use);

// Describes the dump and the assumed layout.
Section overview(const Snapshot& snapshot, const std::string& file);

}  // namespace hprof::tool
