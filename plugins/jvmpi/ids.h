// Object ids: numbers that are the tags of objects in the bridge's environment.
//
// An id is 16 times its number, since agents hash ids as if they were addresses. The tag has two more bits,
// kTold and kClass. An object's id never changes, and none is given out twice.
#pragma once

#include <atomic>

#include <hprof/cpp/lock.hpp>

#include "vm.h"

namespace hprof::jvmpi {

constexpr jlong kTold = jlong{1} << 60;   // OBJECT_ALLOC was sent, so OBJECT_FREE will be
constexpr jlong kClass = jlong{1} << 61;  // of a class object
constexpr jlong kNumber = kTold - 1;

inline uint64_t number_of_tag(jlong tag) { return static_cast<uint64_t>(tag & kNumber); }
inline jobjectID id_of_number(uint64_t number) {
  return reinterpret_cast<jobjectID>(static_cast<uintptr_t>(number << 4));
}
inline uint64_t number_of_id(jobjectID id) {
  const uint64_t word = reinterpret_cast<uintptr_t>(id);
  return (word & 15) == 0 ? word >> 4 : 0;
}

class Ids {
 public:
  explicit Ids(const Vm& vm) : vm_(vm) {}

  // The tag of an object, a new one with `flags` if need be; 0: null, or no numbers are left. [app]
  jlong tag(jobject object, jlong flags = 0);
  // As tag(), for an object that no other thread has seen yet.
  jlong tag_new(jobject object, jlong flags);
  // A number for an object that is tagged elsewhere; 0: none is left. [any]
  uint64_t take() {
    const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    return number <= kMost ? number : 0;
  }
  // Sets kTold. False: it was set already.
  bool mark_told(jobject object);
  // A local reference to the object of an id; null: it is gone, or never existed. Slow: the VM walks all
  // tags. [app]
  [[gnu::cold]] jobject find(JNIEnv* jni, jobjectID id) const;
  // Walks over the heap that have begun, which give ids to objects that their threads are just allocating.
  uint32_t walks() const { return walks_.load(std::memory_order_acquire); }
  void begin_walk() { walks_.fetch_add(1, std::memory_order_acq_rel); }
  // Changes when a class may have been unloaded, or a new one was linked.
  uint32_t classes_epoch() const { return epoch_.load(std::memory_order_acquire); }
  void change_classes() { epoch_.fetch_add(1, std::memory_order_acq_rel); }
  bool was_given(uint64_t number) const {
    return number != 0 && number < next_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kMost = sizeof(void*) == 4 ? (1u << 28) - 1 : (uint64_t{1} << 44);

  // The lock is held over calls of JVMTI, where a thread may be suspended, so nobody waits for it forever.
  // Without it an object may get a second id if two threads see it for the first time at once.
  bool lock();

  const Vm& vm_;
  Lock lock_;
  std::atomic<uint64_t> next_{1};
  std::atomic<uint32_t> walks_{1}, epoch_{1};
};

}  // namespace hprof::jvmpi
