// The methods that running code has been named by lately: for each of these the VM would otherwise be asked
// for its class, its names and its lines again, each time that it is met at another position.
//
// A name holds until the epoch changes: then classes may have been unloaded or redefined, and their method
// ids may stand for other methods.
//
// Protocol. An entry is three words that any thread reads and writes as it comes. The third is a checksum of
// the others and of the epoch: what was read of two entries, or of an earlier epoch, is not found.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/base/memory_account.h"
#include "core/base/region.h"
#include "core/model/ids.h"

namespace hprof {

class RecentMethods {
 public:
  static constexpr uint32_t kEntries = 1u << 14;

  // Without memory, or where memory is fixed, nothing is found. [onload]
  void create(MemoryAccount& memory);
  // Nobody uses it any more. [control]
  void destroy() { region_.destroy(); }
  // kNone: not known. [app]
  MethodId find(jmethodID method, uint32_t epoch) const;
  // In place of another one. [app]
  void put(jmethodID method, uint32_t epoch, MethodId id);

 private:
  struct Entry {
    std::atomic<uintptr_t> method;
    std::atomic<uint32_t> id;
    std::atomic<uint32_t> check;
  };

  Entry* entry_of(jmethodID method) const;
  static uint32_t check_of(jmethodID method, uint32_t epoch, uint32_t id);

  Region region_;
};

}  // namespace hprof
