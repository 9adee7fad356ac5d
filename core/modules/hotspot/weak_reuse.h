// Reuses weak JNI references of collected objects.
//
// HotSpot's weak global references point to a word of the VM with the object's address, which a collection
// sets to 0 when it has found the object dead. Writing a new object's address there costs a tenth of deleting
// the reference and making another one, for which the VM takes a lock.
//
// An address may be written only while no collection moves objects. The writing thread is in native code, so
// the VM collects without waiting for it. The protocol, for collectors that move objects in pauses only, each
// of which is reported:
//
//  - A thread says which reference it is about to use, reads the object's address from its local reference,
//    looks whether the gate is open, and replaces the 0 in the word by the address (compare-and-swap).
//  - When a pause begins, which JVMTI reports before anything moves, the VM's thread closes the gate, and a
//    barrier on all threads makes every running one see it; the writing threads have none. Then it puts the
//    address of a stand-in object, which never dies, into each word that a thread was about to use. A thread
//    that saw the gate open has either written an address that is still valid, which the collection treats as
//    any other, or its compare-and-swap fails, whenever it comes: then it takes a new reference.
//  - When the pause ends the gate opens. It opens for the first time at the end of a pause whose begin was
//    reported, and closes for good before these events are switched off, or the VM dies.
//
// One per process, like the VM's words.
#pragma once

#include <atomic>
#include <cstdint>
#include <jni.h>

#include <hprof/draft/weaks.h>

namespace hprof {

class HotSpot;

class WeakReuse {
 public:
  // Why this VM or system does not allow it; nullptr: it does. [onload][control]
  [[gnu::cold]] const char* why_not(const HotSpot& home, uint32_t java_version) const;
  // nullptr: verified; the gate opens after the next collection. Else why not, static text. [control]
  [[gnu::cold]] const char* open(HotSpot& home, uint32_t java_version, JNIEnv* jni);
  // Makes `reference`, whose object has been collected, refer to `object`. False: not done; do not use it any
  // more. `thread`: the calling thread's, never freed. [app]
  bool use_again(JNIEnv* jni, jweak reference, jobject object, hprof_weak_thread* thread);
  // [gc]
  [[gnu::cold]] void begin_collection();
  [[gnu::cold]] void end_collection();
  // Stops writing; waits for threads that are about to write. [control]
  [[gnu::cold]] void close();

  // For tests: back to the initial state.
  [[gnu::cold]] void reset();

 private:
  enum State : uint32_t { kClosed, kWaiting, kCollecting, kOpen };
  [[gnu::cold]] void remember(hprof_weak_thread* thread);
  template <class Visit>
  void each_thread(const Visit& visit) const;
  [[gnu::cold]] bool is_right(JNIEnv* jni, jweak reference, jobject object);

  std::atomic<uint32_t> state_{kClosed};
  std::atomic<uint32_t> depth_{0};  // pauses may be reported within pauses
  std::atomic<int32_t> proofs_left_{0};
  std::atomic<hprof_weak_thread*> threads_{nullptr};
  std::atomic<jobject> stand_in_{nullptr};  // global reference
  HotSpot* home_ = nullptr;
};

extern WeakReuse weak_reuse;

}  // namespace hprof
