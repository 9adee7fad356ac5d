// The cpu=samples collector: one book of samples, and the engine that fills it.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include <hprof/collector.h>

#include "engine.h"
#include "jvmti_engine.h"
#include "samples_report.h"
#include "signal_engine.h"
#include "wall_engine.h"

namespace hprof::samples {

#ifdef HPROF_EMBEDDED
constexpr bool kHasWall = false;  // builds for small devices sample CPU time
#else
constexpr bool kHasWall = true;
#endif

enum class Clock : uint32_t { kCpu, kWall };                        // as in the option's choices
enum class Sampler : uint32_t { kAuto, kSignal, kJvmti, kNative };  // as in the option's choices

// Filled in by the core from the unit's option rows.
struct Config {
  uint64_t interval_ns;
  uint32_t sampler;     // Sampler
  uint32_t clock;       // Clock
  const char* threads;  // patterns of names
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);

  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void stop();
  bool close();  // after stop; false: an agent thread has not ended, so the memory must stay
  hprof_status control(const hprof_control& control);
  void thread_start(JNIEnv* jni, hprof_thread* thread);
  void thread_end(void* jni, hprof_thread* thread);

 private:
  bool start_signals();
  void say_instead(const char* why, bool loud) const;
  hprof_status start_other(Engine* engine);
  hprof_status start_engine();
  bool lock_book();
  hprof_status sample_thread(hprof_object_id object, bool on);
  hprof_status change_depth(int64_t depth);
  Circumstances circumstances();
  void watch_from_now();

  Shared shared_;
  const Sampler sampler_;
  const Clock clock_;
  std::atomic<Engine*> engine_{nullptr};  // the running engine; thread handlers read it
  Engine* last_engine_ = nullptr;         // the engine that ran last
  const char* why_jvmti_ = nullptr;       // why it is not the engine wanted; static text
  SignalEngine signal_;
  JvmtiEngine jvmti_;
  std::conditional_t<kHasWall, WallEngine, Engine> wall_;
  // Clocks when the running period started (or was reset), and the sums of earlier periods, in nanoseconds.
  uint64_t wall_from_ = 0, cpu_from_ = 0;
  uint64_t wall_before_ = 0, cpu_before_ = 0;
};

}  // namespace hprof::samples
