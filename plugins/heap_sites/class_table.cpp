#include "plugins/heap_sites/class_table.h"

#include <new>

namespace hprof::sites {

bool ClassTable::open(const Services& services, const ObjectLayout& layout) {
  services_ = services;
  layout_ = layout;
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  if (buckets_ == nullptr) buckets_ = services.allocate<std::atomic<uint32_t>>(kBuckets);
  return buckets_ != nullptr;
}

void ClassTable::close(JNIEnv* jni) {
  for (uint32_t i = 1; jni != nullptr && i <= last_; i++) jni->DeleteWeakGlobalRef(entries_[i].reference);
  entries_.close(services_);
  services_.release(buckets_, kBuckets);
  buckets_ = nullptr;
  last_ = 0;
}

// The newest entry of a key comes first in its bucket.
uint32_t ClassTable::find_entry(uint64_t key) const {
  uint32_t at = buckets_[mix(0, key) >> 40 & (kBuckets - 1)].load(std::memory_order_acquire);
  while (at != 0 && entries_[at].key != key) at = entries_[at].next;
  return at;
}

uint64_t ClassTable::measure(jobject object) const {
  jlong size = 0;
  return jvmti_->GetObjectSize(object, &size) == JVMTI_ERROR_NONE ? static_cast<uint64_t>(size) : 0;
}

// Asks the VM, so no lock is held.
bool ClassTable::describe(JNIEnv* jni, jobject object, ClassEntry* made) {
  jclass of = jni->GetObjectClass(object);
  char* signature = nullptr;
  if (of == nullptr || jvmti_->GetClassSignature(of, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  made->serial = services_.ids->class_serial(services_.host, jni, of);
  made->reference = jni->NewWeakGlobalRef(of);
  if (signature[0] == '[') {
    made->shift = layout_.element_shift(signature);
    made->checks.store(layout_.tells_length() ? kChecks : kMeasured, std::memory_order_relaxed);
  } else {
    uint64_t size = measure(object);
    made->size = size <= UINT32_MAX ? static_cast<uint32_t>(size) : 0;
    made->checks.store(kMeasured, std::memory_order_relaxed);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jni->DeleteLocalRef(of);
  if (made->reference == nullptr) jni->ExceptionClear();
  return made->reference != nullptr && made->serial != 0;
}

uint32_t ClassTable::find(JNIEnv* jni, jobject object, uint64_t key, uint32_t epoch) {
  uint32_t known = find_entry(key);
  if (known != 0 && is_there(jni, known, epoch)) return known;
  ClassEntry made = {};
  made.key = key;
  made.epoch.store(epoch, std::memory_order_relaxed);
  bool described = describe(jni, object, &made);
  SpinGuard guard(lock_);
  uint32_t other = find_entry(key);
  bool late = other != known;  // another thread was faster
  if (!described || late || last_ == kMostClasses || !entries_.cover(services_, last_ + 1)) {
    if (made.reference != nullptr) jni->DeleteWeakGlobalRef(made.reference);
    return late ? other : 0;
  }
  std::atomic<uint32_t>& bucket = buckets_[mix(0, key) >> 40 & (kBuckets - 1)];
  ClassEntry* entry = new (&entries_[++last_]) ClassEntry();
  entry->key = key;
  entry->reference = made.reference;
  entry->serial = made.serial;
  entry->size = made.size;
  entry->shift = made.shift;
  entry->epoch.store(epoch, std::memory_order_relaxed);
  entry->checks.store(made.checks.load(std::memory_order_relaxed), std::memory_order_relaxed);
  entry->next = bucket.load(std::memory_order_relaxed);
  bucket.store(last_, std::memory_order_release);
  return last_;
}

bool ClassTable::is_there(JNIEnv* jni, uint32_t number, uint32_t epoch) {
  ClassEntry& entry = entries_[number];
  if (entry.epoch.load(std::memory_order_relaxed) == epoch) return true;
  if (jni->IsSameObject(entry.reference, nullptr)) return false;
  entry.epoch.store(epoch, std::memory_order_relaxed);
  return true;
}

uint64_t ClassTable::size_of(JNIEnv*, uint32_t number, jobject object, uint64_t header) {
  ClassEntry& entry = entries_[number];
  if (entry.size != 0) return entry.size;
  uint32_t checks = entry.checks.load(std::memory_order_relaxed);
  if (checks == kMeasured) return measure(object);
  uint64_t size = layout_.array_size(header, entry.shift);
  if (checks == 0) return size;
  uint64_t real = measure(object);
  entry.checks.store(real == size ? checks - 1 : kMeasured, std::memory_order_relaxed);
  return real;
}

}  // namespace hprof::sites
