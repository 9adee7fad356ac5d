// The module `report_windows`. Its one unit is opened by the core itself.
#include "core/modules/report_windows/window.h"

namespace hprof {

namespace {

const WindowTable kTable = {
    {sizeof(WindowTable), kWindowsVersion},
    [](Windows& windows, MemoryAccount& memory) { windows.begin(memory); },
    [](Windows& windows, const hprof_rec_table& table, double cutoff, hprof_trace_serial nothing,
       hprof_rec_table* window) { return windows.cut(table, cutoff, nothing, window); },
    [](Windows& windows) { windows.keep(); },
    [](Windows& windows) { windows.drop(); },
    [](Windows& windows) { windows.forget(); },
    put_report_note,
};

const hprof_unit kUnit = core_unit(kWindowsModule, "the windows of every=", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(report_windows, "1.0", "hprof", hprof::kUnits, 1)
