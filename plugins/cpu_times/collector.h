// cpu=times and cpu=old: exact counts of calls by trace, and the time spent in each.
//
// Probes count calls in the graphs of graph.h, by java.lang.HprofCalls (java/). With clock=cpu an agent
// thread, the sampler, looks every millisecond which threads run, and credits their nodes with the CPU time
// that they have used since they were last found running; calls cost nothing more.
//
// With clock=wall HprofCalls reads the clock where a thread enters or leaves a node whose calls take a
// microsecond or more: its time is exact. Other nodes are brief: only the sum of their times is measured
// (State::brief). The sampler credits the sum's growth since its last visit to the brief node that it finds
// the thread in. It finds a node with the probability of its share, so each node's time is an estimate, and
// the sum is exact. A report spreads the rest. The clock is the processor's time-stamp counter where the
// operating system relies on it, else System.nanoTime, which takes more than twice as long.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/counter_rate.hpp>
#include <hprof/cpp/services.hpp>

#include "graph.h"
#include "tally.h"
#include "thread_word.h"

namespace hprof::times {

struct Config {
  const char* cpu;  // the core's option: "times" or "old"
  uint32_t times;
  uint64_t interval_ns;
  const char* include;
  const char* exclude;
};

// A block of reserved memory, for a later thread.
struct Spare {
  Spare* next;
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  hprof_status report(const hprof_report& report);
  hprof_status control(const hprof_control& control);
  void reset();
  void stop();
  // Keeps the memory that probes use, since some may still run.
  bool close();

  void thread_start(void* jni, const hprof_thread* thread);
  void thread_end(void* jni, const hprof_thread* thread);

  // For the native methods of HprofCalls: at a thread's first event, the new Thread.$hprof, or 0: it is not
  // counted; the target of an edge that the state lacks, 0: not counted; the state is no longer used. They
  // run in the middle of any method: no JVMTI, no JNI except references, and they never wait for a Java
  // thread that may be stopped. [app]
  uint64_t attach(JNIEnv* jni, jobject thread);
  static uint64_t miss(uint64_t state, uint64_t node, uint32_t method);
  void release(uint64_t state);
  uint64_t counter() const { return services_.clock->counter(services_.host); }
  uint32_t java_version() const { return services_.settings().java_version; }

 private:
  static void sample(void* self, void* jni, hprof_agent_thread* thread);
  State* attach_platform(void* jni, void* thread, uint64_t os_id);
  State* attach_virtual();
  State* new_state();
  State* state_of(void* jni, void* thread) const;
  Node* node_of(const State* state, void* jni) const;
  static void refer(State* state, void* jni, void* thread);
  static void forget(State* state, void* jni);
  void number_states();
  void end_gone();
  void begin_times();
  void end_times(void* jni);
  void set_running(bool running);
  uint64_t process_cpu() const;
  void tick(void* jni);
  bool is_running(const State* state, uint64_t cpu, uint64_t used, uint64_t elapsed) const;
  void credit(State* state, void* jni, bool always, uint64_t now);
  int64_t brief_time(const State* state, const Node* node, uint64_t now) const;
  void credit_brief(State* state, void* jni, uint64_t now);
  void spread_brief(State* state, void* jni, uint64_t now);
  void choose_clock(JNIEnv* jni);
  // The time by the clock that HprofCalls reads. [any]
  uint64_t clock_now() const {
    return uses_counter_ ? counter()
                         : services_.clock->monotonic(services_.host) + static_cast<uint64_t>(nano_time_);
  }
  void retire(State* state, void* jni);
  void merge(const Graph& graph, uint32_t thread, Tally* into);
  uint32_t thread_key(uint32_t serial) const;
  bool is_old() const;
  uint64_t memory_left() const;
  uint64_t most_nodes() const;
  // A new state of a platform thread, with its graph; null: no memory. [app]
  State* new_state_with_graph();
  // Frees one block that is reserved for later threads; false: none is left. [app]
  bool give_spare_back();
  void keep_spares();

  Services services_;
  Config config_;
  uint32_t depth_;
  Limits limits_;
  uint64_t* lost_rows_ = nullptr;
  hprof_trace_serial lost_trace_ = 0;    // JVM.no_memory_for_the_trace
  std::atomic<State*> states_{nullptr};  // of platform threads; removed under the lock
  Lock lock_;                            // held while going through states_
  Lock virtual_lock_;                    // lock of the lists of virtual threads' states
  State* free_virtual_ = nullptr;
  State* last_virtual_ = nullptr;
  Graph shared_;             // of virtual threads
  bool has_shared_ = false;  // this VM has virtual threads
  std::atomic<uint64_t> virtual_threads_{0};
  Tally retired_;
  Lock spares_lock_;
  Spare* spares_ = nullptr;
  uint32_t spare_count_ = 0;
  uint64_t outside_ns_ = 0;                 // time of ended threads in methods that are not counted
  uint64_t cpu_from_ = 0, cpu_before_ = 0;  // CPU time of the process at the last start, and used before it
  ThreadWord word_;
  uint32_t probes_ = 0;         // of the service
  bool asked_ = false;          // requested probes
  bool started_ = false;        // was started at least once
  bool running_ = false;        // [control]
  uint64_t step_ = 0;           // State::step
  uint64_t clock_step_ns_ = 0;  // clock=cpu: step of CPU clocks
  bool uses_counter_ = false;   // clock=wall: all times are ticks until the report
  CounterRate rate_;            // of these
  int64_t nano_time_ = 0;       // System.nanoTime() minus the clock of clock_service, in ns
  hprof_agent_thread* sampler_ = nullptr;
};

}  // namespace hprof::times
