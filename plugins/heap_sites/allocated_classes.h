// Classes of allocated objects, by the class's key in the object header.
//
// Another class may get the same key when the class has been unloaded, so each entry has a weak reference to
// its class, checked at the first use after classes have been unloaded. Entries are made rarely and never
// removed; a stale entry is replaced by a new one under the same key. There is no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/place_pool.hpp>
#include <hprof/draft/objects.h>

namespace hprof::sites {

struct AllocatedClass : PooledPlace {
  jweak reference;
  uint32_t serial;
  uint32_t size;                  // bytes of each object; 0: an array
  uint32_t shift;                 // arrays: log2 of the element size
  std::atomic<uint32_t> unloads;  // Validity.classes when the class was last seen loaded
  std::atomic<uint32_t> checks;   // arrays: computed sizes still to be compared with the VM's, or kMeasured
};

class AllocatedClasses {
 public:
  static constexpr uint32_t kChecks = 64;
  static constexpr uint32_t kMeasured = UINT32_MAX;  // compute no size: ask the VM for each
  static constexpr uint32_t kByHeader = 1u << 31;    // flag of a quick_size: array; the low bits are the
                                                     // shift

  bool open(const Services& services, const hprof_object_header& header);  // [onload][control]

  // The entry of the object's class, made if need be; 0: no room, or the VM does not tell the class. [app]
  uint32_t find(JNIEnv* jni, jobject object, uint64_t key, uint32_t unloads);
  // True: the entry's class is still loaded. [app]
  bool is_there(JNIEnv* jni, uint32_t number, uint32_t unloads);
  // The class's object size, or for arrays how to compute it from the header; 0: ask the VM for each. [app]
  uint32_t quick_size(uint32_t number) const {
    const AllocatedClass& entry = entries_[number];
    if (entry.size != 0) return entry.size;
    return entry.checks.load(std::memory_order_relaxed) == 0 ? kByHeader | entry.shift : 0;
  }
  // Bytes of an object of that class, by its quick_size. [app]
  uint64_t size_of(uint32_t quick_size, uint32_t number, jobject object, uint64_t header) {
    if (quick_size == 0) return checked_size(number, object, header);
    return (quick_size & kByHeader) == 0 ? quick_size
                                         : hprof_array_size(&header_, header, quick_size & ~kByHeader);
  }
  // log2 of an array's element size, by its class' signature, "[I". [any]
  static uint32_t element_shift(const char* signature, uint32_t reference_shift);
  const AllocatedClass& operator[](uint32_t number) const { return entries_[number]; }

 private:
  using Entries = PlacePool<AllocatedClass, 8, 11>;
  static constexpr uint64_t kFirstSlots = 1u << 9;

  bool describe(JNIEnv* jni, jobject object, AllocatedClass* made);
  uint64_t measure(jobject object) const;
  uint64_t checked_size(uint32_t number, jobject object, uint64_t header);

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  hprof_object_header header_ = {};
  Entries entries_;
  HashTable<std::atomic<uint32_t>, Growth::kLevels> numbers_;  // newest entry by class key
};

}  // namespace hprof::sites
