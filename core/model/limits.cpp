// How large the tables of the model may become.
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

ModelLimits ModelLimits::fixed(uint64_t bytes) {
  ModelLimits limits = standard();
  limits.backing = Backing::kFixed;
  while (limits.room() > bytes && limits.halve()) {
  }
  return limits;
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
