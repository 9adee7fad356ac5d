// The unit msa: micro state accounting per thread, or the system's closest equivalent.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::msa {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "msa=y";

static constexpr const char* kRecords[] = {HPROF_KIND_NOTE, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector>("msa", kSelect, "micro state accounting of the threads", kRecords);
  unit.events |= HPROF_EVENT_THREAD_START;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::msa

HPROF_MODULE(msa, "1.0", "hprof", hprof::msa::kUnits, 1)
