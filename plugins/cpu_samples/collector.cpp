// The cpu=samples collector.
#include "collector.h"

#include <cstring>

#include <hprof/cpp/text.hpp>
#include <hprof/cpp/vm_flags.hpp>

namespace hprof::samples {

// How long a report waits for the book while the engine's thread holds it. The thread holds it for a few
// samples, but a garbage collection may stop it there.
static constexpr uint64_t kLockDeadlineNs = 10'000'000'000;
static constexpr uint64_t kLockPauseNs = 1'000'000;
static constexpr uint64_t kLeastMemory = 48 * 1024;  // for the book, the queue and the first threads

Collector::Collector(const hprof_host* host, const Config& config)
    : sampler_(static_cast<Sampler>(config.sampler)),
      clock_(static_cast<Clock>(config.clock)),
      signal_("signal", &shared_, &jvmti_, sampler_ == Sampler::kNative),
      jvmti_("jvmti", &shared_),
      wall_("wall", &shared_) {
  shared_.services = Services(host);
  shared_.interval_ns = config.interval_ns == 0 ? 1 : config.interval_ns;
  shared_.thread_names = config.threads;
  shared_.book.events.open(shared_.services, shared_.interval_ns, clock_ == Clock::kWall);
  // Makes inlined methods exact between safepoints (-XX:+DebugNonSafepoints).
  if (clock_ == Clock::kCpu && shared_.services.code != nullptr) shared_.services.code->be_precise(host);
  if (clock_ == Clock::kCpu && sampler_ != Sampler::kJvmti) signal_.open();
}

hprof_status Collector::open(char* error, uint32_t error_size) {
  shared_.services.will_need(kLeastMemory);
  if (clock_ != Clock::kWall || sampler_ == Sampler::kAuto || sampler_ == Sampler::kJvmti) return HPROF_OK;
  TextBuffer(error, error_size).add("clock=wall takes no sampler=");
  return HPROF_FAILED;
}

hprof_status Collector::start() {
  if (engine_ != nullptr) return HPROF_OK;
  const Services& s = shared_.services;
  uint32_t depth = s.settings().depth;
  shared_.depth.store(depth, std::memory_order_relaxed);
  if (depth > SampleQueue::kMostDepth) depth = SampleQueue::kMostDepth;
  if (shared_.book.open(s, depth) != HPROF_OK) {
    s.log->message(s.host, "cpu=samples: no memory to start");
    return HPROF_NO_MEMORY;
  }
  shared_.book.labels.open(shared_.services);
  shared_.book.events.start();
  shared_.book.virtual_threads.open(s);
  hprof_status status = start_engine();
  if (status != HPROF_OK) return status;
  last_engine_ = engine_;
  watch_from_now();
  TextLine<160> line;
  line.add("cpu=samples: the ").add(last_engine_->name()).add(" engine runs");
  s.log->detail(s.host, line.c_str());
  return HPROF_OK;
}

// From JDK 25 on JFR samples CPU time by SIGPROF as well, unless the signal has a handler already.
static bool is_jfr_to_sample(const Services& s) {
  const char* options = s.settings().java_version >= 25 ? vm_flag_text(s, "StartFlightRecording") : nullptr;
  if (options == nullptr) return false;
  const char* settings = std::strstr(options, "settings=");
  return std::strstr(options, "CPUTimeSample") != nullptr ||
         (settings != nullptr && std::strncmp(settings, "settings=default", 16) != 0 &&
          std::strncmp(settings, "settings=profile", 16) != 0);
}

bool Collector::start_signals() {
  const Services& s = shared_.services;
  // -Xcheck:jni prints warnings about signal handlers that are not the VM's own.
  if (sampler_ != Sampler::kSignal && vm_flag(s, "CheckJNICalls")) {
    say_instead("-Xcheck:jni", false);
    return false;
  }
  engine_ = &signal_;
  const hprof_status status = signal_.start(&why_jvmti_);
  if (status == HPROF_OK) {
    if (is_jfr_to_sample(s))
      s.log->message(
          s.host,
          "cpu=samples: JFR records no jdk.CPUTimeSample while another profiler handles SIGPROF; use "
          "sampler=jvmti for both");
    return true;
  }
  const bool loud = sampler_ == Sampler::kSignal || status != HPROF_UNSUPPORTED;
  say_instead(why_jvmti_, loud);
  if (!loud) why_jvmti_ = nullptr;
  return false;
}

// loud: prints the message, since the sampler is not the one that the user named or that this platform
// usually has; else it is a detail (verbose=y).
void Collector::say_instead(const char* why, bool loud) const {
  const Services& s = shared_.services;
  TextLine<256> line;
  line.add("cpu=samples: ").add(why).add("; sampling with JVMTI (sampler=jvmti) instead");
  if (loud) s.log->message(s.host, line.c_str());
  if (!loud) s.log->detail(s.host, line.c_str());
}

hprof_status Collector::start_engine() {
  if (clock_ == Clock::kWall) return start_other(&wall_);
  if (sampler_ != Sampler::kJvmti && start_signals()) return HPROF_OK;
  return start_other(&jvmti_);
}

hprof_status Collector::start_other(Engine* engine) {
  const Services& s = shared_.services;
  const char* why = nullptr;
  engine_ = engine;
  const hprof_status status = engine->start(&why);
  if (status == HPROF_OK) return HPROF_OK;
  engine_ = nullptr;
  TextLine<256> line;
  s.log->message(s.host, line.add("cpu=samples: no sampling: ").add(why).c_str());
  return status;
}

void Collector::stop() {
  Circumstances so_far = circumstances();
  if (Engine* engine = engine_) engine->stop();
  engine_ = nullptr;
  wall_before_ = so_far.watched_ns;
  cpu_before_ = so_far.process_cpu_ns;
}

bool Collector::close() {
  Engine* const engines[] = {&signal_, &jvmti_, &wall_};
  stop();
  for (const Engine* engine : engines) {
    if (engine->is_stuck()) return false;
  }
  for (Engine* engine : engines) engine->close();
  shared_.threads.close(shared_.services);
  shared_.book.close();
  return true;
}

void Collector::reset() {
  if (lock_book()) {
    if (last_engine_ != nullptr) last_engine_->forget();
    shared_.book.clear();
    shared_.book.lock.unlock();
  }
  wall_before_ = cpu_before_ = 0;
  shared_.vm_threads.clear(shared_.services);
  watch_from_now();
}

bool Collector::lock_book() {
  const Services& s = shared_.services;
  uint64_t deadline = s.clock->monotonic(s.host) + kLockDeadlineNs;
  while (!shared_.book.lock.try_lock()) {
    if (s.clock->monotonic(s.host) > deadline) {
      s.log->message(s.host, "cpu=samples: the sampling thread is stuck");
      return false;
    }
    s.threads->pause(s.host, kLockPauseNs);
  }
  return true;
}

void Collector::watch_from_now() {
  const Services& s = shared_.services;
  wall_from_ = s.clock->monotonic(s.host);
  cpu_from_ = s.clock->process_cpu(s.host);
  shared_.vm_threads.begin(s);
}

Circumstances Collector::circumstances() {
  const Services& s = shared_.services;
  const char* why_jvmti = why_jvmti_ != nullptr ? why_jvmti_ : signal_.why_jvmti();
  Circumstances how = {nullptr,
                       why_jvmti,
                       shared_.interval_ns,
                       wall_before_,
                       cpu_before_,
                       clock_ == Clock::kWall,
                       shared_.book.labels};
  how.engine = last_engine_ != nullptr ? last_engine_->name() : nullptr;
  how.clock_step_ns = shared_.clock_step_ns;
  const char* names = shared_.thread_names;
  const bool took_none = last_engine_ != nullptr && !shared_.takes_any.load(std::memory_order_relaxed);
  if (took_none && names != nullptr && *names != '\0') how.unknown_names = names;
  shared_.vm_threads.read(s, engine_ != nullptr, how.vm_threads_ns);
  if (engine_ == nullptr) return how;
  uint64_t wall = s.clock->monotonic(s.host), cpu = s.clock->process_cpu(s.host);
  how.watched_ns += wall > wall_from_ ? wall - wall_from_ : 0;
  if (cpu != UINT64_MAX && cpu > cpu_from_) how.process_cpu_ns += cpu - cpu_from_;
  return how;
}

hprof_status Collector::report(const hprof_report& report) {
  const Services& s = shared_.services;
  if (!lock_book()) return HPROF_FAILED;
  if (last_engine_ != nullptr) last_engine_->settle();
  Circumstances how = circumstances();
  Snapshot snapshot(s);
  snapshot.take(shared_.book);
  shared_.book.lock.unlock();
  if (how.is_elapsed) how.process_cpu_ns = 0;  // not comparable with elapsed time
  hprof_status status = write_report(s, &snapshot, how, report.cutoff);
  if (status == HPROF_OK && last_engine_ != nullptr) status = last_engine_->write_note(how.watched_ns);
  return status;
}

hprof_status Collector::sample_thread(hprof_object_id object, bool on) {
  const Services& s = shared_.services;
  if (object == 0) shared_.samples_new.store(on, std::memory_order_relaxed);
  Engine* engine = engine_;
  const bool found = engine != nullptr && engine->switch_sampling(object, on);
  if (found || object == 0) return HPROF_OK;
  s.log->detail(s.host, "cpu=samples: no thread with that object id is sampled");
  return HPROF_FAILED;
}

hprof_status Collector::change_depth(int64_t depth) {
  if (depth < 0) return HPROF_FAILED;
  if (depth > SampleQueue::kMostDepth) depth = SampleQueue::kMostDepth;
  // A greater depth needs larger buffers, so the engine restarts; the counts stay.
  bool restart = engine_ != nullptr && static_cast<uint64_t>(depth) > shared_.book.depth();
  if (!restart) {
    shared_.depth.store(static_cast<uint32_t>(depth), std::memory_order_relaxed);
    return HPROF_OK;
  }
  stop();
  return start();
}

hprof_status Collector::control(const hprof_control& control) {
  if (control.what == HPROF_CONTROL_CPU_SAMPLING) return sample_thread(control.object, control.value != 0);
  if (control.what == HPROF_CONTROL_DEPTH) return change_depth(control.value);
  return HPROF_UNSUPPORTED;
}

void Collector::thread_start(JNIEnv* jni, hprof_thread* thread) {
  if (Engine* engine = engine_) engine->thread_start(jni, thread);
}

void Collector::thread_end(void*, hprof_thread* thread) {
  if (Engine* engine = engine_) engine->thread_end(thread);
}

}  // namespace hprof::samples
