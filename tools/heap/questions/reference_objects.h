// Soft, weak, final and phantom references, what only they hold, reference queues and direct buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

class ReferenceFinder {
 public:
  ReferenceFinder(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget);

  // The snapshot has its dominator tree by now.
  std::vector<Section> sections(size_t top);

  // In the order of the strength of references; what a stronger one holds counts there.
  enum Stage : uint8_t { kStrong, kSoftly, kWeakly, kFinally, kPhantom, kStages };
  struct Reference {
    uint32_t object, referent;  // referent: kNoObject when it was cleared
    uint32_t class_index;
    Stage stage;
  };
  struct Queue {
    uint32_t object;
    uint64_t length;
  };
  struct Buffer {
    uint32_t object;
    uint32_t place;  // in the dominator tree
    uint64_t capacity;
    bool mapped;  // a file
    uint32_t owner = 0;
  };

 private:
  struct Held {
    uint64_t objects = 0, bytes = 0;
  };
  struct ClassCount {
    Stage stage = kStrong;
    uint64_t references = 0, cleared = 0;
    Held only;
  };
  void read(MemoryBudget& budget);
  uint32_t referent_of(uint32_t object) const;
  void search(const ReferenceGraph& graph, MemoryBudget& budget);
  Section references_section(size_t top) const;
  Section memory_section(size_t top);

  const Snapshot& snapshot_;
  GrowingList<Reference> references_;  // by stage and object, during the search
  GrowingList<Queue> queues_;
  GrowingList<Buffer> buffers_;
  std::vector<ClassCount> by_class_;  // of the references
  std::vector<Held> held_[kStages];   // by class of what is held
};

}  // namespace hprof::tool
