// The rows of the core's own options.
#include "core/option/core_options.h"

#include "core/base/build.h"
#include "core/control/control_address.h"

namespace hprof {
namespace {

#define AT(member) static_cast<uint32_t>(offsetof(CoreConfig, member))

// Their values are the units' `select` texts, which selection.cpp reads. The first profile runs when no other
// is chosen.
const hprof_option kProfiles[] = {
    {"heap", HPROF_OPTION_TEXT, AT(heap), "all", nullptr, 0, 0, nullptr,
     "heap profiling; all unless cpu= or monitor= is given"},
    {"cpu", HPROF_OPTION_TEXT, AT(cpu), "off", nullptr, 0, 0, nullptr, "CPU usage"},
    {"monitor", HPROF_OPTION_TEXT, AT(monitor), "n", nullptr, 0, 0, nullptr, "monitor contention"},
};

const hprof_option kOutputs[] = {
    {"format", HPROF_OPTION_TEXT, AT(format), "a", nullptr, 0, 0, nullptr, "text(txt) or binary output"},
    {"file", HPROF_OPTION_TEXT, AT(file), nullptr, nullptr, 0, 0, "<file>", "write data to file"},
    {"net", HPROF_OPTION_TEXT, AT(net), nullptr, nullptr, 0, 0, "<host>:<port>|<path>",
     "send data over a socket"},
};

const hprof_option kMain[] = {
    {"depth", HPROF_OPTION_INT, AT(depth), "4", nullptr, 0, 2147483647, "<size>", "stack trace depth"},
    {"interval", HPROF_OPTION_MILLIS, AT(interval_ns), "10", nullptr, 0.01, 3600000, "<ms>",
     "time between samples of a thread; 1 with cpu=times"},
    {"clock", HPROF_OPTION_CHOICE, AT(clock), "cpu", "cpu|wall", 0, 0, nullptr,
     "measure CPU time or elapsed time, with cpu=samples and cpu=times"},
    {"cutoff", HPROF_OPTION_REAL, AT(cutoff), "0.0001", nullptr, 0, 1e9, "<value>", "output cutoff point"},
    {"lineno", HPROF_OPTION_FLAG, AT(line_numbers), "y", nullptr, 0, 0, nullptr,
     "write line numbers in traces"},
    {"thread", HPROF_OPTION_FLAG, AT(thread_in_traces), "n", nullptr, 0, 0, nullptr,
     "write the thread in traces"},
    {"doe", HPROF_OPTION_FLAG, AT(dump_on_exit), "y", nullptr, 0, 0, nullptr,
     "write a report at the end of the VM"},
    {"msa", HPROF_OPTION_FLAG, AT(micro_state_accounting), "n", nullptr, 0, 0, nullptr,
     "Solaris micro state accounting"},
    {"force", HPROF_OPTION_FLAG, AT(force), "y", nullptr, 0, 0, nullptr, "force output to <file>"},
    {"verbose", HPROF_OPTION_FLAG, AT(verbose), "y", nullptr, 0, 0, nullptr, "print messages about dumps"},
};

const hprof_option kOwn[] = {
    {"plugin", HPROF_OPTION_TEXT, AT(plugin), nullptr, nullptr, 0, 0, "<unit>[+...]",
     "run these units by name"},
    {"plugins", HPROF_OPTION_TEXT, AT(plugins), nullptr, nullptr, 0, 0, "<folder>[:...]",
     "also search these folders for plugins"},
    {"start", HPROF_OPTION_FLAG, AT(start), "y", nullptr, 0, 0, nullptr,
     "start at once; n: wait for a command"},
    {"control", HPROF_OPTION_TEXT, AT(control), nullptr, nullptr, 0, 0, "<path>|y|n",
     "accept commands on a local socket"},
    {"listen", HPROF_OPTION_TEXT, AT(listen), nullptr, nullptr, 0, 0, "<host>:<port>",
     "accept commands over TCP, from other hosts if the address is not a loopback address"},
    {"secret-file", HPROF_OPTION_TEXT, AT(secret_file), nullptr, nullptr, 0, 0, "<file>",
     "read the secret of listen= and net= from this file"},
    {"allow", HPROF_OPTION_CHOICE, AT(allow), "nothing", "nothing|exit", 0, 0, nullptr,
     "let a command end the VM"},
    {"net-retry", HPROF_OPTION_FLAG, AT(net_retry), "y", nullptr, 0, 0, nullptr,
     "start without the listener of net= and connect later; n: refuse to start"},
    {"labels", HPROF_OPTION_TEXT, AT(labels), "", nullptr, 0, 0, "<name>:<value>[;...]",
     "add these labels to reports, if the sink or the format supports labels"},
    {"every", HPROF_OPTION_INT, AT(every), "0", nullptr, 0, 86400, "<seconds>",
     "write a report of what is new at this interval; 0: never (docs/continuous.md)"},
    {"keep-files", HPROF_OPTION_INT, AT(keep_files), "0", nullptr, 0, 100000, "<count>",
     "keep at most this many files of this run; 0: keep all"},
    {"raw-names", HPROF_OPTION_FLAG, AT(raw_names), "n", nullptr, 0, 0, nullptr,
     "print the VM's own names of hidden classes"},
    {"hotspot", HPROF_OPTION_TEXT, AT(hotspot), "y", nullptr, 0, 0, "y|n|-<item>[:...]",
     "use VM internals once verified (docs/hotspot.md)"},
    {"dump-stall", HPROF_OPTION_INT, AT(dump_stall), "10", nullptr, 1, 86400, "<seconds>",
     "give up a heap dump that waits longer than this for its output, plus 1 s per MiB"},
    {"start-timeout", HPROF_OPTION_INT, AT(start_timeout), "60", nullptr, 1, 86400, "<seconds>",
     "do not start when a plugin, or opening the output, takes longer than this"},
    {"exit-timeout", HPROF_OPTION_INT, AT(exit_timeout), "30", nullptr, 1, 86400, "<seconds>",
     "wait at most this long for reports and output when the VM ends"},
    {"max-memory", HPROF_OPTION_SIZE, AT(max_memory), HPROF_MAX_MEMORY, nullptr, 0, 0, nullptr,
     "memory limit of the agent; 0: none"},
};

const hprof_option kDebug[] = {
    {"logflags", HPROF_OPTION_INT, AT(log_flags), "0", nullptr, 0, 0, nullptr, "print details when not 0"},
};

// What find_core_option returns for options of kIgnoredOptions. No value is stored.
const hprof_option kIgnored = {"", HPROF_OPTION_TEXT, 0, nullptr, nullptr, 0, 0, nullptr, ""};

#undef AT

template <uint32_t kCount>
OptionTable table_of(const hprof_option (&rows)[kCount]) {
  return OptionTable{rows, kCount, sizeof(hprof_option)};
}

}  // namespace

OptionTable core_options(CoreGroup group) {
  switch (group) {
    case CoreGroup::kProfile:
      return table_of(kProfiles);
    case CoreGroup::kOutput:
      return table_of(kOutputs);
    case CoreGroup::kMain:
      return table_of(kMain);
    case CoreGroup::kOwn:
      return table_of(kOwn);
    case CoreGroup::kDebug:
      return table_of(kDebug);
  }
  return OptionTable();
}

const hprof_option* find_core_option(Str name) {
  for (uint32_t group = 0; group < kCoreGroups; ++group) {
    const hprof_option* row = core_options(static_cast<CoreGroup>(group)).find(name);
    if (row != nullptr) return row;
  }
  Str rest(kIgnoredOptions), ignored;
  while (next_part(&rest, ' ', &ignored)) {
    if (ignored == name) return &kIgnored;
  }
  return nullptr;
}

bool is_shared_option(Str name) { return name == "interval" || name == "clock" || name == "secret-file"; }

bool takes_commands(const CoreConfig& core) {
  return !is_control_off(core.control) || (core.listen != nullptr && core.listen[0] != '\0');
}

const hprof_option& default_profile() { return kProfiles[0]; }

const char* default_format() { return kOutputs[0].default_text; }

bool is_profile_selector(Str name) { return table_of(kProfiles).find(name) != nullptr; }

bool chooses_profile(Str name) { return is_profile_selector(name) || find_core_option(name) == nullptr; }

bool selects_nothing(Str value) { return value == "off" || value == "n"; }

}  // namespace hprof
