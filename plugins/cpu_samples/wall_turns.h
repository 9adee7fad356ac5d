// When the wall-clock engine's sampler thread wakes up, and how many threads it samples in a turn.
#pragma once

#include <cstdint>

#include <hprof/cpp/random_moments.hpp>

namespace hprof::samples {

// Used by the sampler thread only. When the last turns took too long, a turn gets fewer samples, or the pause
// before it is longer.
class WallTurns {
 public:
  // stops_vm: to sample any thread stops the VM (before JDK 16).
  void open(uint64_t seed, bool stops_vm) {
    moments_.seed(seed);
    stops_vm_ = stops_vm;
    most_samples_ = kFirstSamples;
    mean_ns_ = kTurnNs / 2;
    usual_stop_ns_ = kFirstStopNs;
  }

  // The time until the next turn, in ns: random, about an interval, and long enough to rest.
  uint64_t next_pause(uint64_t interval_ns) {
    const uint64_t drawn = moments_.pause(interval_ns);
    uint64_t least = kRestFactor * mean_ns_;
    if (stops_vm_ && least < kLeastBetweenStopsNs) least = kLeastBetweenStopsNs;
    return drawn > least ? drawn : least + moments_.next() % (least / 2 + 1);
  }
  // How many samples the turn has time for.
  uint32_t most_samples() const { return most_samples_; }
  // The number of the thread to sample next: 1 to last, then 1 again.
  uint32_t next_thread(uint32_t last) {
    if (next_ > last) next_ = 1;
    return next_++;
  }
  uint64_t random() { return moments_.next(); }

  void begin() { stop_ns_ = 0; }
  // The VM was stopped for this turn's stacks.
  void add_stop(uint64_t ns) {
    // Limits an outlier: on a busy machine the VM's thread sometimes waits for a processor.
    stop_ns_ = ns > 2 * usual_stop_ns_ ? 2 * usual_stop_ns_ : ns;
    usual_stop_ns_ = stop_ns_;
  }
  // Ends a turn that took this CPU time; wanted: samples for which there are threads. Returns its length with
  // that of the stop.
  uint64_t end(uint64_t cpu_ns, uint64_t wanted, uint64_t interval_ns) {
    const uint64_t spent_ns = cpu_ns + stop_ns_;
    // Naming a method takes long the first time only, so one turn does not raise the mean by more than this.
    mean_ns_ += (spent_ns > kMostJump * mean_ns_ ? kMostJump * mean_ns_ : spent_ns) / kTurnsInMean;
    mean_ns_ -= mean_ns_ / kTurnsInMean;
    const uint64_t by_interval = interval_ns / kRestFactor;
    const uint64_t allowed_ns = by_interval > kTurnNs ? by_interval : kTurnNs;
    uint64_t most = most_samples_;
    if (mean_ns_ > allowed_ns) {
      most = most * allowed_ns / mean_ns_;
    } else if (most < wanted) {
      most += most / 4 + 1;
    }
    most_samples_ = static_cast<uint32_t>(most < 1 ? 1 : most > kMostSamples ? kMostSamples : most);
    return spent_ns;
  }

 private:
  // After a turn of length t the engine sleeps at least kRestFactor * t: it takes 1.6 % of a processor, plus
  // what threads do for the VM's handshakes.
  static constexpr uint64_t kRestFactor = 64;
  // A turn may take this long even if the interval is short: a wake-up costs as much as several samples.
  static constexpr uint64_t kTurnNs = 200'000;
  // Before JDK 16 each turn stops the VM: at most 50 times a second.
  static constexpr uint64_t kLeastBetweenStopsNs = 20'000'000;
  static constexpr uint32_t kFirstSamples = 8, kMostSamples = 1u << 20;
  // The mean length of about so many turns sets the pause, so that no single turn decides it.
  static constexpr uint64_t kTurnsInMean = 16;
  static constexpr uint64_t kMostJump = 4;
  static constexpr uint64_t kFirstStopNs = 200'000;

  RandomMoments moments_;
  bool stops_vm_ = false;
  uint32_t next_ = 1;
  uint32_t most_samples_ = 0;
  uint64_t mean_ns_ = 0;  // of the last turns' lengths
  uint64_t stop_ns_ = 0;  // of this turn
  uint64_t usual_stop_ns_ = 0;
};

}  // namespace hprof::samples
