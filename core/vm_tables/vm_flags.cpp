#include "core/vm_tables/vm_flags.h"

#include <cstring>
#include <initializer_list>

#include "core/vm_tables/guarded.h"

namespace hprof {

// JVMFlag was Flag before JDK 10.
void VmFlags::load(const VmStructs& structs) {
  constexpr const char* kType = "JVMFlag|Flag";
  LayoutReader layout(structs);
  stride_ = layout.size(kType);
  name_at_ = layout.offset(kType, "_name");
  value_at_ = layout.offset(kType, "_addr");
  origin_at_ = layout.offset(kType, "_flags");
  const void* list = layout.address(kType, "flags");
  const void* count = layout.address(kType, "numFlags");
  if (!layout.complete()) return;
  list_ = guarded_read<const char*>(list);
  count_ = guarded_read<uintptr_t>(count);
  LayoutReader arguments(structs);
  const void* texts = arguments.address("Arguments", "_jvm_args_array");
  const void* number = arguments.address("Arguments", "_num_jvm_args");
  if (!arguments.complete()) return;
  arguments_ = guarded_read<const char* const*>(texts);
  argument_count_ = guarded_read<int32_t>(number);
}

const char* VmFlags::find(const char* name) const {
  if (list_ == nullptr) return nullptr;
  const char* flag = list_;
  for (uintptr_t i = 0; i < count_; i++, flag += stride_) {
    auto text = guarded_read<const char*>(flag, name_at_);
    if (text != nullptr && strcmp(text, name) == 0) return flag;
  }
  return nullptr;
}

bool VmFlags::read(const char* name, void* value, uint32_t size) const {
  const char* flag = find(name);
  auto from = flag != nullptr ? guarded_read<const void*>(flag, value_at_) : nullptr;
  if (from != nullptr) memcpy(value, from, size);
  return from != nullptr;
}

bool VmFlags::is_on(const char* name) const {
  uint8_t value = 0;
  return read(name, &value, sizeof(value)) && value != 0;
}

bool VmFlags::has_plain_heap() const {
  static constexpr const char* kCollectors[] = {"UseSerialGC", "UseParallelGC", "UseG1GC",
                                                "UseConcMarkSweepGC"};
  for (const char* collector : kCollectors) {
    if (is_on(collector)) return true;
  }
  return false;
}

bool VmFlags::reports_collections(uint32_t java_version) const {
  constexpr uint32_t kFirst = 25;
  return is_on("UseG1GC") || (java_version >= kFirst && (is_on("UseSerialGC") || is_on("UseParallelGC")));
}

bool VmFlags::makes_archive() const {
  const char* text = nullptr;
  for (const char* name : {"DumpLoadedClassList", "AOTCacheOutput"}) {
    if (read(name, &text, sizeof(text)) && text != nullptr) return true;
  }
  if (!read("AOTMode", &text, sizeof(text)) || text == nullptr) return false;
  return strcmp(text, "record") == 0 || strcmp(text, "create") == 0;
}

// -Xshare:on has had no flag of its own since JDK 19; the last -Xshare: counts.
bool VmFlags::requires_archive() const {
  const char* text = nullptr;
  if (read("AOTMode", &text, sizeof(text)) && text != nullptr && strcmp(text, "on") == 0) return true;
  constexpr char kShare[] = "-Xshare:";
  for (int32_t i = argument_count_; arguments_ != nullptr && i-- > 0;) {
    auto argument = guarded_read<const char*>(arguments_ + i);
    if (argument != nullptr && strncmp(argument, kShare, sizeof(kShare) - 1) == 0)
      return strcmp(argument + sizeof(kShare) - 1, "on") == 0;
  }
  return false;
}

// The low four bits of JVMFlag::_flags are the value's origin (0: the default).
bool VmFlags::turn_on(const char* name, uint8_t** changed) const {
  *changed = nullptr;
  const char* flag = find(name);
  auto* value = flag != nullptr ? guarded_read<uint8_t*>(flag, value_at_) : nullptr;
  if (value == nullptr || *value > 1) return false;
  const bool is_default = (guarded_read<uint32_t>(flag, origin_at_) & 0xf) == 0;
  if (*value == 0 && is_default) {
    *value = 1;
    *changed = value;
  }
  return *value == 1;
}

}  // namespace hprof
