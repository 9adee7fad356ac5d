// Classes of allocated objects, by what their objects' headers say of them.
//
// A header tells classes apart only as long as they are loaded: another one may take the same number later.
// So each entry has a weak reference to its class; whoever uses an entry that he has not seen since the last
// garbage collection asks whether the class is still there. Entries are made seldom and never taken out, so a
// stale entry is replaced by a new one under the same key.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/object_layout.h"
#include "plugins/heap_sites/segments.h"
#include "plugins/heap_sites/spin_lock.h"

namespace hprof::sites {

struct ClassEntry {
  uint64_t key;
  jweak reference;
  uint32_t serial;
  uint32_t next;                 // in its bucket
  uint32_t size;                 // of each object, 0: array
  uint32_t shift;                // array: of the elements' size
  std::atomic<uint32_t> epoch;   // it was there after this many collections
  std::atomic<uint32_t> checks;  // array: sizes that are still compared with what the VM says; kMeasured
};

class ClassTable {
 public:
  static constexpr uint32_t kMostClasses = (1u << 18) - 1;
  static constexpr uint32_t kChecks = 64;
  static constexpr uint32_t kMeasured = UINT32_MAX;  // the VM is asked for every size

  bool open(const Services& services, const ObjectLayout& layout);  // [onload][control]
  void close(JNIEnv* jni);

  // The entry of the object's class, made if need be; 0: no room, or the VM does not say. [app]
  uint32_t find(JNIEnv* jni, jobject object, uint64_t key, uint32_t epoch);
  // Is it still the class that it was? [app]
  bool is_there(JNIEnv* jni, uint32_t number, uint32_t epoch);
  // Bytes of an object of that class. [app]
  uint64_t size_of(JNIEnv* jni, uint32_t number, jobject object, uint64_t header);
  const ClassEntry& operator[](uint32_t number) const { return entries_[number]; }

 private:
  static constexpr uint32_t kBuckets = 1u << 12;

  uint32_t find_entry(uint64_t key) const;
  bool describe(JNIEnv* jni, jobject object, ClassEntry* made);
  uint64_t measure(jobject object) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  ObjectLayout layout_;
  SpinLock lock_;
  Segments<ClassEntry, 8, 11> entries_;
  std::atomic<uint32_t>* buckets_ = nullptr;
  uint32_t last_ = 0;
};

}  // namespace hprof::sites
