// sites=sampled: the option's value, and the weight of a sample.
//
// The VM samples each allocated byte with the probability 1/interval, and so an object of `size` bytes with
// p = 1 - exp(-size/interval): a sample stands for 1/p objects of its size.
#pragma once

#include <cstdint>

#include "site_table.h"

namespace hprof::sites {

constexpr uint64_t kDefaultInterval = 512 * 1024;
constexpr uint64_t kMostInterval = INT32_MAX;  // the VM takes a jint
// Objects and bytes of samples are counted in units of 1/1024, so that rounding errors stay small.
constexpr uint32_t kFractionBits = 10;

enum class Sampling : uint8_t { kAuto, kExact, kSampled };

// 1/p, in 1/1024. interval 1 or more.
uint64_t objects_of_sample(uint64_t size, uint64_t interval);

struct SitesMode {
  Sampling asked;
  bool sampled;
  uint64_t interval;

  // How much one sampled object of that size counts for.
  Amount weight(uint64_t size) const {
    const uint64_t objects = sampled ? objects_of_sample(size, interval) : 1;
    return {objects, objects * size};
  }
};

// "auto", "exact", "sampled", "sampled:64k"; null or empty: auto, which is not sampled here. False: invalid.
bool parse_mode(const char* text, SitesMode* mode);

}  // namespace hprof::sites
