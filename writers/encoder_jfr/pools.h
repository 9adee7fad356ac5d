// The constant pools of a chunk: what its events refer to by number, each once.
//
// An entry is kept when all that it refers to has been kept, so the pools are sound also when an event had to
// be dropped for want of memory.
#pragma once

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/written_numbers.hpp>
#include <hprof/record.h>

#include "metadata.h"

namespace hprof::jfr {

class Pools {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();
  // Begins the next chunk.
  void clear();
  // No entry is added any more.
  void finish();

  // Add an entry, unless the chunk has it, and return its number; 0: there is nothing to refer to, as for a
  // stack without frames. After one has failed for want of memory, ok() is false until clear().
  // code: what ran its innermost Java frame, as cpu=samples names it; 0: not known.
  uint64_t stack(hprof_trace_serial trace, hprof_string_id code = 0);
  uint64_t thread(hprof_thread_serial serial);
  // The thread may have another name now, which the chunk takes.
  void rename(hprof_thread_serial serial);
  uint64_t owner(hprof_class_serial serial);
  bool ok() const { return ok_; }
  // {null, 0}: there is none.
  hprof_text string(hprof_string_id id) const;

  // Numbers of the states of threads, HPROF_STATE_*; kOnCpu: of a sample of CPU time.
  static constexpr uint32_t kOnCpu = HPROF_STATE_ENDED + 1;
  static uint64_t state(uint64_t state) { return 1 + (state <= kOnCpu ? state : HPROF_STATE_UNKNOWN); }

  static constexpr uint64_t kAfterGc = 1;

  uint64_t bytes() const;
  // The event that holds the pools.
  uint64_t size(uint64_t ticks) const;
  void write(JfrOut& out, uint64_t ticks) const;

 private:
  enum Kind : uint32_t { kStacks, kMethods, kClasses, kPackages, kSymbols, kThreads, kGroups, kKinds };
  struct Pool {
    Bytes entries;
    uint32_t count;
  };
  struct KnownPackage {
    hprof_text name;
    uint64_t number;
  };
  struct KnownThread {
    std::atomic<uint32_t> serial, name;  // hprof_string_id
  };
  class Entry;

  bool is_new(WrittenNumbers& known, uint32_t number);
  uint64_t method(hprof_method_id id);
  uint64_t package(hprof_text class_name);
  uint32_t frame_type(hprof_string_id code) const;
  uint64_t symbol(hprof_string_id id, bool is_name = false);
  bool is_descriptor(hprof_string_id id) const;
  uint64_t descriptor(hprof_string_id id);
  void add_symbol(uint64_t number, hprof_text text, char dot = '.');
  uint64_t group(hprof_string_id name, hprof_string_id parent);
  void rename(KnownThread& known, hprof_string_id name);
  void add_thread(uint64_t number, const hprof_thread_info& info, hprof_string_id name);
  uint32_t pool_count() const;

  Services services_;
  Pool pools_[kKinds] = {};
  WrittenNumbers traces_, methods_, classes_, symbols_, groups_;
  HashTable<KnownThread, Growth::kNone> threads_;  // by number
  bool has_renamed_ = false;
  static constexpr uint32_t kKnownPackages = 256;
  KnownPackage packages_[kKnownPackages] = {};
  uint32_t package_count_ = 0;
  bool has_unknown_descriptor_ = false;
  bool ok_ = true;
};

}  // namespace hprof::jfr
