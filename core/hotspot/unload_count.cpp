#include "core/hotspot/unload_count.h"

#include "core/hotspot/guarded.h"

namespace hprof {

static constexpr const char* kName = "java.cls.unloadedClasses";
static constexpr uint8_t kLong = 'J';  // its type's letter in a signature

const char* find_unload_count(const VmStructs& structs, const uint32_t** count) {
  *count = nullptr;
  LayoutReader layout(structs);
  const void* start_at = layout.address("PerfMemory", "_start");
  const void* end_at = layout.address("PerfMemory", "_end");
  const uint32_t first = layout.offset("PerfDataPrologue", "entry_offset");
  const uint32_t length = layout.offset("PerfDataEntry", "entry_length");
  const uint32_t name = layout.offset("PerfDataEntry", "name_offset");
  const uint32_t type = layout.offset("PerfDataEntry", "data_type");
  const uint32_t data = layout.offset("PerfDataEntry", "data_offset");
  if (!layout.complete()) return layout.missing();
  const char* why = "the VM keeps no performance data (-XX:-UsePerfData)";
  const bool fine = guarded([&] {
    const auto* entry = guarded_read<const char*>(start_at);
    const auto* end = guarded_read<const char*>(end_at);
    if (entry == nullptr || end <= entry) return;
    why = "the VM's performance data have no such counter";
    entry += guarded_read<uint32_t>(entry, first);
    while (entry + data < end) {
      const auto size = guarded_read<uint32_t>(entry, length);
      if (size == 0 || size > static_cast<uint64_t>(end - entry)) return;
      if (guarded_equals(entry + guarded_read<uint32_t>(entry, name), kName)) {
        if (guarded_read<uint8_t>(entry, type) != kLong) return;
        *count = reinterpret_cast<const uint32_t*>(entry + guarded_read<uint32_t>(entry, data));
        return;
      }
      entry += size;
    }
  });
  if (!fine) *count = nullptr;
  return *count != nullptr ? nullptr : why;
}

}  // namespace hprof
