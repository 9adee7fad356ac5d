#include "parked_locks.h"

#include <initializer_list>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::monitor {

static jclass find_class(JNIEnv* jni, const char* name) {
  jclass found = without_exception(jni, jni->FindClass(name));
  if (found == nullptr) return nullptr;
  auto* kept = static_cast<jclass>(without_exception(jni, jni->NewGlobalRef(found)));
  jni->DeleteLocalRef(found);
  return kept;
}

bool ParkedLocks::open(JNIEnv* jni) {
  if (owner_ != nullptr) return true;
  synchronizer_ = find_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
  latch_ = find_class(jni, "java/util/concurrent/CountDownLatch$Sync");
  jclass thread = jni->FindClass("java/lang/Thread");
  if (thread != nullptr) blocker_ = jni->GetFieldID(thread, "parkBlocker", "Ljava/lang/Object;");
  if (blocker_ != nullptr && synchronizer_ != nullptr)
    owner_ = jni->GetFieldID(synchronizer_, "exclusiveOwnerThread", "Ljava/lang/Thread;");
  clear_exception(jni);
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  if (owner_ == nullptr) close(jni);
  return owner_ != nullptr;
}

void ParkedLocks::close(JNIEnv* jni) {
  for (jclass* kept : {&synchronizer_, &latch_}) {
    if (*kept != nullptr) jni->DeleteGlobalRef(*kept);
    *kept = nullptr;
  }
  owner_ = nullptr;
}

jobject ParkedLocks::find(JNIEnv* jni, jthread thread, jobject* owner) const {
  jobject lock = jni->GetObjectField(thread, blocker_);
  *owner = nullptr;
  if (lock == nullptr) return nullptr;
  const bool is_event = latch_ != nullptr && jni->IsInstanceOf(lock, latch_) == JNI_TRUE;
  const bool is_lock = !is_event && jni->IsInstanceOf(lock, synchronizer_) == JNI_TRUE;
  if (is_lock) *owner = jni->GetObjectField(lock, owner_);
  // The thread does not wait for the lock: it owns it by now, or sleeps with it as its blocker.
  if (is_lock && (*owner == nullptr || !jni->IsSameObject(*owner, thread))) return lock;
  if (*owner != nullptr) jni->DeleteLocalRef(*owner);
  jni->DeleteLocalRef(lock);
  return nullptr;
}

bool ParkedLocks::is_owner(JNIEnv* jni, jobject lock, jthread thread) const {
  jobject owner = jni->GetObjectField(lock, owner_);
  const bool is_it = owner != nullptr && jni->IsSameObject(owner, thread) == JNI_TRUE;
  if (owner != nullptr) jni->DeleteLocalRef(owner);
  return is_it;
}

}  // namespace hprof::monitor
