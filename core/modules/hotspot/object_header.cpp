#include "core/modules/hotspot/object_header.h"

namespace hprof {

const char* read_object_header(const VmFlags& flags, hprof_object_header* header) {
  constexpr uint32_t kCompactShift = 42;
  uint32_t alignment = 0;
  if (sizeof(void*) != 8) return "headers of 32-bit VMs are not known";
  if (!flags.read("ObjectAlignmentInBytes", &alignment, sizeof(alignment))) return "flags are not known";
  const bool sound = alignment >= 8 && alignment <= 256 && (alignment & (alignment - 1)) == 0;
  if (!sound) return "objects are aligned in a way that is not known";
  header->alignment = alignment;
  header->reference_shift = flags.is_on("UseCompressedOops") ? 2 : 3;
  header->array_base = 16;
  header->length_shift = 0;
  header->at = 8;
  header->class_shift = 0;
  header->class_mask = UINT64_MAX;
  uint8_t compressed = 1;  // VMs without that flag compress always
  flags.read("UseCompressedClassPointers", &compressed, sizeof(compressed));
  if (flags.is_on("UseCompactObjectHeaders")) {
    header->at = 0;
    header->class_shift = kCompactShift;
  } else if (compressed != 0) {
    header->class_mask = UINT32_MAX;
    header->length_shift = 32;
  }
  return nullptr;
}

}  // namespace hprof
