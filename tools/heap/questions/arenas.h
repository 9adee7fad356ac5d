// Native memory of java.lang.foreign arenas: what their segments span, and what they will free when closed.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

class Arenas {
 public:
  Arenas(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget);

  // The snapshot has its dominator tree by now.
  Section section(size_t top);

  enum Kind : uint8_t { kGlobal, kAutomatic, kShared, kConfined, kKinds };
  struct Arena {
    uint32_t object;  // its session
    Kind kind;
    bool closed;
    uint64_t native = 0, mapped = 0, segments = 0;
  };
  // A segment, or a block that an arena frees when it is closed.
  struct Block {
    uint32_t object;
    uint32_t arena;  // kNoObject: not known yet, or none
    uint64_t start, bytes;
    bool segment, mapped;
  };

 private:
  void read(MemoryBudget& budget);
  void find_arenas_of_blocks(const ReferenceGraph& graph, MemoryBudget& budget);
  void add_blocks();

  const Snapshot& snapshot_;
  GrowingList<Arena> arenas_;  // by object
  GrowingList<Block> blocks_;
  uint64_t closed_ = 0;
};

}  // namespace hprof::tool
