// The module `bytecode`. Its one unit is opened by the core itself.
#include "core/modules/bytecode/engine/target_check.h"
#include "core/modules/bytecode/make_rewriter.h"

namespace hprof {

namespace {

struct FirstFault {
  TextWriter* why;
  bool is_there;
};

bool check(const hprof_probe_user* user, const Memory& memory, TextWriter* why) {
  FirstFault first = {why, false};
  return check_user(
      user, memory,
      [](void* context, const char* text, bool is_refused) {
        auto& to = *static_cast<FirstFault*>(context);
        if (is_refused && !to.is_there) to.why->put(text);
        to.is_there = to.is_there || is_refused;
      },
      &first);
}

const RewriterTable kTable = {{sizeof(RewriterTable), kRewriterVersion}, check, make_rewriter};

const hprof_unit kUnit = core_unit(kRewriterModule, "class-file engine of the core", &kTable);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof

HPROF_MODULE(bytecode, "1.0", "hprof", hprof::kUnits, 1)
