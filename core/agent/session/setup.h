// The parsed options, and what follows from them for the session. Independent of the VM.
#pragma once

#include <cstdint>

#include "core/option/configure.h"
#include "core/option/help_table.h"
#include "platform/platform.h"

namespace hprof {

class Setup {
 public:
  // Before prepare, for an attach by a tool: `folder` is that of relative file names ("": no change), and
  // `help` gets the help text. [onload]
  void set_client(Str folder, const TextOut& help) {
    folder_ = folder;
    help_ = help;
  }
  // Reads the options and _JAVA_HPROF_OPTIONS, opens the modules beside the agent. attached: the VM runs
  // already. kHelp: the help text was printed. [onload]
  Configured prepare(const char* options, bool attached, const Messages& messages);
  bool is_attached() const { return attached_; }

  const CoreConfig& core() const { return configuration_.core; }
  const Selection& selection() const { return configuration_.selection; }
  const Unit& unit(uint32_t index) const { return configuration_.modules.unit(index); }
  int64_t exit_timeout_ns() const { return core().exit_timeout * platform::kNanosPerSecond; }
  // True: nothing is collected and no command can come.
  bool is_without_effect() const { return selection().collector_count == 0 && !takes_commands(core()); }
  const Error& error() const { return error_; }
  // The output's address: net=, file=, or the default file name with the encoder's suffix.
  const char* address() const { return address_; }
  // HPROF_EXISTING_*. An attached agent replaces a file only if the options name it.
  uint32_t existing() const;
  // True: a chosen collector emits the record kind or table of that name.
  bool emits(const char* name) const;
  // The id of a collector that a profile option of both has chosen; nullptr: none.
  const char* common_profile(const Setup& other) const;
  // The table of a module of the core's own: ModuleSet::open_table. [onload]
  template <typename Table>
  const Table* open_table(const char* name, uint32_t version) {
    return static_cast<const Table*>(
        static_cast<const void*>(configuration_.modules.open_table(Str(name), sizeof(Table), version)));
  }
  const ModuleSet& modules() const { return configuration_.modules; }
  // Calls hprof_unit.extension of a running unit.
  const void* find_extension(const char* unit_id, const char* id) const;
  // Appends " depth=3 verbose=n": the options in force of the core and the collectors, but those with free
  // text, which may be a secret.
  void put_options(TextWriter* out) const;
  bool is_typed(const char* option) const { return configuration_.list.find(option) != nullptr; }
  // True: "option=value" of an hprof_variant applies; a '*' at its end matches any text.
  bool selects_pattern(const char* pattern) const;

 private:
  bool print_help();
  bool choose_address();
  bool is_free_text(const OptionItem& item) const;
  void put_filter_suffix(TextWriter* out) const;
  void put_folder(const char* file, TextWriter* out) const;

  Configuration configuration_ = {};
  bool attached_ = false;
  Error error_;
  Str folder_;
  TextOut help_ = {};
  char agent_folder_[kPathMost] = {};
  char address_[kPathMost] = {};
};

}  // namespace hprof
