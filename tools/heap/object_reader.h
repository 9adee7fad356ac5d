// The second reading of a dump: classes, sizes and references of all objects, by several threads.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/heap/snapshot.h"

namespace hprof::tool {

struct ObjectFindings {
  std::vector<ClassGap> gaps;  // by class; only where ids are addresses
  std::vector<OwnSizes::Large> large;
  uint64_t references = 0;
  uint64_t dangling = 0;  // references to objects that are not in the dump
};

// Fills snapshot.objects and, when `references`, snapshot.graph.
ObjectFindings read_objects(Snapshot& snapshot, bool references);

// Walks pieces of the dump with `threads` visitors, each used by one thread at a time. wanted(piece): read
// it; compressed dumps are read from the start, by one thread. False with *error: it cannot be opened.
bool walk_pieces(DumpOpener& opener, const DumpOutline& outline, const std::vector<HeapVisitor*>& visitors,
                 const std::function<bool(const DumpPiece&)>& wanted,
                 const std::function<void(size_t piece, HeapVisitor&)>& after, std::string* error);

}  // namespace hprof::tool
