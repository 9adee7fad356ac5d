#include "core/agent/vm/unload_watch.h"

namespace hprof {

bool UnloadWatch::open(MemoryAccount& memory, uint32_t most_classes, bool every_class) {
  const uint64_t marks = (most_classes / 32 + 1) * sizeof(uint32_t);
  if (!slots_region_.create(memory, (uint64_t{most_classes} + 1) * sizeof(Slot), Backing::kLazy))
    return false;
  if (!marks_region_.create(memory, marks, Backing::kLazy) || !marks_region_.cover(marks)) return false;
  most_ = most_classes;
  every_class_ = every_class;
  return true;
}

void UnloadWatch::destroy(JNIEnv* jni) {
  for (uint32_t i = 1; jni != nullptr && i < count_; i++) {
    if (jweak reference = slots()[i].reference.load(std::memory_order_relaxed)) {
      jni->DeleteWeakGlobalRef(reference);
    }
  }
  slots_region_.destroy();
  marks_region_.destroy();
  most_ = 0;
  count_ = 1;
  first_free_ = 0;
}

uint32_t UnloadWatch::take_slot() {
  platform::MutexLock hold(lock_);
  uint32_t slot = first_free_;
  if (slot != 0) {
    first_free_ = slots()[slot].next_free;
  } else if (count_ <= most_ && slots_region_.cover((uint64_t{count_} + 1) * sizeof(Slot))) {
    slot = count_++;
  }
  return slot;
}

bool UnloadWatch::add(JNIEnv* jni, jclass of, uint32_t serial) {
  if (serial == 0 || serial > most_) return true;
  const uint32_t bit = 1u << serial % 32;
  if ((mark_of(serial)->load(std::memory_order_relaxed) & bit) != 0) return true;
  if ((mark_of(serial)->fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return true;
  jweak reference = jni->NewWeakGlobalRef(of);
  if (reference == nullptr) jni->ExceptionClear();
  const uint32_t slot = reference != nullptr ? take_slot() : 0;
  if (slot == 0) {
    if (reference != nullptr) jni->DeleteWeakGlobalRef(reference);
    return false;
  }
  slots()[slot].serial = serial;
  slots()[slot].reference.store(reference, std::memory_order_release);
  return true;
}

void UnloadWatch::sweep(JNIEnv* jni, uint32_t collections, void* context,
                        void (*gone)(void* context, uint32_t serial)) {
  if (!is_on() || sweeping_.exchange(true, std::memory_order_acquire)) return;
  uint32_t end = 0;
  if (collections != swept_at_) {
    swept_at_ = collections;
    platform::MutexLock hold(lock_);
    end = count_;
  }
  for (uint32_t i = 1; i < end; i++) {
    Slot& slot = slots()[i];
    jweak reference = slot.reference.load(std::memory_order_acquire);
    if (reference == nullptr || !jni->IsSameObject(reference, nullptr)) continue;
    const uint32_t serial = slot.serial;
    slot.reference.store(nullptr, std::memory_order_relaxed);
    jni->DeleteWeakGlobalRef(reference);
    mark_of(serial)->fetch_and(~(1u << serial % 32), std::memory_order_relaxed);
    {
      platform::MutexLock hold(lock_);
      slot.next_free = first_free_;
      first_free_ = i;
    }
    gone(context, serial);
  }
  sweeping_.store(false, std::memory_order_release);
}

}  // namespace hprof
