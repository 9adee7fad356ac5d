#include "core/modules/hotspot/collection_count.h"

#include "core/hotspot/guarded.h"

namespace hprof {

const char* find_collection_count(const VmStructs& structs, const uint32_t** count) {
  LayoutReader layout(structs);
  const void* heap_at = layout.address("Universe", "_collectedHeap");
  const uint32_t offset = layout.offset("CollectedHeap", "_total_collections");
  if (!layout.complete()) return layout.missing();
  const auto* heap = guarded_read<const char*>(heap_at);
  if (heap == nullptr) return "there is no heap";
  *count = reinterpret_cast<const uint32_t*>(heap + offset);
  return nullptr;
}

}  // namespace hprof
