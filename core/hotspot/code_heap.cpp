#include "core/hotspot/code_heap.h"

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
  bool found = false;
  if (const void* only = structs.address("CodeCache", "_heap")) {  // JDK 8
    if (!guarded([&] { found = add_range(guarded_read<const void*>(only)); })) found = false;
  } else {
    const void* list_at = layout.address("CodeCache", "_heaps");
    const uint32_t count_at = layout.offset("GrowableArrayBase|GenericGrowableArray", "_len");
    const uint32_t data_at = layout.offset("GrowableArray<int>", "_data");
    if (!layout.complete()) return layout.missing();
    if (!guarded([&] { found = read_ranges(list_at, count_at, data_at); })) found = false;
  }
  if (found) return nullptr;
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
  auto method = guarded_read<const void*>(blob, at_.method_of_code);
  if (method == nullptr) return nullptr;
  auto constant = guarded_read<const void*>(method, at_.method_const);
  auto number = guarded_read<uint16_t>(constant, at_.const_id_number);
  auto holder =
      guarded_read<const void*>(guarded_read<const void*>(constant, at_.const_pool), at_.pool_holder);
  // The method ids by id number; the first word is their count (InstanceKlass::get_jmethod_id).
  auto ids = guarded_read<const void*>(holder, at_.holder_ids);
  if (ids == nullptr || number >= guarded_read<uintptr_t>(ids)) return nullptr;
  return guarded_read<void*>(ids, (number + 1u) * sizeof(void*));
}

void* CodeHeap::method_at(uintptr_t pc) const {
  void* method = nullptr;
  const bool fine = guarded([&] {
    const void* blob = blob_at(pc);
    if (blob != nullptr) method = id_of_code(blob);
  });
  return fine ? method : nullptr;
}

}  // namespace hprof
