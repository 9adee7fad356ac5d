// hprof plugin: help for writing and checking units.
#include "tools/hprof/plugin/plugin_command.h"

namespace hprof::tool {

static constexpr OptionRow kListOptions[] = {
    {"-v", nullptr, "print what each unit requires and offers"},
    kJsonOption,
    kAgentOption,
};
static constexpr OptionRow kCheckOptions[] = {
    {"--run", nullptr, "run the units, without a VM"},
    {"--unit", "ID", "run this one only"},
    {"--list", nullptr, "print the names of the tests, UNIT/TEST, and run none"},
    {"--only", "TEST", "run this test of all units, or UNIT/TEST; may be repeated"},
    kJsonOption,
    {"--deadline", "SECONDS", "count a call as hanging after this time; default 10", ValueKind::kNumber, 1,
     3600},
    {"--java", "JAVA", "run collectors in this JVM, too, which verifies their classes"},
    kAgentOption,
};
static constexpr Verb kVerbs[] = {{"list", "[FOLDER...]", "", plugin_list, kListOptions},
                                  {"new", "collector|encoder|filter|sink NAME", "", plugin_new, {}},
                                  {"check", "FILE", "", plugin_check, kCheckOptions}};

const Command kPluginCommand = {
    "plugin",
    "list|new|check ...",
    "list, start and check plugins",
    kVerbs,
    R"(list shows the modules that an agent finds beside itself and in the FOLDERs (as with plugins=), the path of each,
and its units with the options that select them. Modules that the agent refuses are printed on stderr with the reason.
Libraries in these folders are loaded, which runs their code. -v adds what each unit requires of the VM, the records
that it emits or accepts, its options, and files of the same name in later folders, which are ignored.

new makes the folder NAME with a unit that builds against an installed hprof, passes its own test without a VM, and
runs: a copy of the example gc_pauses (collector, in C), csv (encoder, in C++), byte_count (filter, in C) or own_file (sink,
in C++). NAME: lower-case letters, digits and '_'. It prints the commands that build, test, check and run it.

check finds errors in a plugin: its descriptor and the version of the ABI that it needs, its option rows
(help, names of the agent's own and of shipped units), what its library exports and needs. With --run its units
run against a mock host: started, reported, reset and stopped in all orders, every option at its bounds, every
kind of record, every event in a VM that answers, places that are full, slow or gone, each allocation failing, a newer
core; memory, files and threads are counted, and the class files that its probes call are read; with --java=JAVA a VM starts
with each collector, verifies them and calls them.
Each test runs in its own process, so a crash or hang is a line of the table. Of a library for another machine (ELF) the
descriptor is read without running it: version, names, texts, exports.
)",
    R"(  hprof plugin list /opt/acme/plugins
  hprof plugin new collector locks
  hprof plugin check --run build/locks.so

Exit status: 0 done, 1 refused by the agent or something is wrong with the plugin, 2 no agent or file, or the folder
cannot be made.
)"};

}  // namespace hprof::tool
