// Looks at random moments.
#include "plugins/cpu_samples/looker.h"

#include "plugins/cpu_samples/due_times.h"

namespace hprof::samples {

// A thread whose clock has not moved for so long is left to the sweep.
static constexpr uint64_t kForgetNs = 1'000'000'000;
// Clocks that the sweep reads in a second, of threads that have not been running: 0.2 % of a processor at
// most, where a read takes 2 microseconds.
static constexpr uint64_t kSweepReads = 1'000;
// While nothing runs, at least so long between two turns.
static constexpr uint64_t kIdlePauseNs = 20'000'000;
// A turn is followed by a pause of at least so many times its own length.
static constexpr uint64_t kRestFactor = 10;
// Clocks of running threads that are read in a turn; the others wait for the next.
static constexpr uint32_t kMostReads = 256;
// A thread that waits for a processor is passed by: kernels take the processor away where a system call ends
// rather than in the midst of the program's code, so what stands behind such a wait is that call too often.
// Not so its first look; nor where nobody was met on a processor for so long, as on a machine with a single
// one; nor when it owes so many intervals.
static constexpr uint64_t kNobodyMetNs = 1'000'000'000;
static constexpr int64_t kMostOwed = 100;
// Intervals of CPU time that a thread which is always met asleep may owe.
static constexpr int64_t kPatience = 8;
static constexpr uint64_t kUnknownTime = UINT64_MAX;
// After a look that came too early so many of that thread are waited for, for a few times a signal's way at
// most, to be sent again at once.
static constexpr uint32_t kEarlyLately = 256;
static constexpr uint64_t kWaitWays = 6;
static constexpr uint64_t kLongestWayNs = 200'000;
// Then the look counts where it is.
static constexpr uint32_t kMostEarly = 16;

static int64_t debt_of(const SampledThread& place) {
  return static_cast<int64_t>(place.cpu_open.load(std::memory_order_relaxed));
}
static void set_debt(SampledThread* place, int64_t ns) {
  place->cpu_open.store(static_cast<uint64_t>(ns), std::memory_order_relaxed);
}
// To the nearest interval: what is carried on is half of one at most, owed or paid ahead.
static uint32_t ticks_of(int64_t debt, uint64_t interval_ns) {
  if (debt <= 0) return 0;
  const uint64_t ticks = (static_cast<uint64_t>(debt) + interval_ns / 2) / interval_ns;
  return ticks < UINT32_MAX ? static_cast<uint32_t>(ticks) : UINT32_MAX;
}

uint64_t Looker::cpu_time(const SampledThread& place) const {
  const Services& s = shared_->services;
  const uint64_t os_id = place.os_id.load(std::memory_order_relaxed);
  return os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, os_id);
}

// --- life ---

bool Looker::is_possible(const char** why) const {
  const Services& s = shared_->services;
  *why = "this platform has no looks at threads";
  return HPROF_HAS(s.sampling, hprof_sampling_service, left_a_call);
}

bool Looker::start(const char** why) {
  const Services& s = shared_->services;
  *why = "no memory for the threads that run";
  if (running_ == nullptr) running_ = s.allocate<Running>(kMostRunning);
  if (running_ == nullptr) return false;
  running_count_ = running_next_ = 0;
  for (uint32_t number = 1; number <= shared_->threads.last(); number++) shared_->threads.at(number).runs = 0;
  sweep_next_ = 1;
  swept_ns_ = s.clock->monotonic(s.host);
  moments_.seed(swept_ns_);
  turn_ns_ = 0;
  met_ns_ = swept_ns_ - kNobodyMetNs;
  awaited_count_ = 0;
  *why = "the looking thread cannot be started";
  thread_ = s.threads->start(s.host, "HPROF cpu looks", &Looker::loop, this);
  return thread_ != nullptr;
}

bool Looker::stop() {
  const Services& s = shared_->services;
  hprof_agent_thread* thread = thread_;
  thread_ = nullptr;
  return thread == nullptr || s.threads->stop(s.host, thread) == HPROF_OK;
}

