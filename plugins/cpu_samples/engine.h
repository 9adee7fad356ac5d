// The interface of the engines, each of which takes samples in another way, and what they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "sample_book.h"
#include "sampled_threads.h"
#include "vm_threads.h"

namespace hprof::samples {

// What the collector and its engines share. The collector owns it.
struct Shared {
  Services services;
  uint64_t interval_ns = 0;
  uint64_t clock_step_ns = 0;                  // step of a coarse CPU clock; 0: fine, or not measured
  std::atomic<uint32_t> depth{0};              // frames asked for; 0: none
  std::atomic<bool> samples_new{true};         // whether threads that start from now on are sampled
  const char* thread_names = nullptr;          // patterns; null or empty: all
  mutable std::atomic<bool> takes_any{false};  // takes() has been true
  SampledThreads threads;
  SampleBook book;
  VmThreads vm_threads;

  // True: sample this thread. Virtual threads are sampled through their carriers, the agent's threads not at
  // all. [app][control]
  bool takes(const hprof_thread& thread) const {
    if ((thread.flags & (HPROF_THREAD_VIRTUAL | HPROF_THREAD_AGENT)) != 0) return false;
    const auto info = find_thread(services.ids, services.host, thread.serial);
    if (!covers(thread_names, services.ids->string_text(services.host, info->name))) return false;
    takes_any.store(true, std::memory_order_relaxed);
    return true;
  }
};

// The base class does nothing; it stands for an engine that the build leaves out.
class Engine {
 public:
  Engine(const char* name, Shared* shared) : name_(name), shared_(shared) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const char* name() const { return name_; }
  // On failure nothing has changed; *why is static text. HPROF_UNSUPPORTED: not in this build, OS or VM.
  // [control]
  virtual hprof_status start(const char** why) {
    *why = "this build has no such engine";
    return HPROF_UNSUPPORTED;
  }
  virtual void stop() {}                           // a barrier; samples taken so far are counted [control]
  virtual bool is_stuck() const { return false; }  // its thread did not end: do not call close
  virtual void close() {}                          // frees the memory, after stop [control]
  virtual void thread_start(JNIEnv* /*jni*/, hprof_thread* /*thread*/) {}  // [app]
  virtual void thread_end(hprof_thread* /*thread*/) {}                     // [app]
  // Switches the sampling of a thread on or off; object 0: of all. False: it is not known. [control]
  virtual bool switch_sampling(hprof_object_id object, bool on) {
    const Services& s = shared_->services;
    bool found = false;
    shared_->threads.each([&](SampledThread* thread, hprof_thread_serial serial) {
      if (object != 0 && find_thread(s.ids, s.host, serial)->object != object) return;
      found = true;
      thread->sampled.store(on ? 1 : 0, std::memory_order_relaxed);
      apply(thread, serial);
    });
    return found;
  }
  // Counts the samples that are not in the book yet. The caller holds the book's lock. [control]
  virtual void settle() {}
  // Discards the samples that are not in the book yet, or counts them there: the caller holds the book's
  // lock, and clears the book afterwards. [control]
  virtual void forget() { settle(); }
  // Writes notes on the samples of the report, after its table. watched_ns: how long the collector has run.
  // [control]
  virtual hprof_status write_note(uint64_t /*watched_ns*/) const { return HPROF_OK; }

 protected:
  // The head of a sample that is taken now; thread: a local reference of it or, if it is_mounted, of the
  // virtual thread that it runs, or null.
  SampleHead now(hprof_thread_serial serial, JNIEnv* jni, jthread thread, bool is_mounted = false) const {
    SampleBook& book = shared_->book;
    return {serial,
            book.events.now(),
            HPROF_STATE_RUNNABLE,
            book.events.of(serial, jni, thread),
            HPROF_FRAME_UNKNOWN,
            is_mounted ? book.virtual_threads.of(jni, thread) : 0};
  }
  virtual void apply(SampledThread* /*thread*/, hprof_thread_serial /*serial*/) {}  // applies `sampled`

 private:
  const char* const name_;

 protected:
  Shared* const shared_;
};

}  // namespace hprof::samples
