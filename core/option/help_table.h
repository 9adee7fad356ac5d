// The core's interface to the module `help_texts`, which is opened only for help=, for errors of options,
// and to verify modules that are not shipped.
#pragma once

#include "core/base/text.h"
#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

constexpr const char* kHelpModule = "help_texts";
constexpr uint32_t kHelpVersion = 3;

struct TextOut {
  void (*put)(void* context, Str lines);  // each with its line feed
  void* context;
};

// Why the options choose no units that can run.
struct Refusal {
  enum Why : uint32_t {
    kPlugin,   // plugin=value names no unit
    kMissing,  // no unit serves name=value, but a shipped one does
    kModule,   // name=value needs the module `module`
    kValue,    // no unit serves a value like that of the option `name`
    kNothing,  // there is nothing to profile
    kFormat,   // the encoder `value` does not take all that the unit `name` emits
    kWindows,  // the unit `name` has no windows for `value`
  };
  Why why;
  Str name;
  Str value;
  Str module;
};

using NeedName = const char* (*)(uint32_t bit);

struct HelpTable {
  CoreTable head;
  // help.h, module_list.h, unknown.h, refusal.h
  void (*print_help)(const ModuleSet& modules, const TextOut& out);
  void (*print_modules)(const ModuleSet& modules, NeedName need_name, const TextOut& out);
  bool (*unknown_option_error)(const OptionList& list, const ModuleSet& modules, const OptionItem& item,
                               Error* error);
  void (*explain)(const Refusal& refusal, const OptionList& list, ModuleSet& modules, Error* error);
  // verify_module_for()
  bool (*verify)(const ModuleSet& modules, const hprof_module& module, Str name, TextWriter* reason);
};

// nullptr: not in this build, or refused with a message. [onload]
inline const HelpTable* open_help(ModuleSet* modules) {
  const CoreTable* table = modules->open_table(kHelpModule, sizeof(HelpTable), kHelpVersion);
  return static_cast<const HelpTable*>(static_cast<const void*>(table));
}

}  // namespace hprof
