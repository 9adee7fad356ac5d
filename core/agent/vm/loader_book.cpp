#include "core/agent/vm/loader_book.h"

#include <cstring>
#include <utility>

namespace hprof {

namespace {
constexpr uint32_t kFirstRoom = 16;
}  // namespace

void LoaderBook::destroy(JNIEnv* jni) {
  for (uint32_t i = 0; jni != nullptr && i < count_ + dropped_; i++)
    jni->DeleteWeakGlobalRef(rows_[i].loader);
  if (rows_ != nullptr) memory_->release(rows_, room_ * sizeof(Row));
  rows_ = nullptr;
  count_ = dropped_ = room_ = 0;
  for (uint32_t& chain : chains_) chain = 0;
}

uint32_t LoaderBook::number(JNIEnv* jni, jobject loader) {
  jint hash = 0;
  if (loader == nullptr || jni == nullptr) return 0;
  if (jvmti_->GetObjectHashCode(loader, &hash) != JVMTI_ERROR_NONE) return kOthers;
  inside_.fetch_add(1);
  const uint32_t found = find_or_add(jni, loader, hash);
  inside_.fetch_sub(1);
  return found;
}

uint32_t LoaderBook::number_of(JNIEnv* jni, jclass of) {
  jobject loader = nullptr;
  if (jni == nullptr || jvmti_->GetClassLoader(of, &loader) != JVMTI_ERROR_NONE || loader == nullptr)
    return 0;
  const uint32_t found = number(jni, loader);
  jni->DeleteLocalRef(loader);
  return found;
}

// Rows that other threads add meanwhile have higher numbers, and are checked before the new row is added.
uint32_t LoaderBook::find_or_add(JNIEnv* jni, jobject loader, jint hash) {
  jweak fresh = nullptr;
  uint32_t seen = 0;
  uint32_t number = 0;
  while (number == 0) {
    Row row;
    while (number == 0 && next_like(hash, seen, &row)) {
      seen = row.number;
      if (jni->IsSameObject(row.loader, loader)) number = row.number;
    }
    if (number != 0) break;
    if (fresh == nullptr) {
      if (is_full()) drop_gone(jni);
      fresh = jni->NewWeakGlobalRef(loader);
      if (fresh == nullptr) {
        jni->ExceptionClear();
        return kOthers;
      }
    }
    number = add(fresh, hash, seen);
    if (number != 0 && number != kOthers) return number;
  }
  if (fresh != nullptr) jni->DeleteWeakGlobalRef(fresh);
  return number;
}

// The first row of that hash above a number.
bool LoaderBook::next_like(jint hash, uint32_t above, Row* found) {
  platform::MutexLock hold(lock_);
  const Row* first = nullptr;
  for (uint32_t i = chain_of(hash); i != 0 && rows_[i - 1].number > above; i = rows_[i - 1].next) {
    if (rows_[i - 1].hash == hash) first = &rows_[i - 1];
  }
  if (first != nullptr) *found = *first;
  return first != nullptr;
}

void LoaderBook::link(uint32_t index) {
  uint32_t& chain = chain_of(rows_[index].hash);
  rows_[index].next = chain;
  chain = index + 1;
}

// 0: another thread has added a row of that hash after `seen`.
uint32_t LoaderBook::add(jweak reference, jint hash, uint32_t seen) {
  platform::MutexLock hold(lock_);
  for (uint32_t i = chain_of(hash); i != 0 && rows_[i - 1].number > seen; i = rows_[i - 1].next) {
    if (rows_[i - 1].hash == hash) return 0;
  }
  if (last_number_ == kOthers - 1 || (count_ + dropped_ == room_ && !grow())) return kOthers;
  rows_[count_ + dropped_] = rows_[count_];
  rows_[count_] = {reference, hash, ++last_number_, 0, false};
  link(count_++);
  return last_number_;
}

bool LoaderBook::is_full() {
  platform::MutexLock hold(lock_);
  return count_ + dropped_ == room_;
}

bool LoaderBook::grow() {
  if (room_ == kMostLoaders) return false;
  const uint32_t more = room_ != 0 ? 2 * room_ : kFirstRoom;
  auto* rows = static_cast<Row*>(memory_->allocate(more * sizeof(Row)));
  if (rows == nullptr) return false;
  if (rows_ != nullptr) {
    memcpy(rows, rows_, (count_ + dropped_) * sizeof(Row));
    memory_->release(rows_, room_ * sizeof(Row));
  }
  rows_ = rows;
  room_ = more;
  return true;
}

// One thread at a time; others only append, so the indices of rows stay.
void LoaderBook::drop_gone(JNIEnv* jni) {
  if (dropping_.exchange(true)) return;
  for (uint32_t i = 0;; i++) {
    jweak reference;
    {
      platform::MutexLock hold(lock_);
      if (i >= count_) break;
      reference = rows_[i].loader;
    }
    if (!jni->IsSameObject(reference, nullptr)) continue;
    platform::MutexLock hold(lock_);
    rows_[i].gone = true;
  }
  {
    platform::MutexLock hold(lock_);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; i++) {
      if (!rows_[i].gone) std::swap(rows_[kept++], rows_[i]);
    }
    dropped_ += count_ - kept;
    count_ = kept;
    for (uint32_t& chain : chains_) chain = 0;
    for (uint32_t i = 0; i < count_; i++) link(i);
  }
  // No other thread is inside, so none still uses a dropped reference.
  if (inside_.load() == 1) delete_dropped(jni);
  {
    platform::MutexLock hold(lock_);
    if (count_ + dropped_ > room_ - room_ / 4) grow();
  }
  dropping_.store(false);
}

void LoaderBook::delete_dropped(JNIEnv* jni) {
  for (;;) {
    jweak reference;
    {
      platform::MutexLock hold(lock_);
      if (dropped_ == 0) return;
      reference = rows_[count_ + --dropped_].loader;
    }
    jni->DeleteWeakGlobalRef(reference);
  }
}

}  // namespace hprof
