#include "core/modules/hotspot/weak_reuse.h"

#include <hprof/cpp/jni_exception.hpp>

#include "core/vm_tables/hotspot.h"
#include "platform/platform.h"

namespace hprof {

namespace {

constexpr uintptr_t kTagBits = 7;  // of a reference: its kind
constexpr int32_t kProofs = 1000;
constexpr uint32_t kProofBits = 14;  // after the first proofs, one word in 2^14 is compared
constexpr int64_t kWaitNs = 2 * platform::kNanosPerSecond, kPauseNs = 50'000;

uintptr_t* word_of(const void* reference) {
  return reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(reference) & ~kTagBits);
}

uintptr_t read_word(const void* reference) { return __atomic_load_n(word_of(reference), __ATOMIC_RELAXED); }

bool replace_zero(void* reference, uintptr_t address) {
  uintptr_t zero = 0;
  return __atomic_compare_exchange_n(word_of(reference), &zero, address, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED);
}

void* in_use(const hprof_weak_thread* thread) {
  return __atomic_load_n(&thread->using_now, __ATOMIC_ACQUIRE);
}

bool is_always_proved(const void* reference) {
  const uint64_t word = reinterpret_cast<uintptr_t>(reference) >> 3;
  return word * 0x9E3779B97F4A7C15ull >> (64 - kProofBits) == 0;
}

}  // namespace

WeakReuse weak_reuse;

const char* WeakReuse::why_not(const HotSpot& home, uint32_t java_version) const {
  if (!home.structs().loaded()) return "this VM is not HotSpot";
  if (sizeof(void*) != 8) return "references of 32-bit VMs are not known";
  if (!home.flags().reports_collections(java_version))
    return "this garbage collector moves objects at any time, or does not say when";
  if (home.flags().is_on("CheckJNICalls")) return "not with -Xcheck:jni";
  return platform::prepare_barriers() ? nullptr : "the system has no barriers on all threads";
}

const char* WeakReuse::open(HotSpot& home, uint32_t java_version, JNIEnv* jni) {
  if (const char* why = why_not(home, java_version)) return why;
  home_ = &home;
  jclass object = jni->FindClass("java/lang/Object");
  jobject made = object != nullptr ? jni->AllocObject(object) : nullptr;
  jobject global = made != nullptr ? jni->NewGlobalRef(made) : nullptr;
  jweak weak = global != nullptr ? jni->NewWeakGlobalRef(made) : nullptr;
  clear_exception(jni);
  // Equal by chance only while a collection moves the object, or if these are no addresses.
  bool proved = false;
  for (int tries = 0; weak != nullptr && !proved && tries < 3; tries++)
    proved =
        read_word(weak) != 0 && read_word(weak) == read_word(made) && read_word(weak) == read_word(global);
  if (weak != nullptr) jni->DeleteWeakGlobalRef(weak);
  if (made != nullptr) jni->DeleteLocalRef(made);
  if (object != nullptr) jni->DeleteLocalRef(object);
  jobject none = nullptr;
  if (global != nullptr && (!proved || !stand_in_.compare_exchange_strong(none, global)))
    jni->DeleteGlobalRef(global);
  if (!proved) return "references of different kinds lead to different words";
  proofs_left_.store(kProofs);
  uint32_t closed = kClosed;
  state_.compare_exchange_strong(closed, kWaiting);
  return nullptr;
}

void WeakReuse::remember(hprof_weak_thread* thread) {
  hprof_weak_thread* head = threads_.load(std::memory_order_relaxed);
  thread->is_known = 1;
  do {
    thread->next = head;
  } while (!threads_.compare_exchange_weak(head, thread));
}

template <class Visit>
void WeakReuse::each_thread(const Visit& visit) const {
  for (auto* thread = threads_.load(); thread != nullptr;
       thread = static_cast<hprof_weak_thread*>(thread->next))
    visit(thread);
}

bool WeakReuse::use_again(JNIEnv* jni, jweak reference, jobject object, hprof_weak_thread* thread) {
  if (state_.load(std::memory_order_relaxed) != kOpen) return false;
  if (thread->is_known == 0) remember(thread);
  __atomic_store_n(&thread->using_now, reference, __ATOMIC_RELAXED);
  // begin_collection() makes the barrier for this thread.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uintptr_t address = read_word(object);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool done = state_.load(std::memory_order_relaxed) == kOpen && replace_zero(reference, address);
  __atomic_store_n(&thread->using_now, nullptr, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->times, thread->times + (done ? 1 : 0), __ATOMIC_RELAXED);
  const bool is_proof = proofs_left_.load(std::memory_order_relaxed) > 0 || is_always_proved(reference);
  return done && (!is_proof || is_right(jni, reference, object));
}

bool WeakReuse::is_right(JNIEnv* jni, jweak reference, jobject object) {
  if (proofs_left_.load(std::memory_order_relaxed) > 0) proofs_left_.fetch_sub(1, std::memory_order_relaxed);
  if (jni->IsSameObject(reference, object) != JNI_FALSE) return true;
  state_.store(kClosed);
  home_->settle(Item::kWeakReuse, "one led to another object");
  return false;
}

void WeakReuse::begin_collection() {
  if (stand_in_.load(std::memory_order_relaxed) == nullptr) return;
  depth_.fetch_add(1);
  uint32_t state = state_.load(std::memory_order_relaxed);
  if (state != kClosed) state_.compare_exchange_strong(state, kCollecting);
  // Without the barrier this store may take a moment to become visible.
  if (threads_.load() != nullptr && !platform::barrier_on_all_threads()) {
    state_.store(kClosed);
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  const uintptr_t address = read_word(stand_in_.load());
  each_thread([&](hprof_weak_thread* thread) {
    if (void* reference = in_use(thread)) replace_zero(reference, address);
  });
}

void WeakReuse::end_collection() {
  uint32_t collecting = kCollecting;
  if (depth_.load() == 0 || depth_.fetch_sub(1) != 1) return;
  state_.compare_exchange_strong(collecting, kOpen);
}

void WeakReuse::close() {
  if (stand_in_.load(std::memory_order_relaxed) == nullptr || state_.exchange(kClosed) == kClosed) return;
  platform::barrier_on_all_threads();
  const int64_t deadline = platform::monotonic_ns() + kWaitNs;
  each_thread([&](const hprof_weak_thread* thread) {
    const void* reference = in_use(thread);
    while (reference != nullptr && in_use(thread) == reference && platform::monotonic_ns() < deadline)
      platform::sleep_ns(kPauseNs);
  });
}

void WeakReuse::reset() {
  state_.store(kClosed);
  depth_.store(0);
  threads_.store(nullptr);
  stand_in_.store(nullptr);
  home_ = nullptr;
}

}  // namespace hprof