void Looker::close() {
  shared_->services.release(running_, kMostRunning);
  running_ = nullptr;
}

// --- threads come and go ---

// The first interval has begun at a random moment, so that also of threads that use less than one as many are
// sampled as their CPU time is worth.
void Looker::add(SampledThread* place) {
  const uint64_t cpu = cpu_time(*place), interval = shared_->interval_ns;
  place->cpu_seen.store(cpu, std::memory_order_relaxed);
  set_debt(place, static_cast<int64_t>(draw(place, cpu, interval)) - static_cast<int64_t>(interval / 2));
  place->look.store(0, std::memory_order_relaxed);
  place->early.store(0, std::memory_order_relaxed);
  shared_->threads.announce(place);
}

void Looker::remove(SampledThread* place, hprof_thread_serial serial) {
  const uint64_t cpu = cpu_time(*place);
  int64_t debt = 0;
  {
    LockGuard guard(place->lock, shared_->services);
    if (place->serial.load(std::memory_order_relaxed) != serial) return;
    const uint64_t seen = place->cpu_seen.load(std::memory_order_relaxed);
    const bool counts = place->sampled.load(std::memory_order_relaxed) != 0;
    if (counts && cpu != kUnknownTime && seen != kUnknownTime && cpu > seen)
      debt = static_cast<int64_t>(cpu - seen);
    const uint64_t ticks = uint64_t{take_ticks(place)} + place->early.exchange(0, std::memory_order_relaxed);
    debt += debt_of(*place) + static_cast<int64_t>(ticks * shared_->interval_ns);
    set_debt(place, 0);
    place->cpu_seen.store(kUnknownTime, std::memory_order_relaxed);
  }
  const uint32_t ticks = ticks_of(debt, shared_->interval_ns);
  if (ticks != 0) unseen_(owner_, serial, ticks);
}

// --- turns ---

uint64_t Looker::next_pause() {
  const uint64_t drawn = moments_.pause(shared_->interval_ns);
  const uint64_t least = running_count_ == 0 ? kIdlePauseNs : kRestFactor * turn_ns_;
  return drawn > least ? drawn : least + drawn / 4;
}

void Looker::loop(void* argument, void*, hprof_agent_thread* thread) {
  auto* self = static_cast<Looker*>(argument);
  const Services& s = self->shared_->services;
  while (s.threads->wait(thread, self->next_pause()) != 0) {
    const uint64_t now = s.clock->monotonic(s.host);
    self->look_around(now);
    self->turn_ns_ = s.clock->monotonic(s.host) - now;
  }
}

void Looker::look_around(uint64_t now) {
  take_new(now);
  sweep(now);
  const uint32_t reads = running_count_ < kMostReads ? running_count_ : kMostReads;
  if (running_next_ >= running_count_) running_next_ = 0;
  for (uint32_t i = 0; i < reads && running_count_ != 0; i++) {
    if (running_next_ >= running_count_) running_next_ = 0;
    Running& running = running_[running_next_];
    if (look_at(running, now)) {
      running_next_++;
      continue;
    }
    SampledThread& place = shared_->threads.at(running.place);
    if (place.runs == running.serial) place.runs = 0;
    running = running_[--running_count_];
  }
  if (awaited_count_ != 0) await_early();
}

void Looker::take_new(uint64_t now) {
  for (uint32_t number = shared_->threads.take_announced(); number != 0;) {
    const SampledThread& place = shared_->threads.at(number);
    const uint32_t next = shared_->threads.next_announced(number);
    run_on(number, place.serial.load(std::memory_order_acquire), now);
    number = next;
  }
}

void Looker::run_on(uint32_t number, hprof_thread_serial serial, uint64_t now) {
  SampledThread& place = shared_->threads.at(number);
  if (serial == 0 || place.runs == serial || running_count_ == kMostRunning) return;
  place.runs = serial;
  place.looked = place.early_lately = 0;
  running_[running_count_++] = {number, serial, now};
}

