#include "followed_objects.h"

#include <hprof/cpp/text.hpp>

namespace hprof::sites {

static constexpr uint64_t kReaperNs = 1'000'000'000;

void FollowedObjects::open(const HotSpotServices& services, const SitesMode& mode) {
  services_ = services;
  mode_ = mode;
  records_.open(services);
  lost_ends_ = services.log->loss_counter(services.host,
                                          "ends of objects: no memory to track the object (max-memory=)");
}

// Can weak references be reused? jni = null: only requests the events for that.
bool FollowedObjects::can_reuse(JNIEnv* jni) const {
  const HotSpotServices& s = services_;
  return s.weaks != nullptr && s.weaks->open_reuse(s.host, jni) != 0;
}

void FollowedObjects::start(JNIEnv* jni) {
  reuses_ = wants_reuse_ && can_reuse(jni);
  if (reaper_ != nullptr) return;
  reaper_ = services_.threads->start(services_.host, "HPROF heap sites", &FollowedObjects::reap, this);
  if (reaper_ == nullptr)
    services_.log->message(
        services_.host,
        "heap=sites: the thread that follows objects cannot be started: objects are checked at each report");
}

void FollowedObjects::stop(JNIEnv* jni) {
  if (reuses_) say_reuse();
  wanted_.store(true);
  if (reaper_ != nullptr) services_.threads->stop(services_.host, reaper_);
  wanted_.store(false);
  reaper_ = nullptr;
  if (jni == nullptr || vm_ends_) return;
  Hooks context = {this, jni};
  lock();
  records_.let_go(hooks(&context));
  unlock();
}

void FollowedObjects::say_reuse() const {
  uint64_t times = 0;
  threads_.each([&](const AllocatingThread& thread) {
    times += __atomic_load_n(&thread.followed.weak.times, __ATOMIC_RELAXED);
  });
  TextLine<100> line;
  line.add("heap=sites: weak references were used again ").add(times).add(" times");
  services_.log->detail(services_.host, line.c_str());
}

void FollowedObjects::close(JNIEnv* jni) {
  Hooks context = {this, jni};
  threads_.each([&](const AllocatingThread& thread) {
    LiveRecords::forget_open(thread.followed.open, hooks(&context));
  });
  records_.close(hooks(&context));
}

void FollowedObjects::follow(JNIEnv* jni, FollowThread* thread, uint32_t site, jobject object,
                             uint64_t size) {
  LiveRecord* record = records_.next(&thread->open);
  if (record != nullptr && refer(jni, thread, record, object)) return records_.add(&thread->open, site, size);
  const Amount by = mode_.weight(size);
  Amount& untracked = sites_[site].untracked;
  __atomic_fetch_add(&untracked.objects, by.objects, __ATOMIC_RELAXED);
  __atomic_fetch_add(&untracked.bytes, by.bytes, __ATOMIC_RELAXED);
  count_loss(lost_ends_);
}

// Gives the record a weak reference to the object: that of an object that was collected, or a new one.
inline bool FollowedObjects::refer(JNIEnv* jni, FollowThread* thread, LiveRecord* record,
                                   jobject object) const {
  void* reference = record->reference();
  // Prefetches the word that a record's reference points to, four records ahead; it is rarely in the cache.
  if (const void* later = reuses_ ? LiveRecords::later_reference(thread->open) : nullptr)
    __builtin_prefetch(later, 1);
  if (reuses_ && reference != nullptr && services_.weaks->reuse(jni, reference, object, &thread->weak) != 0)
    return true;
  if (reference != nullptr) jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
  reference = jni->NewWeakGlobalRef(object);
  if (reference == nullptr) jni->ExceptionClear();
  if (!LiveRecord::fits(reference)) {
    jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
    reference = nullptr;
  }
  record->set_reference(reference);
  return reference != nullptr;
}

LiveHooks FollowedObjects::hooks(Hooks* context) const {
  return {context,
          [](void* argument, void* const* references, uint32_t count) {
            auto* at = static_cast<Hooks*>(argument);
            return at->followed->are_gone(at->jni, references, count);
          },
          [](void* argument, void* reference) {
            static_cast<Hooks*>(argument)->jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
          },
          reuses_ || vm_ends_,
          [](void* argument, uint32_t site, uint64_t bytes) {
            const FollowedObjects& self = *static_cast<Hooks*>(argument)->followed;
            self.sites_[site].freed.add(self.mode_.weight(bytes));
          },
          [](void* argument) {
            return static_cast<Hooks*>(argument)->followed->wanted_.load(std::memory_order_relaxed);
          }};
}

uint64_t FollowedObjects::are_gone(JNIEnv* jni, void* const* references, uint32_t count) const {
  const HotSpotServices& s = services_;
  if (s.weaks != nullptr) return s.weaks->are_gone(s.host, jni, references, count);
  uint64_t gone = 0;
  for (uint32_t i = 0; i < count; i++)
    gone |= uint64_t{jni->IsSameObject(static_cast<jweak>(references[i]), nullptr)} << i;
  return gone;
}

void FollowedObjects::wake() {
  hprof_agent_thread* reaper = reaper_;
  if (reaper != nullptr) services_.threads->wake(reaper);
}

void FollowedObjects::reap(void* self, void* jni, hprof_agent_thread* thread) {
  auto* followed = static_cast<FollowedObjects*>(self);
  Hooks context = {followed, static_cast<JNIEnv*>(jni)};
  uint32_t seen = followed->collections_.load(std::memory_order_relaxed);
  while (followed->services_.threads->wait(thread, kReaperNs) != 0) {
    uint32_t now = followed->collections_.load(std::memory_order_relaxed);
    if (now == seen || followed->wanted_.load(std::memory_order_relaxed) || !followed->lock_.try_lock())
      continue;
    seen = now;
    followed->records_.check(followed->hooks(&context), false);
    followed->lock_.unlock();
  }
}

void FollowedObjects::lock() {
  wanted_.store(true);
  lock_.lock(services_);
  wanted_.store(false);
}

void FollowedObjects::check_all(JNIEnv* jni) {
  Hooks context = {this, jni};
  LiveHooks all = hooks(&context);
  all.is_wanted = nullptr;
  records_.check(all, true);
  threads_.each([&](const AllocatingThread& thread) { LiveRecords::check_open(thread.followed.open, all); });
}

void FollowedObjects::forget_all(JNIEnv* jni) {
  Hooks context = {this, jni};
  threads_.each([&](const AllocatingThread& thread) {
    LiveRecords::forget_open(thread.followed.open, hooks(&context));
  });
  records_.forget(hooks(&context));
}

}  // namespace hprof::sites
