// What threads keep alive by java.lang.ThreadLocal, and the names of ThreadLocals.
#pragma once

#include <string>
#include <vector>

#include "tools/heap/questions/paths.h"
#include "tools/heap/read/object_values.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// The values of ThreadLocals of one name in all threads.
struct ThreadLocalValues {
  std::string name;    // "com.acme.App.CONTEXT"
  std::string values;  // the class of most values, and how many others there are
  uint64_t retained = 0, threads = 0;
};

class ThreadLocals {
 public:
  ThreadLocals(const Snapshot& snapshot, const ReferenceGraph& graph, const ShortestPaths& paths);

  // Those whose values threads alone keep alive, the largest first. The snapshot has its dominator tree by
  // now.
  std::vector<ThreadLocalValues> sums() const;

  // An entry of a thread's map.
  struct Entry {
    uint32_t object, referent, value, thread;  // referent: kNoObject when it was cleared
    bool elsewhere;                            // something else refers to the value, too
  };

 private:
  void find_other_holders(const ReferenceGraph& graph, uint32_t entry);

  const Snapshot& snapshot_;
  const ShortestPaths& paths_;
  GrowingList<Entry> entries_;
};

// The name of the ThreadLocal of an entry of a thread's map: its static field, else its class and what holds
// it; "" if the object is no such entry.
std::string thread_local_of(const Snapshot& snapshot, const ShortestPaths& paths, const ObjectValues& entry);

}  // namespace hprof::tool
