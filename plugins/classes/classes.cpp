// The unit classes: which code makes classes, and which loaders keep them.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::classes {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "classes=y";

static const hprof_option kOptions[] = {
    {"classes", HPROF_OPTION_FLAG, offsetof(Config, classes), "n", nullptr, 0, 0, nullptr,
     "count classes by stack, loader and generator, and what live loaders hold"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_CLASSES, HPROF_TABLE_LOADERS, HPROF_KIND_NOTE,
                                           nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("classes", kSelect, "classes defined and their loaders",
                                                      kRecords, kOptions);
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::classes

HPROF_MODULE(classes, "1.0", "hprof", hprof::classes::kUnits, 1)
