// The modules of these tests, where libhprof has the table that CMake makes.
#include "core/plugin/static_modules.h"
#include "tests/unit/agent/watcher.h"

extern "C" {
const hprof_module* hprof_module_bytecode(const hprof_offer*, const char**);
const hprof_module* hprof_module_control(const hprof_offer*, const char**);
const hprof_module* hprof_module_cpu_times(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_ascii(const hprof_offer*, const char**);
const hprof_module* hprof_module_sink_file(const hprof_offer*, const char**);
}

namespace hprof {

const StaticModule* static_modules() {
  static const StaticModule kModules[] = {{"watcher", hprof_module_watcher},
                                          {"bytecode", hprof_module_bytecode},
                                          {"control", hprof_module_control},
                                          {"cpu_times", hprof_module_cpu_times},
                                          {"sink_file", hprof_module_sink_file},
                                          {"encoder_ascii", hprof_module_encoder_ascii},
                                          {nullptr, nullptr}};
  return kModules;
}

}  // namespace hprof
