#include "core/vm_tables/vm_structs.h"

#include <cstring>

#include "core/base/text.h"

namespace hprof {

using platform::guarded_read;

void VmStructs::load(void* (*symbol)(void*, const char*), void* context) {
  void* table = symbol(context, "gHotSpotVMStructs");
  if (table == nullptr) return;
  struct Part {
    const char* name;
    uint64_t* value;
  } parts[] = {
      {"gHotSpotVMStructEntryArrayStride", &stride_},
      {"gHotSpotVMStructEntryTypeNameOffset", &type_at_},
      {"gHotSpotVMStructEntryFieldNameOffset", &field_at_},
      {"gHotSpotVMStructEntryIsStaticOffset", &static_at_},
      {"gHotSpotVMStructEntryOffsetOffset", &offset_at_},
      {"gHotSpotVMStructEntryAddressOffset", &address_at_},
      {"gHotSpotVMTypeEntryArrayStride", &type_stride_},
      {"gHotSpotVMTypeEntryTypeNameOffset", &type_name_at_},
      {"gHotSpotVMTypeEntrySizeOffset", &type_size_at_},
  };
  for (Part& part : parts) {
    void* address = symbol(context, part.name);
    if (address == nullptr) return;
    *part.value = guarded_read<uint64_t>(address);
  }
  entries_ = guarded_read<const char*>(table);
  if (void* types = symbol(context, "gHotSpotVMTypes")) types_ = guarded_read<const char*>(types);
}

static bool is_one_of(const char* types, const char* type) {
  Str rest(types), one;
  while (next_part(&rest, '|', &one)) {
    if (one == type) return true;
  }
  return false;
}

const char* VmStructs::find(const char* types, const char* field) const {
  if (entries_ == nullptr || stride_ == 0) return nullptr;
  for (const char* entry = entries_;; entry += stride_) {
    auto type_name = guarded_read<const char*>(entry, type_at_);
    auto field_name = guarded_read<const char*>(entry, field_at_);
    if (type_name == nullptr || field_name == nullptr) return nullptr;
    if (strcmp(field_name, field) == 0 && is_one_of(types, type_name)) return entry;
  }
}

int64_t VmStructs::offset(const char* types, const char* field) const {
  const char* entry = find(types, field);
  if (entry == nullptr || guarded_read<int32_t>(entry, static_at_) != 0) return -1;
  return static_cast<int64_t>(guarded_read<uint64_t>(entry, offset_at_));
}

void* VmStructs::address(const char* types, const char* field) const {
  const char* entry = find(types, field);
  if (entry == nullptr || guarded_read<int32_t>(entry, static_at_) == 0) return nullptr;
  return guarded_read<void*>(entry, address_at_);
}

uint64_t VmStructs::size(const char* types) const {
  if (types_ == nullptr || type_stride_ == 0) return 0;
  for (const char* entry = types_;; entry += type_stride_) {
    auto name = guarded_read<const char*>(entry, type_name_at_);
    if (name == nullptr) return 0;
    if (is_one_of(types, name)) return guarded_read<uint64_t>(entry, type_size_at_);
  }
}

}  // namespace hprof
