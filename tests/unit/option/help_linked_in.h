// A search like fake::search, with the module of help and guesses linked in.
#pragma once

#include "core/plugin/static_modules.h"
#include "tests/unit/support/fake_modules.h"

extern "C" const hprof_module* hprof_module_help_texts(const hprof_offer* offer, const char** error);

namespace hprof::fake {

inline ModuleSearch search_with_help(Folders* folders) {
  static const StaticModule kHelp[] = {{"help_texts", hprof_module_help_texts}, {nullptr, nullptr}};
  ModuleSearch made = search(folders);
  made.linked_in = kHelp;
  return made;
}

}  // namespace hprof::fake
