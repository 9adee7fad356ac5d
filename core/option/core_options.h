// The core's own options: one row each, and the struct that their values go to.
#pragma once

#include <hprof/plugin.h>

#include "core/base/message.h"
#include "core/plugin/option_row.h"

namespace hprof {

// The most frames of a trace; a larger depth= is cut to it.
constexpr int64_t kDepthMost = 2048;

struct CoreConfig {
  // Selectors: which units run; choose_units() has read them from the list. net and file: nullptr when not
  // given.
  const char* heap;
  const char* cpu;
  const char* monitor;
  const char* format;
  const char* file;
  const char* net;
  const char* plugin;
  const char* plugins;  // folders

  int64_t depth;
  double cutoff;         // 0..1
  uint64_t interval_ns;  // units that sample have rows of their own for it
  uint32_t clock;        // likewise
  uint32_t line_numbers;
  uint32_t thread_in_traces;
  uint32_t dump_on_exit;
  uint32_t micro_state_accounting;
  uint32_t force;
  uint32_t verbose;

  uint32_t start;            // 0: load idle, a command starts the collectors
  const char* control;       // y, n, a path or nullptr: core/protocol/control_address.h
  const char* listen;        // host:port; requires
  const char* secret_file;   // a file whose first line is the secret; net= may have one, too
  uint32_t control_implied;  // 1: control= is y because of start=n, not typed
  uint32_t allow;            // 0: nothing; 1: a command may end the VM
  uint32_t net_retry;
  uint32_t events;      // 1: of encoders that take them if asked
  const char* labels;   // for sinks, as typed
  int64_t every;        // seconds of a window; 0: none
  int64_t keep_files;   // 0: all
  const char* hotspot;  // hotspot= as typed, parsed by items.h into
  uint32_t hotspot_on, hotspot_off;
  uint64_t max_memory;                  // bytes; 0: no limit
  int64_t start_timeout, exit_timeout;  // seconds
  int64_t dump_stall;                   // seconds

  int64_t log_flags;  // non-zero: detail messages

  bool allows_exit() const { return allow == 1; }
  bool shows_details() const { return log_flags != 0; }
};

// The sections of the help text. All rows write to CoreConfig.
enum class CoreGroup : uint8_t { kProfile, kOutput, kMain, kOwn, kDebug };
constexpr uint32_t kCoreGroups = 5;

// The original's options that have no effect here; any value is accepted.
constexpr const char* kIgnoredOptions = "gc_okay debugflags coredump errorexit pause debug X";

// Of core_options.def; value texts and help are in the module help_texts.
OptionTable core_options(CoreGroup group);
OptionTable all_core_options();

// The core's row of that name in any group; a row without a name for an ignored option; or nullptr.
const hprof_option* find_core_option(Str name);
// True: units have rows of that name, too, with defaults of their own.
bool is_shared_option(Str name);

// True: commands can come, by control= or listen=. [any]
bool takes_commands(const CoreConfig& core);

// The option whose default applies when no profile is chosen; the default of format=. [any]
const hprof_option& default_profile();
const char* default_format();
// True: one of the manual's options that choose a profile. [any]
bool is_profile_selector(Str name);
// True: a collector that the option selects replaces the default profile. Other options of the core only add
// to a choice. [any]
bool chooses_profile(Str name);
// True: the value of any option that selects nothing. [any]
bool selects_nothing(Str value);

}  // namespace hprof
