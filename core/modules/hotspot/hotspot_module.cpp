// The module `hotspot`: the functions behind hotspot_table.h. Its one unit is opened by the core.

#include <cstring>

#include <hprof/draft/objects.h>
#include <hprof/draft/thread_context.h>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/vm_dump.h>
#include <hprof/draft/walk.h>
#include <hprof/draft/weaks.h>
#include <hprof/plugin.h>

#include "core/modules/hotspot/field_filter.h"
#include "core/modules/hotspot/services.h"
#include "core/vm_tables/hotspot_table.h"

namespace hprof {

namespace {

const struct {
  const char* id;
  const void* (*table)();
} kServices[] = {
    {HPROF_SERVICE_OBJECTS, &objects_service}, {HPROF_SERVICE_VM_COUNTS, &vm_counts_service},
    {HPROF_SERVICE_VM_DUMP, &vm_dump_service}, {HPROF_SERVICE_WALK, &walk_service},
    {HPROF_SERVICE_WEAKS, &weaks_service},     {HPROF_SERVICE_THREAD_CONTEXT, &thread_context_service},
};

const void* find_service(const char* id) {
  for (const auto& row : kServices) {
    if (strcmp(row.id, id) == 0) return row.table();
  }
  return nullptr;
}

const HotSpotTable kTable = {
    {sizeof(HotSpotTable), kHotSpotVersion}, &find_service, &hide_field, &platform::own_guarded_reads};

const hprof_unit kUnit = core_unit(kHotSpotModule, "stacks and objects of HotSpot, for the core", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(hotspot, "1.0", "hprof", hprof::kUnits, 1)
