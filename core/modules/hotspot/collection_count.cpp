#include "core/modules/hotspot/collection_count.h"

#include "core/vm_tables/guarded.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

static const char* find(const VmStructs& structs, const uint32_t** count) {
  LayoutReader layout(structs);
  const void* heap_at = layout.address("Universe", "_collectedHeap");
  const uint32_t offset = layout.offset("CollectedHeap", "_total_collections");
  if (!layout.complete()) return layout.missing();
  const auto* heap = guarded_read<const char*>(heap_at);
  if (heap == nullptr) return "there is no heap";
  *count = reinterpret_cast<const uint32_t*>(heap + offset);
  return nullptr;
}

const uint32_t* collection_count(HotSpot& home) {
  const VmFlags& flags = home.flags();
  if (!flags.is_on("UseSerialGC") && !flags.is_on("UseParallelGC") && !flags.is_on("UseConcMarkSweepGC"))
    return nullptr;
  const uint32_t* count = nullptr;
  const char* why = home.is_on(Item::kCollectionCount) ? find(home.structs(), &count) : nullptr;
  return home.settle(Item::kCollectionCount, why) ? count : nullptr;
}

}  // namespace hprof
