// What the options asked for, with the answers that the session needs of it. Nothing of the VM in it.
#pragma once

#include <cstdint>

#include "core/option/configure.h"

namespace hprof {

class Setup {
 public:
  // Reads the options and _JAVA_HPROF_OPTIONS, opens the modules beside the agent. kHelp: the help text was
  // printed. [onload]
  Configured prepare(const char* options, const Messages& messages);

  const CoreConfig& core() const { return configuration_.core; }
  const Selection& selection() const { return configuration_.selection; }
  const Unit& unit(uint32_t index) const { return configuration_.modules.unit(index); }
  const Error& error() const { return error_; }
  // Where the output goes: net=, file=, or the default file name with the encoder's suffix.
  const char* address() const { return address_; }
  // True if any chosen collector emits records of that kind.
  bool emits(uint32_t kind) const;
  // A module of the core's own, see ModuleSet. [onload]
  const hprof_unit* open_internal(const char* name) {
    return configuration_.modules.open_internal(Str(name));
  }
  bool selects(const char* option, const char* value) const;
  // "option=value" of hprof_variant: a '*' at its end stands for anything.
  bool selects_pattern(const char* pattern) const;

 private:
  bool choose_address();

  Configuration configuration_ = {};
  Error error_;
  char agent_folder_[kPathMost] = {};
  char address_[kPathMost] = {};
};

}  // namespace hprof
