// A cache of recently named methods of running code, for which the VM would otherwise be asked again at each
// other bytecode index.
//
// An entry is valid in its epoch; after it classes may have been unloaded or redefined, and method ids
// reused.
//
// Protocol. Any thread reads and writes the three words of an entry. The third is a checksum of the others
// and the epoch, so a mix of two entries, or an earlier epoch, is not found.
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

  // Without memory, or with a fixed budget, the cache stays empty. [onload]
  void create(MemoryAccount& memory);
  // Frees the cache, which no thread uses any more. [control]
  void destroy() { region_.destroy(); }
  // kNone: not known. [app]
  MethodId find(jmethodID method, uint32_t epoch) const;
  // Overwrites another entry. [app]
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
