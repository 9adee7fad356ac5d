// The module `bytecode`. Its one unit is opened by the core itself.
#include "core/modules/bytecode/make_rewriter.h"

namespace hprof {

namespace {

const RewriterTable kTable = {{sizeof(RewriterTable), kRewriterVersion}, make_rewriter};

const hprof_unit kUnit = core_unit(kRewriterModule, "class-file engine of the core", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(bytecode, "1.0", "hprof", hprof::kUnits, 1)
