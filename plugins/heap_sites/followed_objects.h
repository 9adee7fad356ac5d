// Follows objects until they are collected: their live records, and the reaper, an agent thread that checks
// them after each garbage collection.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/hotspot.hpp>

#include "allocating_threads.h"
#include "live_records.h"
#include "sampling.h"
#include "site_table.h"

namespace hprof::sites {

static_assert(SiteTable::kMostSites < 1u << LiveRecord::kSiteBits, "records have room for their numbers");

class FollowedObjects {
 public:
  // collections: a counter that changes in each collection.
  FollowedObjects(const AllocatingThreads& threads, const SiteTable& sites,
                  const std::atomic<uint32_t>& collections)
      : threads_(threads), sites_(sites), collections_(collections) {}

  // mode: how much an object counts for. [onload]
  void open(const HotSpotServices& services, const SitesMode& mode);
  // Requests the events for reusing weak references of collected objects. [onload]
  void ask_to_reuse() {
    wants_reuse_ = true;
    can_reuse(nullptr);
  }
  // Starts the reaper. [control]
  void start(JNIEnv* jni);
  void stop(JNIEnv* jni);                  // ends the reaper; the records stay [control]
  void close(JNIEnv* jni);                 // [control]
  void end_with_vm() { vm_ends_ = true; }  // the VM ends and frees the references itself [control]

  // Follows an object of that site; without memory it counts as freed at once. [app]
  void follow(JNIEnv* jni, FollowThread* thread, uint32_t site, jobject object, uint64_t size);
  void wake();  // a collection has ended [gc]

  // lock() takes the records from the reaper, which soon releases them; unlock() gives them back. [control]
  void lock();
  void unlock() { lock_.unlock(); }
  // These two under the lock. [control]
  void check_all(JNIEnv* jni);
  void forget_all(JNIEnv* jni);
  // Calls visit(void* weak, uint32_t site) for all followed objects. [control][heap]
  template <class Visit>
  void each(const Visit& visit) const {
    threads_.each(
        [&](const AllocatingThread& thread) { LiveRecords::each_open(thread.followed.open, visit); });
    records_.each(visit);
  }

 private:
  struct Hooks {  // context of LiveHooks
    FollowedObjects* followed;
    JNIEnv* jni;
  };
  bool can_reuse(JNIEnv* jni) const;
  bool refer(JNIEnv* jni, FollowThread* thread, LiveRecord* record, jobject object) const;
  LiveHooks hooks(Hooks* hooks) const;
  uint64_t are_gone(JNIEnv* jni, void* const* references, uint32_t count) const;
  static void reap(void* self, void* jni, hprof_agent_thread* thread);
  void say_reuse() const;

  HotSpotServices services_;
  const AllocatingThreads& threads_;
  const SiteTable& sites_;
  const std::atomic<uint32_t>& collections_;
  SitesMode mode_ = {};
  LiveRecords records_;
  bool wants_reuse_ = false;
  bool reuses_ = false;
  bool vm_ends_ = false;
  Lock lock_;                        // held by the reaper or a report while it goes through the records
  std::atomic<bool> wanted_{false};  // a report waits for the lock
  hprof_agent_thread* reaper_ = nullptr;
  uint64_t* lost_ends_ = nullptr;
};

}  // namespace hprof::sites
