#include "core/modules/hotspot/unload_count.h"

#include <cstddef>

#include "core/vm_tables/guarded.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

// Layout of the performance data: perfMemory.hpp, version 2.0.
struct Prologue {
  uint32_t magic;  // big-endian
  uint32_t version;
  uint32_t used;
  uint32_t overflow;
  uint64_t modified;
  uint32_t first_entry, entries;
};
struct Entry {
  uint32_t length, name_at, vector_length;
  char type;  // as in a signature
  char flags, units, variability;
  uint32_t data_at;
};

constexpr uint32_t kMagic = 0xc0c0feca;  // on little-endian processors
constexpr const char* kName = "java.cls.unloadedClasses";

const char* find(const VmStructs& structs, const uint32_t** count) {
  const void* start_at = structs.address("PerfMemory", "_start");
  const bool fine = guarded([&] {
    *count = nullptr;
    const auto* start = start_at != nullptr ? guarded_read<const char*>(start_at) : nullptr;
    if (start == nullptr) return;
    const auto word = [start](uint64_t at) { return guarded_read<uint32_t>(start, at); };
    if (word(offsetof(Prologue, magic)) != kMagic) return;
    const uint32_t used = word(offsetof(Prologue, used));
    uint32_t at = word(offsetof(Prologue, first_entry));
    while (at + uint64_t{sizeof(Entry)} <= used) {
      const uint32_t length = word(at + offsetof(Entry, length));
      if (length == 0 || length > used - at) return;
      if (guarded_read<char>(start, at + offsetof(Entry, type)) == 'J' &&
          guarded_equals(start + at + word(at + offsetof(Entry, name_at)), kName)) {
        *count = reinterpret_cast<const uint32_t*>(start + at + word(at + offsetof(Entry, data_at)));
        return;
      }
      at += length;
    }
  });
  if (!fine) *count = nullptr;
  return *count != nullptr ? nullptr : "no such counter (-XX:-UsePerfData)";
}

}  // namespace

const uint32_t* unload_count(HotSpot& home) {
  const uint32_t* count = nullptr;
  const char* why = home.is_on(Item::kUnloadCount) ? find(home.structs(), &count) : nullptr;
  return home.settle(Item::kUnloadCount, why) ? count : nullptr;
}

}  // namespace hprof
