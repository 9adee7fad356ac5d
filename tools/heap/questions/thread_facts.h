// What thread objects in a heap say: their states, and for what they are parked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/heap/read/object_values.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

struct ThreadFacts {
  std::string state;             // "parked"; "": not known
  uint64_t number = 0;           // Thread.threadId(); 0: not known
  uint32_t blocker = kNoObject;  // for which it is parked
  uint32_t owner = kNoObject;    // the thread object that has this, or the lock of this condition
};

class ThreadFactReader {
 public:
  explicit ThreadFactReader(const Snapshot& snapshot)
      : snapshot_(snapshot),
        fetcher_(snapshot),
        virtual_(snapshot.outline.classes.named("java.lang.VirtualThread")) {}

  // Of thread objects, in their order.
  std::vector<ThreadFacts> read(const std::vector<uint32_t>& objects) const;
  // The class of virtual threads; kNoClass: there are none.
  uint32_t virtual_class() const { return virtual_; }
  const ObjectFetcher& fetcher() const { return fetcher_; }

 private:
  void find_owners(std::vector<ThreadFacts>* facts) const;
  std::string virtual_state(uint64_t state) const;

  const Snapshot& snapshot_;
  ObjectFetcher fetcher_;
  uint32_t virtual_;
};

// A thread of the heap, with its stack.
struct ThreadInHeap {
  uint32_t object;  // kNoObject: not in the dump
  std::string name;
  bool is_virtual = false;
  ThreadFacts facts;
  std::vector<std::string> frames;  // innermost first; empty: not in the dump
};

struct ThreadsInHeap {
  std::vector<ThreadInHeap> threads;
  uint64_t left_out = 0;           // virtual ones, for which there is no room
  std::vector<uint32_t> monitors;  // that threads have locked, or wait for
};

// All threads that have begun and not ended. Call name_threads() first.
ThreadsInHeap threads_in_heap(const Snapshot& snapshot);

}  // namespace hprof::tool
