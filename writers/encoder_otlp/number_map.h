// Numbers by 64-bit keys, which are hashes of what has the number: of 100,000 keys two are the same once in
// 10^9 reports.
#pragma once

#include <hprof/cpp/lazy_table.hpp>

namespace hprof::otlp {

// Open addressing over slots that double when half of them are taken. One thread at a time.
class NumberMap {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();
  // Takes the memory of the first keys, unless there is none.
  void keep_room();
  // Forgets all keys; what follows needs no more memory than what came before did.
  void clear();
  // The number of a key, 0 if the key is new; valid until the next call. Null: no memory.
  uint32_t* at(uint64_t key);

 private:
  struct Entry {
    uint64_t key;
    uint32_t number;
    uint32_t reserved;
  };
  static constexpr uint32_t kFirstSlots = 4096;
  static constexpr uint64_t kMost = uint64_t{1} << 19;

  bool grow();
  uint32_t* slot_of(uint64_t key);

  LazyTable<Entry> entries_;
  LazyTable<uint32_t> slots_;  // numbers of entries from 1; 0: free
  uint32_t count_ = 0;
  uint32_t slot_count_ = 0;
};

}  // namespace hprof::otlp
