#include "core/modules/hotspot/heap_references.h"

#include "core/vm_tables/guarded.h"

namespace hprof {

static const void* static_of(const VmStructs& structs, const char* type, const char* name,
                             const char* older) {
  const void* found = structs.address(type, name);
  return found != nullptr ? found : structs.address(type, older);
}

const char* HeapReferences::open(HotSpot& home) {
  const VmFlags& flags = home.flags();
  if (flags.is_on("UseZGC")) return open_marked(home);
  kind_ = flags.is_on("UseShenandoahGC") ? Kind::kForwarded : Kind::kPlain;
  if (kind_ == Kind::kPlain && !flags.has_plain_heap()) return "this garbage collector is not known";
  is_compressed_ = flags.is_on("UseCompressedOops");
  return is_compressed_ ? open_compressed(home) : nullptr;
}

const char* HeapReferences::open_compressed(HotSpot& home) {
  static constexpr const char kWhyNot[] = "the base of compressed references";
  constexpr uint32_t kMostShift = 8;
  const VmStructs& structs = home.structs();
  const void* base = static_of(structs, "CompressedOops", "_base", "_narrow_oop._base");
  const void* shift = static_of(structs, "CompressedOops", "_shift", "_narrow_oop._shift");
  if (base == nullptr || shift == nullptr) return kWhyNot;
  base_ = guarded_read<uintptr_t>(base);
  shift_ = guarded_read<uint32_t>(shift);
  return shift_ <= kMostShift ? nullptr : kWhyNot;
}

// With generations the address is shifted left by the marks, without them (Java 21) each combination of marks
// is a mapping of the heap.
const char* HeapReferences::open_marked(HotSpot& home) {
  kind_ = Kind::kMarked;
  LayoutReader layout(home.structs());
  const bool is_mapped = home.structs().address("XGlobalsForVMStructs", "_instance_p") != nullptr &&
                         !home.flags().is_on("ZGenerational");
  const char* type = is_mapped ? "XGlobalsForVMStructs" : "ZGlobalsForVMStructs";
  const void* instance_at = layout.address(type, "_instance_p");
  const uint32_t stale_at = layout.offset(type, is_mapped ? "_XAddressBadMask" : "_ZPointerLoadBadMask");
  const uint32_t shift_at = is_mapped ? 0 : layout.offset(type, "_ZPointerLoadShift");
  if (!layout.complete()) return layout.missing();
  const auto instance = guarded_read<const void*>(instance_at);
  if (instance == nullptr) return "the marks of references";
  stale_ = guarded_read<const uint64_t*>(instance, stale_at);
  if (!is_mapped) address_shift_ = guarded_read<const uint64_t*>(instance, shift_at);
  return stale_ != nullptr && (is_mapped || address_shift_ != nullptr) ? nullptr : "the marks of references";
}

uint64_t HeapReferences::in_heap(uint64_t place) const {
  if (!is_compressed_) return current(guarded_at<uint64_t>(place));
  const auto reference = uint64_t{guarded_at<uint32_t>(place)};
  return reference != 0 ? current(base_ + (reference << shift_)) : 0;
}

uint64_t HeapReferences::current(uint64_t reference) const {
  constexpr uint64_t kForwardedBits = 3, kMostShift = 63;
  if (reference == 0 || kind_ == Kind::kPlain) return reference;
  if (kind_ == Kind::kForwarded) {
    const auto header = guarded_at<uint64_t>(reference);
    return (header & kForwardedBits) == kForwardedBits ? header & ~kForwardedBits : reference;
  }
  if ((reference & guarded_read<uint64_t>(stale_)) != 0) return kMoved;
  return address_shift_ != nullptr ? reference >> (guarded_read<uint64_t>(address_shift_) & kMostShift)
                                   : reference;
}

}  // namespace hprof
