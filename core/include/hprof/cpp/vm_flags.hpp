// A HotSpot VM's own flags, out of the tables that its library exports for debuggers.
#pragma once

#include <cstdint>
#include <cstring>

#include <hprof/cpp/services.hpp>

namespace hprof {

// Where the value of a flag lies, as the VM's type for it; null if this VM has none of that name, or no tables.
// [onload][control]
inline const void* find_vm_flag(const Services& services, const char* name) {
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
  auto* fields = static_cast<FieldRow**>(services.jvm->symbol(services.host, "gHotSpotVMStructs"));
  auto* types = static_cast<TypeRow**>(services.jvm->symbol(services.host, "gHotSpotVMTypes"));
  if (fields == nullptr || types == nullptr) return nullptr;
  const uint8_t* flags = nullptr;
  uint64_t count = 0, size = 0, name_offset = 0, value_offset = 0;
  const char* type = "JVMFlag";
  for (const TypeRow* row = *types; row != nullptr && row->type != nullptr; row++) {
    // JDK 8 calls it Flag.
    if (std::strcmp(row->type, "JVMFlag") != 0 && std::strcmp(row->type, "Flag") != 0) continue;
    type = row->type;
    size = row->size;
  }
  for (const FieldRow* row = *fields; row != nullptr && row->type != nullptr; row++) {
    if (std::strcmp(row->type, type) != 0) continue;
    if (std::strcmp(row->field, "flags") == 0) flags = *static_cast<const uint8_t* const*>(row->address);
    if (std::strcmp(row->field, "numFlags") == 0) count = *static_cast<const size_t*>(row->address);
    if (std::strcmp(row->field, "_name") == 0) name_offset = row->offset;
    if (std::strcmp(row->field, "_addr") == 0) value_offset = row->offset;
  }
  for (uint64_t i = 0; flags != nullptr && size != 0 && i < count; i++) {
    const char* text = nullptr;
    const void* value = nullptr;
    std::memcpy(&text, flags + i * size + name_offset, sizeof(text));
    std::memcpy(&value, flags + i * size + value_offset, sizeof(value));
    if (text != nullptr && value != nullptr && std::strcmp(text, name) == 0) return value;
  }
  return nullptr;
}

// The value of a flag that is a bool; false if this VM has none of that name. [onload][control]
inline bool vm_flag(const Services& services, const char* name) {
  const void* value = find_vm_flag(services, name);
  return value != nullptr && *static_cast<const uint8_t*>(value) != 0;
}

}  // namespace hprof
