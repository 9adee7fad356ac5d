// The unit heap_dump.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::dump {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "heap=dump|heap=all";

static const hprof_option kOptions[] = {
    {"dump", HPROF_OPTION_CHOICE, offsetof(Config, engine), "auto", "auto|jvmti|vm", 0, 0, nullptr,
     "choose what walks the heap"},
    {"live", HPROF_OPTION_FLAG, offsetof(Config, live), "y", nullptr, 0, 0, nullptr,
     "leave out unreachable objects"},
    {"redact", HPROF_OPTION_CHOICE, offsetof(Config, redact), "none", "none|basic|full", 0, 0, nullptr,
     "zero text (basic) or all values (full) of a dump; number the targets of io=y"},
    {"primfields", HPROF_OPTION_FLAG, offsetof(Config, primitive_fields), "y", nullptr, 0, 0, nullptr,
     "include primitive fields in dumps"},
    {"primarrays", HPROF_OPTION_FLAG, offsetof(Config, primitive_arrays), "y", nullptr, 0, 0, nullptr,
     "include primitive arrays in dumps"},
};

static constexpr const char* kRecords[] = {HPROF_KIND_NOTE, HPROF_KINDS_OF_HEAP_DUMP, nullptr};

static constexpr hprof_unit kUnit =
    collector_unit<Collector, Config>("heap_dump", kSelect, "complete heap", kRecords, kOptions);
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::dump

HPROF_MODULE(heap_dump, "1.0", "hprof", hprof::dump::kUnits, 1)
