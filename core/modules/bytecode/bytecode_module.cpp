// The module `bytecode`. Its one unit is opened by the core itself.
#include <cstring>

#include "core/base/text_tools.h"
#include "core/modules/bytecode/engine/target_check.h"
#include "core/modules/bytecode/make_rewriter.h"

namespace hprof {

namespace {

struct FirstFault {
  TextWriter* why;
  bool is_there;
};

// False, with *why: a part of the list matches nothing, or not what it says: a * is known at its end alone.
bool check_patterns(const char* patterns, TextWriter* why) {
  Str rest(patterns != nullptr ? patterns : ""), pattern;
  while (next_part(&rest, ':', &pattern)) {
    for (size_t i = 0; i < pattern.size; i++) {
      const char letter = pattern[i];
      if (letter > ' ' && strchr("#()[];=?", letter) == nullptr && (letter != '*' || i + 1 == pattern.size))
        continue;
      if (static_cast<unsigned char>(letter) >= 0x80) continue;
      why->put(pattern).put(
          ": write com.acme.Main, com.acme.* or com.acme.Main.run, with * at the end alone");
      return false;
    }
  }
  return true;
}

bool check(const hprof_probe_user* user, const Memory& memory, TextWriter* why) {
  FirstFault first = {why, false};
  return check_patterns(user->include, why) && check_patterns(user->exclude, why) &&
         check_user(
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
