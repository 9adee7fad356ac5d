#include "plugins/heap_sites/walk_layout.h"

#include <cstring>
#include <jvmti.h>

namespace hprof::sites {

namespace {

struct FieldRow {
  const char* type;
  const char* field;
  const char* type_text;
  int32_t is_static;
  uint64_t offset;
  void* address;
};
struct TypeRow {
  const char* type;
  const char* super;
  int32_t is_oop, is_integer, is_unsigned;
  uint64_t size;
};

class Tables {
 public:
  explicit Tables(const Services& services) {
    auto* fields = static_cast<FieldRow**>(services.jvm->symbol(services.host, "gHotSpotVMStructs"));
    auto* types = static_cast<TypeRow**>(services.jvm->symbol(services.host, "gHotSpotVMTypes"));
    if (fields != nullptr) fields_ = *fields;
    if (types != nullptr) types_ = *types;
    ok_ = fields_ != nullptr && types_ != nullptr;
  }
  bool ok() const { return ok_; }

  // Types have changed their names: any of these, separated by '|'. Not found: ok() is false from now on.
  uint32_t offset(const char* types, const char* field) {
    const FieldRow* row = find(types, field);
    if (row == nullptr || row->is_static != 0) return fail();
    return static_cast<uint32_t>(row->offset);
  }
  const void* address(const char* types, const char* field) {
    const FieldRow* row = find(types, field);
    if (row == nullptr || row->is_static == 0) fail();
    return ok_ ? row->address : nullptr;
  }
  bool has(const char* types, const char* field) const { return find(types, field) != nullptr; }
  uint32_t size_of(const char* type) {
    for (const TypeRow* row = types_; row != nullptr && row->type != nullptr; row++) {
      if (strcmp(row->type, type) == 0) return static_cast<uint32_t>(row->size);
    }
    return fail();
  }

 private:
  static bool is_one_of(const char* types, const char* type) {
    const size_t size = strlen(type);
    for (const char* at = types; at != nullptr; at = strchr(at, '|')) {
      if (*at == '|') at++;
      if (strncmp(at, type, size) == 0 && (at[size] == 0 || at[size] == '|')) return true;
    }
    return false;
  }
  const FieldRow* find(const char* types, const char* field) const {
    for (const FieldRow* row = fields_; row != nullptr && row->type != nullptr; row++) {
      if (strcmp(row->field, field) == 0 && is_one_of(types, row->type)) return row;
    }
    return nullptr;
  }
  uint32_t fail() {
    ok_ = false;
    return 0;
  }

  const FieldRow* fields_ = nullptr;
  const TypeRow* types_ = nullptr;
  bool ok_ = false;
};

template <class T>
T read(const void* base, uint64_t offset) {
  T value;
  memcpy(&value, static_cast<const uint8_t*>(base) + offset, sizeof value);
  return value;
}

[[maybe_unused]] bool read_heaps(Tables& tables, WalkLayout* layout) {
  const void* heaps[WalkLayout::kHeaps] = {};
  if (tables.has("CodeCache", "_heaps")) {
    const void* list = read<const void*>(tables.address("CodeCache", "_heaps"), 0);
    uint32_t length = tables.offset("GrowableArrayBase|GenericGrowableArray", "_len");
    uint32_t data = tables.offset("GrowableArray<int>", "_data");
    if (!tables.ok() || list == nullptr) return false;
    layout->heap_count = read<uint32_t>(list, length);
    if (layout->heap_count > WalkLayout::kHeaps) return false;
    memcpy(heaps, read<const void*>(list, data), layout->heap_count * sizeof heaps[0]);
  } else {
    const void* only = tables.address("CodeCache", "_heap");
    if (only == nullptr) return false;
    heaps[0] = read<const void*>(only, 0);
    layout->heap_count = 1;
  }
  uint32_t memory = tables.offset("CodeHeap", "_memory"), segments = tables.offset("CodeHeap", "_segmap");
  uint32_t shift = tables.offset("CodeHeap", "_log2_segment_size");
  uint32_t low = tables.offset("VirtualSpace", "_low_boundary");
  uint32_t high = tables.offset("VirtualSpace", "_high_boundary");
  if (!tables.ok()) return false;
  for (uint32_t i = 0; i < layout->heap_count; i++) {
    layout->heaps[i] = {read<uint64_t>(heaps[i], memory + low), read<uint64_t>(heaps[i], memory + high),
                        read<uint64_t>(heaps[i], segments + low), read<uint32_t>(heaps[i], shift)};
  }
  return layout->heap_count != 0;
}

// JavaThread of the calling thread: java.lang.Thread has its address.
[[maybe_unused]] int64_t thread_address(const Services& services, JNIEnv* jni) {
  auto* jvmti = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  jthread self = nullptr;
  if (jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return 0;
  jclass thread = jni->FindClass("java/lang/Thread");
  jfieldID field = thread != nullptr ? jni->GetFieldID(thread, "eetop", "J") : nullptr;
  jlong address = field != nullptr ? jni->GetLongField(self, field) : 0;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  jni->DeleteLocalRef(self);
  return address;
}

}  // namespace

bool read_layout(const Services& services, JNIEnv* jni, WalkLayout* layout, const char** why) {
#if defined(__x86_64__)
  Tables tables(services);
  *why = "this VM does not say how its frames look";
  // Where there is no guard against memory faults, a wrong guess would not be forgiven.
  if (services.sampling == nullptr || !tables.ok()) return false;
  layout->last_sp = tables.offset("JavaFrameAnchor", "_last_Java_sp");
  layout->last_pc = tables.offset("JavaFrameAnchor", "_last_Java_pc");
  layout->last_fp = tables.offset("JavaFrameAnchor", "_last_Java_fp");
  layout->wrapper_anchor = tables.offset("JavaCallWrapper", "_anchor");
  layout->block_header = tables.size_of("HeapBlock");
  layout->blob_name = tables.offset("CodeBlob", "_name");
  layout->blob_size = tables.offset("CodeBlob", "_size");
  layout->blob_frame_size = tables.offset("CodeBlob", "_frame_size");
  layout->method_of_code = tables.offset("nmethod|CompiledMethod", "_method");
  layout->compile_id = tables.offset("nmethod", "_compile_id");
  layout->stub_offset = tables.offset("nmethod", "_stub_offset");
  layout->bcp_slot = services.settings().java_version < 9 ? -7 : -8;
  const int64_t anchor = tables.offset("JavaThread|Thread", "_anchor");
  const int64_t stack_base = tables.offset("JavaThread|Thread", "_stack_base");
  const void* stub = tables.address("StubRoutines", "_call_stub_return_address");
  if (!tables.ok() || !read_heaps(tables, layout)) return false;
  layout->call_stub_return = read<uint64_t>(stub, 0);
  const int64_t thread = thread_address(services, jni);
  const int64_t to_thread = thread - static_cast<int64_t>(reinterpret_cast<uintptr_t>(jni));
  constexpr int64_t kThreadSize = 1 << 14;
  if (thread == 0 || to_thread > 0 || to_thread < -kThreadSize) return false;
  layout->anchor_from_env = to_thread + anchor;
  layout->stack_base_from_env = to_thread + stack_base;
  return true;
#else
  (void)services;
  (void)jni;
  (void)layout;
  *why = "frames of this machine are not known";
  return false;
#endif
}

}  // namespace hprof::sites
