#include "core/agent/code_cache.h"

#include <cstring>
#include <initializer_list>

namespace hprof {

namespace {

constexpr uint8_t kFreeSegment = 0xff;
constexpr uint32_t kMostSteps = 1u << 16;  // back to the start of a block
constexpr int64_t kMostHeapsOfVm = 64;

// The first of two names of a field that there is.
int64_t offset_of(const VmStructs& structs, const char* type, const char* field, const char* older_type) {
  int64_t offset = structs.offset(type, field);
  return offset >= 0 ? offset : structs.offset(older_type, field);
}

template <typename T>
T read_at(const void* base, int64_t offset) {
  return read_vm<T>(base, static_cast<uint64_t>(offset));
}

}  // namespace

void CodeCache::prepare(const VmStructs& structs) {
  heap_count_ = 0;
  at_ = {structs.offset("CodeBlob", "_name"),
         offset_of(structs, "nmethod", "_method", "CompiledMethod"),
         structs.offset("Method", "_constMethod"),
         structs.offset("ConstMethod", "_method_idnum"),
         structs.offset("ConstMethod", "_constants"),
         structs.offset("ConstantPool", "_pool_holder"),
         structs.offset("InstanceKlass", "_methods_jmethod_ids")};
  for (int64_t offset : {at_.blob_name, at_.compiled_method, at_.method_const, at_.const_id_number,
                         at_.const_pool, at_.pool_holder, at_.holder_ids}) {
    if (offset < 0) return;
  }
  block_header_ = structs.size("HeapBlock");
  if (block_header_ == 0) return;
  if (const void* only = structs.address("CodeCache", "_heap")) {  // JDK 8
    add_heap(structs, read_vm<const void*>(only, 0));
    return;
  }
  const void* list_at = structs.address("CodeCache", "_heaps");
  int64_t count_at = offset_of(structs, "GrowableArrayBase", "_len", "GenericGrowableArray");
  int64_t data_at = structs.offset("GrowableArray<int>", "_data");
  if (list_at == nullptr || count_at < 0 || data_at < 0) return;
  auto list = read_vm<const void*>(list_at, 0);
  if (list == nullptr) return;
  auto count = read_at<int32_t>(list, count_at);
  auto data = read_at<const void*>(list, data_at);
  for (int32_t i = 0; i < count && i < kMostHeapsOfVm; i++) {
    add_heap(structs, read_at<const void*>(data, i * static_cast<int64_t>(sizeof(void*))));
  }
}

void CodeCache::add_heap(const VmStructs& structs, const void* heap) {
  int64_t memory = structs.offset("CodeHeap", "_memory"), map = structs.offset("CodeHeap", "_segmap");
  int64_t shift = structs.offset("CodeHeap", "_log2_segment_size");
  int64_t low = structs.offset("VirtualSpace", "_low_boundary");
  int64_t high = structs.offset("VirtualSpace", "_high_boundary");
  if (heap == nullptr || heap_count_ == kMostHeaps || memory < 0 || map < 0 || shift < 0 || low < 0 ||
      high < 0)
    return;
  uint32_t log = read_at<uint32_t>(heap, shift);
  if (log > 16) return;
  segment_shift_ = log;
  heaps_[heap_count_++] = {read_at<uintptr_t>(heap, memory + low), read_at<uintptr_t>(heap, memory + high),
                           read_at<const uint8_t*>(heap, map + low)};
}

// CodeHeap::find_start: the segment map leads back to the first segment of the block.
const void* CodeCache::blob_at(uintptr_t pc) const {
  for (uint32_t i = 0; i < heap_count_; i++) {
    const Heap& heap = heaps_[i];
    if (pc < heap.from || pc >= heap.to) continue;
    uintptr_t segment = (pc - heap.from) >> segment_shift_;
    uint8_t back = heap.segments[segment];
    for (uint32_t step = 0; back != 0; step++) {
      if (back == kFreeSegment || back > segment || step == kMostSteps) return nullptr;
      segment -= back;
      back = heap.segments[segment];
    }
    return reinterpret_cast<const void*>(heap.from + (segment << segment_shift_) + block_header_);
  }
  return nullptr;
}

void* CodeCache::method_at(uintptr_t pc) const {
  const void* blob = blob_at(pc);
  if (blob == nullptr) return nullptr;
  auto name = read_at<const char*>(blob, at_.blob_name);
  if (name == nullptr || (strcmp(name, "nmethod") != 0 && strcmp(name, "native nmethod") != 0))
    return nullptr;
  auto method = read_at<const void*>(blob, at_.compiled_method);
  if (method == nullptr) return nullptr;
  auto constant = read_at<const void*>(method, at_.method_const);
  auto number = read_at<uint16_t>(constant, at_.const_id_number);
  auto holder = read_at<const void*>(read_at<const void*>(constant, at_.const_pool), at_.pool_holder);
  // Their number, then the ids by id number (InstanceKlass::get_jmethod_id).
  auto ids = read_at<void* const*>(holder, at_.holder_ids);
  if (ids == nullptr || number >= reinterpret_cast<uintptr_t>(ids[0])) return nullptr;
  return ids[number + 1u];
}

}  // namespace hprof
