// The counts of calls by thread and method, the native methods of java/HprofCounts.java, which makes them,
// and sums of them.
//
// A thread's counts are in chunks, by the high bits of a method's number; only the thread writes them. A hash
// table leads from its key, the address of the VM's thread, and the chunk's number to a chunk; HprofCounts
// has its own copy of the table, of which a thread writes its entries, and leave() clears them. All threads
// share one more set of chunks: their counts are added to atomically, by threads without an entry, and by
// those that end, whose chunks are then free. The chunk of that set is made when a method gets its number, so
// each call is counted somewhere.
//
// The word that switches the probes off is not volatile: a compiled loop that has read it counts as long as
// it runs. So nobody sets counts back; `left_out` of each method has what was counted while the collector was
// stopped, or before a reset.
//
// All of this lives as long as the process, in one place: a thread may be between the load of a count and its
// store while its session is detached.
#pragma once

#include <cstdint>
#include <jni.h>

#include <hprof/cpp/services.hpp>
#include <hprof/draft/thread_counts.h>

namespace hprof::calls {

// As in HprofCounts.
constexpr uint32_t kChunkBits = 12, kChunkCounts = 1u << kChunkBits;
constexpr uint32_t kChunksBits = 6, kChunks = 1u << kChunksBits;
constexpr uint32_t kTableBits = 13, kEntries = 1u << kTableBits, kTries = 32;
constexpr uint32_t kMethods = kChunks * kChunkCounts;  // their numbers are below

// One instance per process has the counts: open() takes them over.
class ThreadCounts {
 public:
  // by_thread: sums are those of each thread, not of all. [onload]
  void open(const Services& services, bool by_thread);
  void close();
  // The number that the probes of the method pass: its id; 0: its calls are not counted. [app]
  uint32_t number(hprof_method_id method);
  // From now on, or no longer, calls are part of the sums. Also what reset() leaves out. [control]
  void start();
  void began();  // the probes are on
  void stop();
  void reset();

  // A thread that runs no more probes has that key, or an earlier one had. [app]
  void leave(JNIEnv* jni, uint64_t key, hprof_thread_serial serial);
  // The calling thread starts, or another one has not ended; flags: HPROF_THREAD_*. Its key may be that of a
  // thread that ended without an event. Makes its entries, since compilers leave the way to make them out of
  // a probe as long as no thread took it. [app][control]
  void enter(JNIEnv* jni, uint64_t key, uint64_t os_id, hprof_thread_serial serial, uint32_t flags);
  // Tells the serial of a thread that has entries. [control]
  void name(uint64_t os_id, hprof_thread_serial serial);

  // Calls visit(argument, thread, method, calls) for each method that has probes, also without calls; with
  // by_thread for each thread that has called it, and without calls for thread 0. One at a time. [control]
  using Visit = void (*)(void* argument, hprof_thread_serial thread, hprof_method_id method, uint64_t calls);
  void each(void* argument, Visit visit);
  // Calls visit(argument, count) for each count that is not 0 of the thread with that key, which is the
  // calling one, or of all, also while stopped. The order is that of the methods; the first one has key 0
  // and the calls that were counted for no thread, if there are any of that one. [app]
  using VisitCount = void (*)(void* argument, const hprof_thread_count* count);
  void each_of(uint64_t key, void* argument, VisitCount visit);
  void each_of_all(void* argument, VisitCount visit);
  static void each_method(void* argument,
                          void (*visit)(void* argument, uint32_t method));  // with probes [app]
  uint64_t methods() const;                                                 // that have probes
  uint64_t merged_threads() const;  // with by_thread: ended ones whose calls are those of thread 0

  // java.lang.HprofCounts and the class with its memory.
  static const hprof_probe_class* java_classes();
  static constexpr uint32_t kJavaClasses = 2;
  static constexpr const char* kTargetClass = "java/lang/HprofCounts";
};

}  // namespace hprof::calls
