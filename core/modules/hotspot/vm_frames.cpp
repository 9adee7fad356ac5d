#include "core/modules/hotspot/vm_frames.h"

#include "core/vm_tables/hotspot.h"

namespace hprof {

// True: -XX:UseBranchProtection, a flag of VMs for this processor; its default is "none".
static bool signs_return_addresses(const VmFlags& flags) {
  if (!FrameSlots::kMayBeSigned) return false;
  const char* value = nullptr;
  bool is_none = true;
  if (!flags.read("UseBranchProtection", &value, sizeof(value)) || value == nullptr) return false;
  return !guarded([&] { is_none = guarded_equals(value, "none"); }) || !is_none;
}

const char* VmFrames::open_frames(HotSpot& home, uint32_t java_version, const void* env, uint64_t thread) {
  home_ = &home;
  heap_ = &home.code_heap();
  if (!home.hold_guard()) return "there is no guard against memory faults";
  if (!heap_->is_prepared()) return "the code heap is not known";
  if (signs_return_addresses(home.flags())) return "return addresses are signed (UseBranchProtection)";
  LayoutReader layout(home.structs());
  layout_.last_sp = layout.offset("JavaFrameAnchor", "_last_Java_sp");
  layout_.last_pc = layout.offset("JavaFrameAnchor", "_last_Java_pc");
  layout_.last_fp = layout.offset("JavaFrameAnchor", "_last_Java_fp");
  layout_.wrapper_anchor = layout.offset("JavaCallWrapper", "_anchor");
  layout_.blob_name = layout.offset("CodeBlob", "_name");
  layout_.blob_size = layout.offset("CodeBlob", "_size");
  layout_.blob_frame_size = layout.offset("CodeBlob", "_frame_size");
  layout_.method_of_code = layout.offset("nmethod|CompiledMethod", "_method");
  layout_.compile_id = layout.offset("nmethod", "_compile_id");
  layout_.stub_offset = layout.offset("nmethod", "_stub_offset");
  layout_.bcp_slot = java_version < 9 ? FrameSlots::kBcp8 : FrameSlots::kBcp;
  const int64_t anchor = layout.offset("JavaThread|Thread", "_anchor");
  const int64_t stack_base = layout.offset("JavaThread|Thread", "_stack_base");
  const void* stub = layout.address("StubRoutines", "_call_stub_return_address");
  if (!layout.complete()) return layout.missing();
  layout_.call_stub_return = guarded_read<uintptr_t>(stub);
  const int64_t to_thread = static_cast<int64_t>(thread - address_of(env));
  constexpr int64_t kThreadSize = 1 << 14;
  if (thread == 0 || to_thread > 0 || to_thread < -kThreadSize)
    return "the JNIEnv is not a part of its thread";
  layout_.anchor_from_env = to_thread + anchor;
  layout_.stack_base_from_env = to_thread + stack_base;
  return nullptr;
}

VmFrames::Kind VmFrames::kind_of(uint64_t blob) const {
  const uint64_t name = guarded_at<uint64_t>(blob + layout_.blob_name);
  if (name == 0) return Kind::kUnknown;
  if (name == load(&compiled_names_[0])) return Kind::kCompiled;
  if (name == load(&compiled_names_[1])) return Kind::kNative;
  const char* text = reinterpret_cast<const char*>(static_cast<uintptr_t>(name));
  constexpr const char* kCompiled[] = {"nmethod", "native nmethod"};
  for (uint32_t i = 0; i < 2; i++) {
    if (!guarded_equals(text, kCompiled[i])) continue;
    __atomic_store_n(&compiled_names_[i], name, __ATOMIC_RELEASE);
    return i == 0 ? Kind::kCompiled : Kind::kNative;
  }
  if (!guarded_equals(text, "Interpreter")) return Kind::kUnknown;
  __atomic_store_n(&interpreter_high_, blob + guarded_at<uint32_t>(blob + layout_.blob_size),
                   __ATOMIC_RELEASE);
  __atomic_store_n(&interpreter_low_, blob, __ATOMIC_RELEASE);
  return Kind::kInterpreter;
}

}  // namespace hprof
