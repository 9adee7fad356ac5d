// See RewriterTable::make.
#pragma once

#include "core/modules/bytecode/rewriter.h"

namespace hprof {

Rewriter* make_rewriter(const RewriterUse& use);

}  // namespace hprof
