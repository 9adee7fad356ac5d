#include "core/model/limits.h"

#include "core/model/model.h"

namespace hprof {
namespace {

template <class Number>
bool halve_down_to(Number* number, Number least) {
  if (*number / 2 < least) return false;
  *number /= 2;
  return true;
}

}  // namespace

ModelLimits ModelLimits::standard() {
  constexpr uint64_t kMega = 1024 * 1024;
  ModelLimits limits{};
  limits.strings = 1024 * 1024;
  limits.classes = 256 * 1024;
  limits.methods = 512 * 1024;
  limits.frames = 1024 * 1024;
  limits.traces = 512 * 1024;
  limits.threads = 128 * 1024;
  limits.thread_names = 64 * 1024;
  limits.method_map = 1024 * 1024;
  limits.text_bytes = 128 * kMega;
  limits.trace_bytes = 128 * kMega;
  limits.line_table_bytes = 64 * kMega;
  limits.backing = Backing::kLazy;
  if (sizeof(void*) < 8) {
    for (int i = 0; i < 3; ++i) limits.halve();
  }
  return limits;
}

// Limits in proportion to n strings and frames, by traces of eight frames.
static ModelLimits proportioned(uint32_t n, uint32_t method_map) {
  ModelLimits limits{};
  limits.strings = n;
  limits.classes = n / 4;
  limits.methods = n / 2;
  limits.frames = n;
  limits.traces = n;
  limits.threads = n < 384 ? 64 : 128;
  while (limits.threads * 2 <= n / 16) limits.threads *= 2;
  limits.thread_names = limits.threads / 2;
  limits.method_map = method_map;
  limits.text_bytes = uint64_t{n} * 32;
  limits.trace_bytes = uint64_t{n} * 32;
  limits.line_table_bytes = uint64_t{n} * 32;
  limits.backing = Backing::kFixed;
  return limits;
}

ModelLimits ModelLimits::small(uint64_t bytes, bool book) {
  constexpr uint32_t kStep = 128;
  uint32_t methods = 256;
  while (book && MethodMap::room(methods + 256) <= bytes / 8 * 5) methods += 256;
  uint32_t n = 256;
  while (proportioned(n + kStep, methods).room() <= bytes) n += kStep;
  return proportioned(n, methods);
}

bool ModelLimits::halve() {
  bool any = halve_down_to(&strings, 512u);
  any |= halve_down_to(&classes, 128u);
  any |= halve_down_to(&methods, 256u);
  any |= halve_down_to(&frames, 512u);
  any |= halve_down_to(&traces, 256u);
  any |= halve_down_to(&threads, 64u);
  any |= halve_down_to(&thread_names, 32u);
  any |= halve_down_to(&method_map, 256u);
  any |= halve_down_to(&text_bytes, uint64_t{16384});
  any |= halve_down_to(&trace_bytes, uint64_t{8192});
  any |= halve_down_to(&line_table_bytes, uint64_t{4096});
  return any;
}

uint64_t ModelLimits::room() const { return Model::room(*this); }

}  // namespace hprof
