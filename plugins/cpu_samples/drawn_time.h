// The time that a draw of virtual threads that wait counts for each of them.
//
// Each draw counts the time since the last one for as many threads as there were, the mean of both draws;
// they may have been as many as at either of them. How many there are in sets whose owners were drawn is an
// estimate, by single draws a rough one: so the mean of the last draws is taken. And what those met stand for
// is rough: so a draw counts a few times the usual time at most. What a draw counts too few or too much for
// these reasons, the next ones make up for.
#pragma once

#include <cstdint>

#include "square_root.h"

namespace hprof::samples {

class DrawnTime {
 public:
  void open(uint64_t now) {
    *this = {};
    seen_ns_ = now;
  }
  // The time up to now is not counted.
  void forget(uint64_t now) {
    seen_ns_ = now;
    owed_ns_ = counted_ns_ = doubts_ = 0;
  }
  // Begins a draw. Returns the time that each thread it meets counts for each that it stands for, in ns.
  double begin(uint64_t now) {
    since_ns_ = static_cast<double>(now - seen_ns_);
    seen_ns_ = now;
    usual_ns_ += draws_ == 0 ? since_ns_ : (since_ns_ - usual_ns_) / kDrawsInMean;
    const double wanted_ns = since_ns_ + (found_ > 0 ? owed_ns_ / found_ : 0);
    const double most_ns = kMostTimes * usual_ns_;
    for_ns_ = wanted_ns < 0 ? 0 : wanted_ns < most_ns ? wanted_ns : most_ns;
    return for_ns_;
  }
  // Ends it. known: threads in sets whose number is known; estimated: in other sets; met: how many those that
  // the draw met stand for.
  void end(uint64_t known, double estimated, double met) {
    const double before = found_;
    const bool is_first = draws_ == 0;
    if (draws_ < kDrawsInMean) draws_++;
    estimated_ += (estimated - estimated_) / draws_;
    found_ = static_cast<double>(known) + estimated_;
    const double change = is_first ? 0 : (found_ - before) / 2, doubt_ns = since_ns_ * change;
    owed_ns_ += since_ns_ * (found_ - change) - for_ns_ * met;
    counted_ns_ += for_ns_ * met;
    doubts_ += doubt_ns * doubt_ns;
  }
  // The standard error of all that is counted, in 10,000ths of it.
  uint64_t error(uint64_t now) const {
    constexpr double kOne = 1e4, kMost = 1e18;
    if (counted_ns_ <= 0) return 0;
    const double missing_ns = owed_ns_ + static_cast<double>(now - seen_ns_) * found_;
    const double square = (missing_ns * missing_ns + doubts_) / (counted_ns_ * counted_ns_) * kOne * kOne;
    return square_root(static_cast<uint64_t>(square < kMost ? square : kMost));
  }
  // Threads in the sets, in the last draw.
  uint64_t found() const { return static_cast<uint64_t>(found_); }

 private:
  static constexpr uint32_t kDrawsInMean = 16;
  static constexpr double kMostTimes = 4;

  uint64_t seen_ns_ = 0;              // the time up to here is counted, or owed
  uint32_t draws_ = 0;                // at most kDrawsInMean
  double since_ns_ = 0, for_ns_ = 0;  // of this draw
  double usual_ns_ = 0;               // mean of since_ns_
  double estimated_ = 0;              // mean
  double found_ = 0;
  double owed_ns_ = 0;  // time of threads that no draw has counted yet; negative: counted too much
  double counted_ns_ = 0, doubts_ = 0;  // time of threads; sum of the squares of its errors
};

}  // namespace hprof::samples
