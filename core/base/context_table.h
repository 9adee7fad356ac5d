// The contexts of threads, found by thread serial. A fixed number of places; no lock.
//
// Protocol: a thread claims one of the kProbes places from its hash on by a CAS of `owner` (0 -> serial), and
// only it writes there, until it sets `owner` to 0 again. `sequence` is odd while it writes. Readers
// are signal handlers of that thread, or other threads: they drop what they have read if `sequence` is odd or
// has changed. A place that is not in use has zeros.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/service/context.h>

#include "core/base/memory_account.h"

namespace hprof {

class ContextTable {
 public:
  static constexpr uint32_t kMost = HPROF_CONTEXT_THREADS, kFewest = 256, kProbes = 8;
  static constexpr uint64_t kShare = 32;  // of max-memory=, as an upper limit

  // Makes room, unless there is some. False: no memory. [onload]
  bool open(MemoryAccount& memory);
  void close(MemoryAccount& memory);
  bool is_open() const { return places_ != nullptr; }  // [any]

  // False: there is no place. [app] of that thread
  bool set(uint32_t thread, const hprof_context& context);
  // The thread has no context any more. [app] of that thread
  void clear(uint32_t thread);
  // False: it has none, or it is being written. [any]
  bool read(uint32_t thread, hprof_context* context) const;

 private:
  // Of 32 bits: those of 64 are not atomic without a library on some targets.
  static constexpr uint32_t kWords = sizeof(hprof_context) / sizeof(uint32_t);
  struct Place {
    std::atomic<uint32_t> owner;
    std::atomic<uint32_t> sequence;
    std::atomic<uint32_t> words[kWords];
  };

  Place* find(uint32_t thread, uint32_t owner) const;
  static void write(Place* place, const hprof_context& context);

  Place* places_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace hprof
