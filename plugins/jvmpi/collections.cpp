// Garbage collections, reported after they have ended.
#include <hprof/cpp/jni_exception.hpp>

#include "bridge.h"
#include "heap.h"

namespace hprof::jvmpi {

void Collections::open() {
  lost_ = vm_.services.log->loss_counter(vm_.services.host,
                                         "JVMPI events of freed objects: no memory for them (max-memory=)");
}

bool Collections::start() {
  auto body = [](void* self, void* jni, hprof_agent_thread* thread) {
    static_cast<Collections*>(self)->run(static_cast<JNIEnv*>(jni), thread);
  };
  hprof_agent_thread* thread = vm_.services.threads->start(vm_.services.host, "HPROF JVMPI", body, this);
  __atomic_store_n(&thread_, thread, __ATOMIC_RELEASE);
  return thread != nullptr;
}

void Collections::stop() {
  hprof_agent_thread* thread = __atomic_exchange_n(&thread_, nullptr, __ATOMIC_ACQ_REL);
  if (thread != nullptr) vm_.services.threads->stop(vm_.services.host, thread);
}

void Collections::run(JNIEnv* jni, hprof_agent_thread* thread) {
  constexpr uint64_t kPollNs = 100'000'000;  // newer VMs report frees later than the collection
  do {
    if (has_some()) tell(jni);
    notifier_.find_stuck();
    if (Bridge* b = bridge()) b->set_modes_if_due();
  } while (vm_.services.threads->wait(thread, kPollNs) != 0);
}

bool Collections::has_some() const {
  return collected_.load(std::memory_order_acquire) != 0 ||
         __atomic_load_n(&first_, __ATOMIC_ACQUIRE) != nullptr;
}

void Collections::collected() { collected_.fetch_add(1, std::memory_order_acq_rel); }

void Collections::freed(jlong tag) {
  last_freed_.freed(tag);
  freed_.fetch_add(1, std::memory_order_relaxed);
  if ((tag & (kTold | kClass)) == 0) return;
  LockGuard guard(lock_, vm_.services);
  if (last_ == nullptr || last_->count == kTags) {
    Chunk* fresh = vm_.services.allocate<Chunk>(1);
    if (fresh == nullptr) return count_loss(lost_);
    if (last_ != nullptr) last_->next = fresh;
    if (first_ == nullptr) __atomic_store_n(&first_, fresh, __ATOMIC_RELEASE);
    last_ = fresh;
  }
  last_->tags[last_->count++] = tag;
}

Collections::Chunk* Collections::take_tags() {
  LockGuard guard(lock_, vm_.services);
  Chunk* taken = first_;
  __atomic_store_n(&first_, nullptr, __ATOMIC_RELEASE);
  last_ = nullptr;
  return taken;
}

void Collections::hold() {
  constexpr int kTries = 5000;
  constexpr uint64_t kPauseNs = 1'000'000;
  holds_.fetch_add(1, std::memory_order_seq_cst);
  JNIEnv* self = vm_.jni();
  for (int i = 0; i < kTries && telling_.load(std::memory_order_seq_cst) &&
                  teller_.load(std::memory_order_relaxed) != self;
       i++)
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
}

void Collections::release() {
  uint32_t holds = holds_.load(std::memory_order_relaxed);
  while (holds != 0 && !holds_.compare_exchange_weak(holds, holds - 1, std::memory_order_acq_rel)) {
  }
}

void Collections::tell_unloaded(JNIEnv* jni, const Chunk* chunks) {
  for (; chunks != nullptr; chunks = chunks->next) {
    for (uint32_t i = 0; i < chunks->count; i++) {
      const jlong tag = chunks->tags[i];
      const uint64_t number = number_of_tag(tag);
      if ((tag & kClass) == 0) continue;
      if (classes_.is_told(number)) {
        JVMPI_Event event = {};
        event.u.class_unload.class_id = id_of_number(number);
        notifier_.send_if_on(&event, JVMPI_EVENT_CLASS_UNLOAD, jni);
      }
      const ClassInfo* of = classes_.info(number);
      Bridge* b = bridge();
      if (of != nullptr && b != nullptr) b->instructions.forget(*of);
      classes_.forget(jni, number);
    }
  }
}

void Collections::tell_freed(JNIEnv* jni, const Chunk* chunks) {
  for (; chunks != nullptr; chunks = chunks->next) {
    for (uint32_t i = 0; i < chunks->count; i++) {
      if ((chunks->tags[i] & kTold) == 0) continue;
      JVMPI_Event event = {};
      event.u.obj_free.obj_id = id_of_number(number_of_tag(chunks->tags[i]));
      notifier_.send_if_on(&event, JVMPI_EVENT_OBJECT_FREE, jni);
    }
  }
}

void Collections::tell_finish(JNIEnv* jni) {
  if (!notifier_.is_on(JVMPI_EVENT_GC_FINISH)) return;
  JVMPI_Event event = {};
  event.u.gc_info.used_objects = -1;
  const HeapSizes sizes = heap_sizes(jni);
  event.u.gc_info.total_object_space = sizes.total;
  event.u.gc_info.used_object_space = sizes.total - sizes.free;
  notifier_.send(&event, JVMPI_EVENT_GC_FINISH, jni);
}

// Sends a pair of events for each collection; freed objects are reported in the last pair.
void Collections::tell(JNIEnv* jni) {
  if (holds_.load(std::memory_order_acquire) != 0 || telling_.exchange(true, std::memory_order_seq_cst))
    return;
  teller_.store(jni, std::memory_order_relaxed);
  // A thread that has called hold() meanwhile either saw that no thread sends, or waits.
  if (holds_.load(std::memory_order_seq_cst) != 0) return telling_.store(false, std::memory_order_release);
  threads_.tell_current(jni);
  uint32_t pairs = collected_.exchange(0, std::memory_order_acq_rel);
  Chunk* chunks = take_tags();
  tell_unloaded(jni, chunks);
  if (pairs == 0 && chunks != nullptr && notifier_.is_on(JVMPI_EVENT_OBJECT_FREE)) pairs = 1;
  for (; pairs != 0; pairs--) {
    JVMPI_Event event = {};
    notifier_.send_if_on(&event, JVMPI_EVENT_GC_START, jni);
    if (pairs == 1) tell_freed(jni, chunks);
    tell_finish(jni);
  }
  while (chunks != nullptr) {
    Chunk* next = chunks->next;
    vm_.services.release(chunks, 1);
    chunks = next;
  }
  telling_.store(false, std::memory_order_release);
}

void Collections::run_gc(JNIEnv* jni) {
  if (tells_freed()) {
    last_freed_.collect(jni);
  } else {
    vm_.jvmti->ForceGarbageCollection();
  }
  tell(jni);
}

// Makes VMs from 16 on report the freed objects now. Only at the VM's end, when concurrent collectors no
// longer collect, and the VM has stopped reporting objects: see LastFreed.
void Collections::flush() {
  constexpr int kTries = 100;
  constexpr uint64_t kPauseNs = 10'000'000;
  uint64_t before = UINT64_MAX;
  for (int i = 0; i < kTries && before != freed_.load(std::memory_order_relaxed); i++) {
    before = freed_.load(std::memory_order_relaxed);
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  }
  for (const jvmtiEventMode mode : {JVMTI_DISABLE, JVMTI_ENABLE})
    vm_.jvmti->SetEventNotificationMode(mode, JVMTI_EVENT_OBJECT_FREE, nullptr);
}

void Collections::tell_last(JNIEnv* jni) {
  constexpr int kTries = 1000;
  constexpr uint64_t kPauseNs = 1'000'000;
  if (tells_freed()) flush();
  tell(jni);
  for (int i = 0; i < kTries && telling_.load(std::memory_order_acquire); i++)
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  if (has_some()) tell(jni);
}

}  // namespace hprof::jvmpi
