// The class and size of objects that a heap dump has named, by number: JVMTI finds an object by its id only
// by a search of all ids, and agents ask for each object of a dump.
#pragma once

#include <hprof/cpp/lock.hpp>

#include "pages.h"

namespace hprof::jvmpi {

struct ObjectFact {
  uint32_t cls;         // class number; 0: nothing is known
  uint32_t units : 31;  // bytes / 8
  uint32_t sent : 1;    // OBJECT_ALLOC was sent by request
};

class ObjectFacts {
 public:
  explicit ObjectFacts(const Services& services) : services_(services) {}
  ~ObjectFacts() { close(); }
  ObjectFacts(const ObjectFacts&) = delete;
  ObjectFacts& operator=(const ObjectFacts&) = delete;

  // Without memory, or for a number beyond 2^32, the fact is not kept. [heap]
  void keep(uint64_t number, uint64_t cls, int64_t size);
  // False: nothing is known of the object.
  bool find(uint64_t number, ObjectFact* fact) const;
  // Sets `sent`. False: nothing is known, or it was set.
  bool mark_told(uint64_t number);
  bool is_told(uint64_t number) const {
    ObjectFact fact;
    return count_.load(std::memory_order_relaxed) != 0 && find(number, &fact) && fact.sent != 0;
  }
  // Forgets a freed object. True: OBJECT_ALLOC was sent. [gc]
  bool forget(uint64_t number);
  void close();

 private:
  // The number of facts in a page is in the element after it.
  using Facts = Pages<ObjectFact>;

  const Services& services_;
  mutable Lock lock_;  // for a few instructions and the memory of a page
  Facts facts_;
  Pages<uint32_t> counts_;  // of facts, by page
  std::atomic<uint64_t> count_{0};
};

}  // namespace hprof::jvmpi
