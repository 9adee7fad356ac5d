// A row for each object of some classes, with the values that paths of fields lead to.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/heap/questions/field_path.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct RowRequest {
  std::vector<FieldPath> paths;
  bool retained = false;  // a column, from the snapshot's dominator tree
  bool json = false;      // JSON Lines instead of CSV
};

// The strings among the objects. find_dominators() drops what tells them.
BitArray strings_of(const Snapshot& snapshot, MemoryBudget& budget);

// Writes the rows in batches: memory does not grow with the number of objects. Returns "", or which step of a
// path no object has; `notes` gets a sentence for each step that only some objects lack.
std::string write_rows(const Snapshot& snapshot, const std::vector<uint32_t>& objects,
                       const BitArray& strings, const RowRequest& request, std::ostream& out,
                       std::vector<std::string>* notes);

}  // namespace hprof::tool
