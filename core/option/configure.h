// From the option text to a checked configuration, by the steps of this folder.
#pragma once

#include "core/option/bind.h"

namespace hprof {

// About 120 KiB: do not put it on a stack. Lives as long as the session, since it has the units' configs.
struct Configuration {
  OptionList list;
  ModuleSearch search;
  ModuleNames names;
  ModuleSet modules;
  CoreConfig core;
  Selection selection;
};

enum class Configured : uint32_t {
  kRun,
  kHelp,   // all modules are open: call print_help() and end the VM with exit code 0
  kFailed  // *error: print it and end the VM with exit code 1
};

// Takes linked_in, agent_folder and loader from `search`, the folders of plugins= from the options. [onload]
Configured configure(Str options, Str environment, const ModuleSearch& search, const Messages& messages,
                     Configuration* configuration, Error* error);

}  // namespace hprof
