// The methods that are timed, by the numbers that their probes pass, and the probes' native methods.
//
// A call is one word, kept in a local variable of its method: the method's number, whether it is a
// constructor in super() or this(), and the clock at its beginning. So nothing depends on the thread, and a
// call may go on on another one, or wait.
//
// All of this lives as long as the process, in one place: calls that began in a session may end after it was
// detached.
#pragma once

#include <hprof/cpp/counter_rate.hpp>
#include <hprof/cpp/histogram.hpp>
#include <hprof/cpp/labels.hpp>
#include <hprof/service/probes.h>

#include "slow_calls.h"

namespace hprof::latency {

using namespace durations;

constexpr uint32_t kNumberBits = 12;
constexpr uint32_t kNumbers = 1u << kNumberBits;  // 0 is none
// The clock in a call, in units of 1 << kUnitShift ticks, wraps after 34 days at 3 GHz.
constexpr uint32_t kUnitShift = 2;
constexpr uint32_t kClockBits = 64 - kNumberBits - 1;
constexpr uint64_t kClockMask = (uint64_t{1} << kClockBits) - 1;
constexpr uint64_t kInSuper = kClockMask + 1;

// Bytes that a report takes for a method, most likely: its row, and those of some classes.
constexpr uint64_t kReportBytes = 768;

// Numbers, and what they stand for: a method, or with labels a method and a label set. One instance per
// process has them: open() takes them over.
class TimedMethods {
 public:
  // Measures the clock, and empties the histograms of an earlier session, whose calls are not counted.
  // [onload]
  void open(const Services& services);
  void close();
  bool uses_counter() const { return uses_counter_; }
  // The number of a method, perhaps a new one; 0: there are none left, or no memory. [app]
  uint32_t number(hprof_method_id method);
  // From now on calls of threads with labels are counted by label set, too, unless no unit sets contexts.
  // When all units have been created. [control]
  void find_labels();
  static const Labels& labels();
  static SlowCalls& slow_calls();
  static uint64_t without_set();  // calls with labels that are counted by their method alone [any]
  // The method of a number below kNumbers; 0: none. [control]
  static hprof_method_id method_of(uint32_t number);
  static hprof_string_id set_of(uint32_t number);  // 0: none
  static Histogram& histogram(uint32_t number);
  // What a report reads of it. [control]
  static void read(uint32_t number, Counts* counts);
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  // Gives the memory that is kept for reports back to the budget, so that one can take it, and keeps it again
  // afterwards. [control]
  void lend();
  void take_back();

  // java.lang.HprofLatency, with its native methods.
  static const hprof_probe_class* java_class();

 private:
  Services services_;
  uint64_t* lost_ = nullptr;  // methods without a number
  std::atomic<uint32_t> count_{0};
  std::atomic<uint64_t> kept_{0};  // bytes, for reports
  uint64_t lent_ = 0;
  uint32_t set_room_ = 0;  // numbers of methods with labels that there is memory for
  bool uses_counter_ = false;
};

}  // namespace hprof::latency
