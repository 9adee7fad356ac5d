// The unit io_calls: reads and writes of files and sockets.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::io_calls {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "io=y";

static const hprof_option kOptions[] = {
    {"io", HPROF_OPTION_FLAG, offsetof(Config, io), "n", nullptr, 0, 0, nullptr,
     "bytes, calls and time of reads and writes, by stack and by file or peer"},
    {"redact", HPROF_OPTION_CHOICE, offsetof(Config, redact), "none", "none|basic|full", 0, 0, nullptr,
     "zero text (basic) or all values (full) of a dump; number the targets of io=y"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_IO, HPROF_KIND_NOTE, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("io_calls", kSelect, "reads and writes", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::io_calls

HPROF_MODULE(io_calls, "1.0", "hprof", hprof::io_calls::kUnits, 1)
