// exceptions=y: how many exceptions are made, where, and which catch clauses get them.
//
// Probes at the end of Throwable's constructor and at the beginning of each catch clause call on_made and
// on_caught. A site is a class and the trace that made exceptions of it. To find an exception's site again in
// a catch clause, its identity hash and its site are kept in `recent_`, without a reference to it.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/current_stacks.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/session_gate.hpp>

namespace hprof::exceptions {

struct Config {
  uint32_t exceptions;
};

// Any number of threads count at the same time, without a lock.
class Collector {
 public:
  Collector(const hprof_host* host, const Config&) : services_(host) {}
  hprof_status open(char* error, uint32_t error_size);
  bool close();
  hprof_status start();
  void stop();
  void reset();
  hprof_status report(const hprof_report& report);

 private:
  bool allocate();
  struct Site {
    uint32_t owner;  // hprof_class_serial
    hprof_trace_serial trace;
    std::atomic<uint64_t> made;
    std::atomic<uint64_t> caught;
    std::atomic<uint64_t> handled;  // how many of those made have been caught at least once
  };
  // Each word: identity hash (bits 32 to 63), 1 if it has been caught (bit 31), number of its site.
  struct Recent {
    std::atomic<uint64_t> words[4];
  };

  static void JNICALL on_made(JNIEnv* jni, jclass, jlong self, jobject exception);
  static void JNICALL on_caught(JNIEnv* jni, jclass, jlong self, jobject exception, jint method);
  void made(JNIEnv* jni, jobject exception);
  void caught(JNIEnv* jni, jobject exception, uint32_t method);
  bool is_agent(JNIEnv* jni) const;
  uint64_t identity_of(jobject exception) const;
  Recent& recent(uint64_t identity) { return recent_[mix(0, identity) >> 32 & (kRecents - 1)]; }
  void remember(uint64_t identity, uint32_t site);
  uint32_t recognise(uint64_t identity);
  uint32_t site_of_stack(JNIEnv* jni, jobject exception);
  uint32_t site_of(JNIEnv* jni, jobject exception, hprof_trace_serial trace);
  bool is_constructor_of(JNIEnv* jni, jobject exception, jmethodID method) const;
  hprof_status write_sites(uint64_t created_ms) const;
  hprof_status write_catches(uint64_t created_ms) const;
  hprof_status write_rate(uint64_t made) const;
  uint64_t counted_ns() const;

  static constexpr uint32_t kRecents = 16384;  // a power of two
  static constexpr uint32_t kMostSites = 65536, kFewestSites = 256;

  Services services_;
  uint32_t probes_ = 0;  // of the service
  bool asked_ = false;
  jvmtiEnv* jvmti_ = nullptr;
  SessionGate gate_;
  CurrentStacks stacks_;
  // Time in which the counts were made: before the last start (or since reset), and the start, 0 while
  // stopped.
  uint64_t counted_ns_ = 0, since_ = 0;
  uint64_t* lost_ = nullptr;
  uint64_t* displaced_ = nullptr;
  Recent* recent_ = nullptr;
  Site* sites_ = nullptr;  // the first is none
  uint32_t most_sites_ = 0;
  std::atomic<uint32_t> site_count_{1};
  HashTable<std::atomic<uint32_t>, Growth::kLevels> site_numbers_;  // by class and trace
  HashTable<std::atomic<uint64_t>, Growth::kLevels> catches_;       // by site and method of the catch clause
};

}  // namespace hprof::exceptions
