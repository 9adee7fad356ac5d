// The second reading of a dump: classes, sizes and references of all objects, by several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct ObjectFindings {
  std::vector<ClassGap> gaps;  // by class; only where ids are addresses
  std::vector<OwnSizes::Large> large;
  uint64_t references = 0;
  uint64_t dangling = 0;  // references to objects that are not in the dump
};

// Fills snapshot.objects and the graph.
ObjectFindings read_objects(Snapshot& snapshot, ReferenceGraph& graph);

using PieceFilter = std::function<bool(const DumpPiece&)>;

// Walks pieces of the dump, each visitor in a thread of its own; compressed dumps are read from the start, by
// one thread. wanted(piece): read it; null: all. after(piece, visitor): the piece was read; null: nothing.
// False with *error: it cannot be opened.
bool walk_pieces(const Snapshot& snapshot, const std::vector<HeapVisitor*>& visitors,
                 const PieceFilter& wanted, const std::function<void(size_t piece, HeapVisitor&)>& after,
                 std::string* error);

// Lets a copy of the reader for each thread walk the pieces that are wanted. Returns the copies. One copy
// where ids repeat: two would store the same object.
template <typename Reader>
std::vector<Reader> read_by_all(const Snapshot& snapshot, const Reader& reader,
                                const PieceFilter& wanted = nullptr) {
  const unsigned threads = snapshot.outline.repeated > 0 ? 1 : std::max(1u, snapshot.options.threads);
  std::vector<Reader> readers(threads, reader);
  std::vector<HeapVisitor*> visitors;
  for (Reader& each : readers) visitors.push_back(&each);
  std::string ignored;
  walk_pieces(snapshot, visitors, wanted, nullptr, &ignored);
  return readers;
}

}  // namespace hprof::tool
