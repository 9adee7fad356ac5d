// The module `help_texts`. Its one unit is opened by the core itself.
#include <hprof/plugin.h>

#include "core/modules/help_texts/help.h"
#include "core/modules/help_texts/module_list.h"
#include "core/modules/help_texts/refusal.h"
#include "core/modules/help_texts/unknown.h"
#include "core/option/help_table.h"

namespace hprof {

namespace {

const HelpTable kTable = {{sizeof(HelpTable), kHelpVersion},
                          print_help,
                          print_modules,
                          unknown_option_error,
                          explain_refusal,
                          verify_module_for};

const hprof_unit kUnit = core_unit(kHelpModule, "help texts and guesses of the core", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(help_texts, "1.0", "hprof", hprof::kUnits, 1)
