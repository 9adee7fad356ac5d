#include "sampling.h"

#include <cstring>

namespace hprof::sites {

bool parse_mode(const char* text, SitesMode* mode) {
  constexpr const char* kSampled = "sampled";
  *mode = {Sampling::kAuto, false, kDefaultInterval};
  if (text == nullptr || text[0] == 0 || strcmp(text, "auto") == 0) return true;
  mode->asked = Sampling::kExact;
  if (strcmp(text, "exact") == 0) return true;
  if (strncmp(text, kSampled, strlen(kSampled)) != 0) return false;
  mode->asked = Sampling::kSampled;
  mode->sampled = true;
  text += strlen(kSampled);
  if (*text == 0) return true;
  if (*text++ != ':' || *text < '0' || *text > '9') return false;
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value * 10 + static_cast<uint64_t>(*text - '0');
    if (value > kMostInterval) return false;
  }
  uint64_t unit = 1;
  switch (*text) {
    case 'k':
    case 'K':
      unit = 1u << 10;
      break;
    case 'm':
    case 'M':
      unit = 1u << 20;
      break;
    case 'g':
    case 'G':
      unit = 1u << 30;
      break;
    default:
      break;
  }
  if (unit != 1) text++;
  mode->interval = value * unit;
  return *text == 0 && mode->interval >= 1 && mode->interval <= kMostInterval;
}

// 1 - exp(-x), without libm: a series for a fraction of x, doubled by 1 - exp(-2y) = p(2 - p), p = 1 -
// exp(-y).
static double probability(double x) {
  if (x > 40) return 1;
  int doublings = 0;
  for (; x > 1.0 / 64; x /= 2) doublings++;
  double p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
  for (; doublings > 0; doublings--) p = p * (2 - p);
  return p;
}

uint64_t objects_of_sample(uint64_t size, uint64_t interval) {
  double p = probability(static_cast<double>(size) / static_cast<double>(interval));
  constexpr double kOne = 1u << kFractionBits;
  double objects = p > 0 ? kOne / p : 0;
  return objects < 1e18 ? static_cast<uint64_t>(objects + 0.5) : 0;
}

}  // namespace hprof::sites
