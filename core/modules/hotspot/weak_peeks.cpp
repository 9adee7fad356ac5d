#include "core/modules/hotspot/weak_peeks.h"

#include "core/vm_tables/guarded.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

constexpr int32_t kEnough = 1000;  // comparisons with collected objects, then with others
constexpr uintptr_t kTagBits = 7;  // of the reference: its kind

// True: the reference's word is 0. Within guarded().
bool is_zero(const void* reference) {
  auto* place = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(reference) & ~kTagBits);
  return guarded_read<uintptr_t>(place) == 0;
}

// False: the word cannot be read.
bool is_cleared(jweak reference, bool* cleared) {
  return guarded([&] { *cleared = is_zero(reference); });
}

}  // namespace

uint64_t WeakPeeks::are_gone(HotSpot& home, JNIEnv* jni, void* const* references, uint32_t count) {
  uint64_t gone = 0;
  if (home_ != &home) {
    home_ = &home;
    proofs_ = 0;
  }
  if (proofs_ >= 2 * kEnough && guarded([&] {
        gone = 0;
        for (uint32_t i = 0; i < count; i++) gone |= uint64_t{is_zero(references[i])} << i;
      }))
    return gone;
  gone = 0;
  for (uint32_t i = 0; i < count; i++)
    gone |= uint64_t{is_gone(home, jni, static_cast<jweak>(references[i]))} << i;
  return gone;
}

bool WeakPeeks::is_gone(HotSpot& home, JNIEnv* jni, jweak reference) {
  bool cleared = false;
  if (proofs_ >= 2 * kEnough && is_cleared(reference, &cleared)) return cleared;
  const bool gone = jni->IsSameObject(reference, nullptr) != JNI_FALSE;
  if (proofs_ < 0) return gone;
  const char* why = nullptr;
  if (!home.is_on(Item::kWeakPeeks) || !home.structs().loaded()) {
    why = "this VM is not HotSpot";
  } else if (!platform::kReadsAreGuarded || !home.hold_guard()) {
    why = "reads are not guarded here";
  } else if (!is_cleared(reference, &cleared)) {
    why = "a reference led to no memory";
  } else if (cleared != gone) {
    why = "one was wrong";
  }
  if (why != nullptr) {
    proofs_ = -1;
    home.settle(Item::kWeakPeeks, why);
  } else if (proofs_ < kEnough ? gone : !gone) {
    if (++proofs_ == 2 * kEnough) home.settle(Item::kWeakPeeks, nullptr);
  }
  return gone;
}

}  // namespace hprof
