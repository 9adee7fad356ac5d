#include "core/vm_tables/code_heap.h"

namespace hprof {

const char* CodeHeap::prepare(const VmStructs& structs) {
  range_count_ = 0;
  LayoutReader layout(structs);
  at_ = {layout.offset("CodeBlob", "_name"),
         layout.offset("nmethod|CompiledMethod", "_method"),
         layout.offset("Method", "_constMethod"),
         layout.offset("ConstMethod", "_method_idnum"),
         layout.offset("ConstMethod", "_constants"),
         layout.offset("ConstantPool", "_pool_holder"),
         layout.offset("InstanceKlass", "_methods_jmethod_ids"),
         layout.offset("CodeHeap", "_memory"),
         layout.offset("CodeHeap", "_segmap"),
         layout.offset("CodeHeap", "_log2_segment_size"),
         layout.offset("VirtualSpace", "_low_boundary"),
         layout.offset("VirtualSpace", "_high_boundary")};
  block_header_ = layout.size("HeapBlock");
  if (!layout.complete()) return layout.missing();
  const void* only = structs.address("CodeCache", "_heap");  // JDK 8
  const void* list_at = only == nullptr ? layout.address("CodeCache", "_heaps") : nullptr;
  const uint32_t count_at = layout.offset("GrowableArrayBase|GenericGrowableArray", "_len");
  const uint32_t data_at = layout.offset("GrowableArray<int>", "_data");
  if (only == nullptr && !layout.complete()) return layout.missing();
  bool found = false;
  const bool fine = guarded([&] {
    range_count_ = 0;
    found = only != nullptr ? add_range(guarded_read<const void*>(only))
                            : read_ranges(list_at, count_at, data_at);
  });
  if (fine && found) return nullptr;
  range_count_ = 0;
  return "the heaps of code";
}

bool CodeHeap::read_ranges(const void* list_at, uint32_t count_at, uint32_t data_at) {
  auto list = guarded_read<const void*>(list_at);
  if (list == nullptr) return false;
  auto count = guarded_read<uint32_t>(list, count_at);
  auto data = guarded_read<const void*>(list, data_at);
  if (count > kMostRanges) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!add_range(guarded_read<const void*>(data, i * sizeof(void*)))) return false;
  }
  return count != 0;
}

bool CodeHeap::add_range(const void* heap) {
  if (heap == nullptr) return false;
  constexpr uint32_t kMostShift = 16;
  const auto shift = guarded_read<uint32_t>(heap, at_.heap_shift);
  if (shift > kMostShift) return false;
  ranges_[range_count_++] = {guarded_read<uintptr_t>(heap, at_.heap_memory + at_.space_low),
                             guarded_read<uintptr_t>(heap, at_.heap_memory + at_.space_high),
                             guarded_read<const uint8_t*>(heap, at_.heap_segments + at_.space_low), shift};
  return true;
}

void* CodeHeap::id_of_code(const void* blob) const {
  auto name = guarded_read<const char*>(blob, at_.blob_name);
  if (name == nullptr || (!guarded_equals(name, "nmethod") && !guarded_equals(name, "native nmethod")))
    return nullptr;
  const auto method = guarded_read<uintptr_t>(blob, at_.method_of_code);
  return method != 0 ? id_of(method) : nullptr;
}

void* CodeHeap::method_at(uintptr_t pc) const {
  void* method = nullptr;
  const bool fine = guarded([&] {
    const void* blob = blob_at(pc);
    method = blob != nullptr ? id_of_code(blob) : nullptr;
  });
  return fine ? method : nullptr;
}

}  // namespace hprof