// The others, a few at a time.
void Looker::sweep(uint64_t now) {
  const uint32_t last = shared_->threads.last();
  uint64_t reads = (now - swept_ns_) * kSweepReads / 1'000'000'000;
  if (reads == 0) return;
  swept_ns_ = now;
  if (reads > last) reads = last;
  for (; reads != 0; reads--) {
    if (sweep_next_ > last) sweep_next_ = 1;
    const uint32_t number = sweep_next_++;
    SampledThread& place = shared_->threads.at(number);
    const hprof_thread_serial serial = place.serial.load(std::memory_order_acquire);
    if (serial == 0 || place.runs == serial) continue;
    const uint64_t cpu = cpu_time(place);
    if (cpu != kUnknownTime && cpu != place.cpu_seen.load(std::memory_order_relaxed))
      run_on(number, serial, now);
  }
}

// Notes what the thread has used. False: it is not that thread's place any more.
bool Looker::has_moved(SampledThread* place, hprof_thread_serial serial, uint64_t cpu) {
  LockGuard guard(place->lock, shared_->services);
  if (place->serial.load(std::memory_order_relaxed) != serial) return false;
  const uint64_t seen = place->cpu_seen.load(std::memory_order_relaxed);
  if (seen == cpu) return false;
  place->cpu_seen.store(cpu, std::memory_order_relaxed);
  const bool counts = place->sampled.load(std::memory_order_relaxed) != 0;
  const uint32_t early = place->early.exchange(0, std::memory_order_relaxed);
  if (early != 0) {
    place->early_lately = kEarlyLately;
    set_debt(place, debt_of(*place) + static_cast<int64_t>(early * shared_->interval_ns));
  }
  const int64_t used = seen == kUnknownTime || cpu < seen ? 0 : static_cast<int64_t>(cpu - seen);
  set_debt(place, counts ? debt_of(*place) + used : 0);
  return true;
}

// False: it is gone, or has not been running for long.
bool Looker::look_at(Running& running, uint64_t now) {
  SampledThread* place = &shared_->threads.at(running.place);
  if (place->serial.load(std::memory_order_acquire) != running.serial) return false;
  const uint64_t cpu = cpu_time(*place);
  if (cpu == kUnknownTime) return false;
  if (!has_moved(place, running.serial, cpu)) return now - running.moved_ns < kForgetNs;
  running.moved_ns = now;
  if (ticks_of(debt_of(*place), shared_->interval_ns) != 0) look(running, cpu, now);
  return true;
}

// A thread on a processor moves its clock between two reads; one that waits for a processor does not, nor
// does one that is blocked.
bool Looker::is_met(const SampledThread& place, uint64_t* cpu) const {
  const uint64_t cpu_before = *cpu;
  *cpu = cpu_time(place);
  return *cpu != kUnknownTime && *cpu > cpu_before;
}

bool Looker::is_passed_by(const SampledThread& place, uint64_t now) const {
  const int64_t most = kMostOwed * static_cast<int64_t>(shared_->interval_ns);
  return place.looked != 0 && now - met_ns_ < kNobodyMetNs && debt_of(place) < most;
}

void Looker::look(const Running& running, uint64_t cpu, uint64_t now) {
  const Services& s = shared_->services;
  SampledThread* place = &shared_->threads.at(running.place);
  const auto interval = static_cast<int64_t>(shared_->interval_ns);
  // The last one is still on its way. Or it is lost: where too many signals of the user's are pending,
  // kernels leave out what a signal says.
  if (place->look.load(std::memory_order_relaxed) != 0 && debt_of(*place) < kMostOwed * interval) return;
  bool runs = is_met(*place, &cpu);
  if (runs) {
    met_ns_ = now;
  } else {
    // Whether it waits or is blocked is a file's worth of work to find out.
    const bool is_patient = debt_of(*place) < kPatience * interval, passed_by = is_passed_by(*place, now);
    if (is_patient && passed_by) return;
    runs = s.sampling->is_runnable(s.host, place->os_id.load(std::memory_order_relaxed)) == 1;
    if (runs ? passed_by : is_patient) return;
  }
  uint32_t ticks = 0;
  {
    LockGuard guard(place->lock, s);
    if (place->serial.load(std::memory_order_relaxed) != running.serial) return;
    set_debt(place, debt_of(*place) + static_cast<int64_t>(take_ticks(place)) * interval);
    ticks = ticks_of(debt_of(*place), shared_->interval_ns);
    set_debt(place, debt_of(*place) - static_cast<int64_t>(ticks) * interval);
  }
  if (ticks == 0) return;
  if (!runs) return unseen_(owner_, running.serial, ticks);
  const bool is_met_now = now == met_ns_;
  send(running, ticks, cpu, is_met_now);
  if (!is_met_now || place->early_lately == 0) return;
  place->early_lately--;
  if (awaited_count_ < kMostAwaited) awaited_[awaited_count_++] = running;
}

// `cpu`: the thread's clock just now.
void Looker::send(const Running& running, uint32_t ticks, uint64_t cpu, bool is_met) {
  const Services& s = shared_->services;
  SampledThread* place = &shared_->threads.at(running.place);
  void* handle = nullptr;
  {
    LockGuard guard(place->lock, s);
    if (place->serial.load(std::memory_order_relaxed) == running.serial) {
      handle = SampledThreads::handle(place);
      place->look_cpu.store(cpu, std::memory_order_relaxed);
      place->look_met.store(is_met ? 1 : 0, std::memory_order_relaxed);
      place->look.store(ticks, std::memory_order_relaxed);
    }
  }
  place->looked = 1;
  // Where the look finds nobody, the thread's end has told the rest already, unless it is still to come.
  const uint64_t os_id = place->os_id.load(std::memory_order_relaxed);
  if (handle != nullptr && s.sampling->look(s.host, os_id, handle) != 0) return;
  if (handle != nullptr) ticks = take_ticks(place);
  if (ticks != 0) unseen_(owner_, running.serial, ticks);
}

// --- looks that come too early ---

bool Looker::is_early(SampledThread* place, uint32_t ticks, bool left_a_call) {
  const uint64_t sent = place->look_cpu.load(std::memory_order_relaxed), cpu = cpu_time(*place);
  if (cpu == kUnknownTime || cpu < sent) return false;
  const bool met = place->look_met.load(std::memory_order_relaxed) != 0;
  const uint64_t way = way_ns_.load(std::memory_order_relaxed), took = cpu - sent;
  const uint32_t in_a_row = place->early_in_a_row.load(std::memory_order_relaxed);
  if (left_a_call && in_a_row < kMostEarly && (!met || took < way + way / 2)) {
    place->early_in_a_row.store(in_a_row + 1, std::memory_order_relaxed);
    place->early.fetch_add(ticks, std::memory_order_relaxed);
    return true;
  }
  place->early_in_a_row.store(0, std::memory_order_relaxed);
  if (left_a_call || !met) return false;
  const uint64_t last = took < kLongestWayNs ? took : kLongestWayNs;
  way_ns_.store(way == 0 ? last : way - way / 16 + last / 16, std::memory_order_relaxed);
  return false;
}

// Until all looks have come, or for a few times the way of a signal.
void Looker::await_early() {
  const Services& s = shared_->services;
  const uint64_t from = s.clock->monotonic(s.host);
  const uint64_t most = kWaitWays * way_ns_.load(std::memory_order_relaxed);
  while (awaited_count_ != 0 && s.clock->monotonic(s.host) - from < most) {
    for (uint32_t i = 0; i < awaited_count_;) {
      const Running& running = awaited_[i];
      SampledThread& place = shared_->threads.at(running.place);
      const uint32_t ticks = place.early.exchange(0, std::memory_order_relaxed);
      if (ticks != 0) {
        place.early_lately = kEarlyLately;
        send(running, ticks, cpu_time(place), true);
      }
      const bool is_under_way = place.look.load(std::memory_order_relaxed) != 0;
      if (is_under_way) i++;
      if (!is_under_way && place.early.load(std::memory_order_relaxed) == 0)
        awaited_[i] = awaited_[--awaited_count_];
    }
  }
  awaited_count_ = 0;
}

}  // namespace hprof::samples
