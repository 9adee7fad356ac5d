// The commands and their help pages: docs/tool.md says the same at more length.
#include <algorithm>

#include "core/control/command_table.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr char kRun[] = R"(hprof run [--agent=LIBRARY] [--print] [OPTION=VALUE...] -- COMMAND [ARGUMENT...]

Starts COMMAND with the agent. Agent options are written as after -agentlib:hprof=, in one word or several.
  java ...              gets -agentpath:LIBRARY=OPTIONS as its first argument
  javac, jar, ...       (launchers of the JDK) get -J-agentpath:LIBRARY=OPTIONS
  anything else         gets JAVA_TOOL_OPTIONS, which every VM that it starts obeys

  --agent=LIBRARY       the agent; default ../lib/@AGENT@ beside this program
  --print               print the command instead of running it

  hprof run cpu=samples,depth=8 -- java -jar app.jar
  hprof run heap=dump format=b file=app.hprof -- javac Main.java
)";

constexpr char kAttach[] =
    R"(hprof attach [--agent=LIBRARY] [--as-is] [--timeout=SECONDS] PID [OPTION=VALUE...]
hprof attach PID command=LINE

Loads the agent into the running HotSpot VM with process id PID, or sends a command to an agent that is loaded.
Prints where the report goes and how to request it, or why the agent refused. Needs no JDK. The VM may be in a
container. Run it as the user of that process, or as root.

  --agent=LIBRARY       the agent; default ../lib/@AGENT@ beside this program. If the process cannot read it,
                        a temporary copy is used
  --as-is               LIBRARY is a path in the file system of the process; never copied
  --timeout=SECONDS     how long to wait for the VM to listen, default 10

Relative file names are relative to this folder. An existing report is kept unless force=y is given.

  hprof attach 4711 cpu=samples depth=16 file=app.txt
  hprof attach 4711 command=report
)";

constexpr char kProfile[] =
    R"(hprof profile [--seconds=20] [-o FILE] [--force] [--agent=LIBRARY] PID [OPTION=VALUE...]

Profiles a running JVM: loads the agent, waits, fetches the report, and unloads the agent. The report is a file
of yours, in this folder; its path and size are printed. The JVM may be in a container. Run it as the user of that
process, or as root. Ctrl-C ends the wait and fetches the report.

  OPTION=VALUE          the agent's options, default cpu=samples; depth=16 unless depth= is given
  --seconds=N           duration, default 20; 0 when only heap=dump is given
  -o FILE               default java.hprof and the format's suffix (.txt). An existing file is kept, and the new
                        one gets a number, unless --force is given
  --most=SIZE           what the report may have at most (700m, 4g): 256m, with a heap dump 1g and eight times
                        the memory of the JVM
  --agent=LIBRARY       the agent; default ../lib/@AGENT@ beside this program
  --timeout=SECONDS     how long to wait for the VM to listen, default 10

  hprof profile 4711
  hprof profile --seconds=60 -o sites.txt 4711 heap=sites
  hprof profile -o app.hprof 4711 heap=dump format=b

Exit status: 0 done, 1 refused by the agent or a report that failed, 2 wrong usage or failed.
)";

constexpr char kView[] = R"(hprof view FILE [-o FILE.html] [--open]
hprof view BEFORE AFTER --diff [-o FILE.html] [--open]

Makes an HTML page for a browser: flame graph, callers of each method, table of methods, search. The page is one
self-contained file. FILE is a text report (java.hprof.txt) or a binary file with CPU samples or allocation
sites, of this agent or the original, folded stacks, a profile of pprof, or lines of format=json; compressed by gzip
or not. Without -o the page is FILE.html.

  --diff                compares two profiles: what is more, less, new and gone
  --open                open the page in the browser; without a display only a message is printed

  hprof view java.hprof.txt
  hprof view before.txt after.txt --diff -o change.html
)";

constexpr char kConvert[] =
    R"(hprof convert FILE --to=collapsed|pprof|json|ascii [-o FILE] [--table=NAME] [--weight=NAME]

Writes a profile in another format. FILE is what hprof view takes. Without -o the result is FILE with the format's
suffix; - is stdout. Its path is printed.

  --to=collapsed        folded stacks, for FlameGraph, speedscope and IntelliJ: one table, one weight
  --to=pprof            profile.proto, for go tool pprof, Pyroscope and Parca: one table
  --to=json             lines of JSON, all tables
  --to=ascii            text, as format=a, all tables
  --table=NAME          cpu_samples, cpu_times, alloc_sites, monitor_time ...; for formats with one table, default the
                        last one, which is cumulative
  --weight=NAME         number to write for folded stacks: samples, time, calls, live_bytes ...; default the one by
                        which the table is ranked

  hprof convert java.hprof.txt --to=pprof -o app.pb
  hprof convert app.pb.gz --to=collapsed --weight=alloc_space -o - | flamegraph.pl > app.svg

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)";

constexpr char kDoctor[] = R"(hprof doctor [PID]

Prints what this host supports, and for a running JVM which collectors can be attached: yes, limited, at start (only
when the program is started with the agent) or no, with the fix. Changes nothing. Exit status 1 when a line says no.

  hprof doctor
  hprof doctor 4711
)";

constexpr char kCtl[] = R"(hprof ctl [--timeout=SECONDS] PATH|PID COMMAND
hprof ctl --secret-file=FILE [--timeout=SECONDS] HOST:PORT COMMAND

Sends one command to an agent that was started with control=, and prints the answer. A PID stands for the
default socket /tmp/hprof-<user>-<pid>.sock of that process.

Commands:
@COMMANDS@
  --secret-file=FILE    its first line is the secret of an agent with listen=; the secret itself is not sent
  --timeout=SECONDS     how long to wait for the answer, in all; default 60

Exit status: 0 the agent said OK, 1 it said ERROR, 2 no answer.
)";

constexpr char kListen[] =
    R"(hprof listen [--host=ADDRESS] [--port=PORT] [--secret-file=FILE] [-o FILE] [--force]
             [--cmd=COMMAND...] [--no-input] [--quiet]

Waits for one agent started with net=host:port, writes its stream to a file and sends it commands, typed on
stdin or given with --cmd. Shows bytes, records and rate on a terminal.

  --host=ADDRESS        where to listen, default 127.0.0.1
  --port=PORT           default any free port, which is printed
  --secret-file=FILE    accept only an agent with the same net-secret-file=; turn others away
  -o FILE               default java.hprof; - is stdout. An existing file is replaced only with --force
  --cmd=COMMAND         send this command; repeatable, sent in turn; "wait SECONDS" waits
  --no-input            do not read commands from stdin
  --quiet               no progress and no totals

Commands:
@STREAM@

Exit status: 0 the stream ended between two records, 1 it broke off, 2 failed.
)";

constexpr char kCheck[] =
    R"(hprof check [--for=READER[,READER...]] [--strict] [--allow=RULE] [--no-warnings] [--max=N] FILE...
hprof check --rules

Reads a text or binary file, gzip-compressed or not, and prints one line for each problem: file, place,
severity, rule, what was found and expected, and in brackets the readers that fail on it. A problem that only
some readers have is a warning.

  --for=READER          report what this reader fails on as errors: gprof2dot, hprof2flamegraph, mat, visualvm,
                        jhat, intellij, shark, hprof-slurp, or all
  --strict              report warnings as errors
  --allow=RULE          report errors of this rule as warnings; repeatable
  --no-warnings         print errors only
  --max=N               print at most N problems, and N of one rule; default 100 and 10
  --rules               list the rules

Dumps of the VM itself (jcmd GC.heap_dump) refer to class mirrors that are not in the dump: use --allow=reference.

Exit status: 0 no errors, 1 errors, 2 unreadable.
)";

constexpr char kPrint[] = R"(hprof print [--top=N] [--lines] [--traces] [--threads] FILE
hprof print --records FILE

Text report: prints the last table of each kind, each row with its stack. Tables are cumulative, so the last one is
complete.

Binary file: prints the top classes of a heap dump by bytes and by objects, sites, CPU samples, and the number of
records of each type. Both may be gzip-compressed.

  --top=N               rows of each table, default 20; 0 = all
  --lines               sum up by source line: as innermost frame, and anywhere in the stack
  --traces              print the stack below each row of sites and samples of a binary file
  --threads             print a table of the threads
  --records             print every record and heap sub-record, in the order of the file

Bytes of classes are those in the dump: fields and elements, without object headers.
)";

constexpr char kDiff[] = R"(hprof diff [--top=N] [--lines] BEFORE AFTER

Prints what increased and decreased from BEFORE to AFTER, the largest changes first: two reports with tables of the same
kind (text or binary, the last table of each), two class histograms (jcmd GC.class_histogram), or two heap dumps.

  --top=N               rows of each table, default 20; 0 = all
  --lines               compare by source line instead of name and stack

  hprof diff before.txt after.txt --lines
  hprof diff monday.hprof friday.hprof

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)";

constexpr char kPlugin[] = R"(hprof plugin list [-v] [--agent=LIBRARY] [FOLDER...]
hprof plugin new collector|encoder|filter|sink NAME [--cpp]
hprof plugin check FILE [--run] [--unit=ID] [--deadline=SECONDS] [--agent=LIBRARY]

list shows the modules that an agent finds beside itself and in the FOLDERs (as with plugins=), the path of each,
and its units with the options that select them. Modules that the agent refuses are printed on stderr with the reason.
Libraries in these folders are loaded, which runs their code. -v adds what each unit requires of the VM, the records
that it emits or accepts, its options, and files of the same name in later folders, which are ignored.

new makes the folder NAME with a unit that builds against an installed hprof, passes its own test without a VM, and
runs: source, CMakeLists.txt, test, README.md. NAME: lower-case letters, digits and '_'.

check finds errors in a plugin: its descriptor and the version of the ABI that it needs, its option rows
(help, names of the agent's own and of shipped units), what its library exports and needs. With --run its units
run against a mock host: started, reported, reset and stopped in all orders, every option at its bounds, every
kind of record, places that are full, slow or gone, each allocation failing; memory, files and threads are counted.
Each step runs in its own process, so a crash or hang is a line of the table.

  --agent=LIBRARY       the agent; default ../lib/@AGENT@ beside this program
  -v                    print what each unit requires and offers
  --cpp                 in C++17; default C99
  --run                 run the units, without a VM
  --unit=ID             run this one only
  --deadline=SECONDS    count a step as hanging after this time without a message; default 60

  hprof plugin list /opt/acme/plugins
  hprof plugin new collector locks --cpp
  hprof plugin check --run build/locks.so

Exit status: 0 done, 1 refused by the agent or something is wrong with the plugin, 2 no agent or file, or the folder
cannot be made.
)";

struct Page {
  ToolCommand command;
  const char* arguments;  // in the overview
  const char* text;
};
const Page kPages[] = {
    {{"run", run_command, "start a program with the agent"}, "[OPTIONS] -- java ...", kRun},
    {{"profile", profile_command, "profile a running program"}, "PID [OPTIONS]", kProfile},
    {{"attach", attach_command, "load the agent into a running program"}, "PID OPTIONS", kAttach},
    {{"ctl", ctl_command, "talk to a running agent"}, "PATH|PID|HOST:PORT COMMAND", kCtl},
    {{"listen", listen_command, "receive what an agent sends with net=host:port"}, "[-o FILE]", kListen},
    {{"check", check_command, "find errors in a profile or dump"}, "FILE...", kCheck},
    {{"print", print_command, "summarize a report or binary file"}, "FILE", kPrint},
    {{"diff", diff_command, "compare two reports or dumps"}, "FILE FILE", kDiff},
    {{"plugin", plugin_command, "list, start and check plugins"}, "list|new|check ...", kPlugin},
    {{"view", view_command, "draw a profile: an HTML page with a flame graph and tables"}, "FILE", kView},
    {{"convert", convert_command, "write a profile in another format"}, "FILE --to=FORMAT", kConvert},
    {{"doctor", doctor_command, "check what this host and a JVM support"}, "[PID]", kDoctor},
    {{"heap", heap_command, "analyse a heap dump: what keeps memory alive"}, "[COMMAND] FILE", heap_help()},
};

constexpr size_t kSummaryColumn = 39;
constexpr size_t kUsageColumn = 46;

std::string overview() {
  std::string text = "hprof: heap and CPU profiling of Java programs\n\n";
  for (const Page& page : kPages) {
    std::string line = std::string("  hprof ") + page.command.name + " " + page.arguments + " ";
    line.resize(std::max(line.size(), kSummaryColumn), ' ');
    text += line + page.command.summary + "\n";
  }
  return text +
         "\n  hprof COMMAND --help                 the page of a command\n"
         "  hprof --version\n\n"
         "Exit status: 0 done, 1 problems found or refused by the agent, 2 wrong usage or failed.\n";
}

// The commands of the agent, or those of them that a stream takes, one a line.
std::string agent_commands(bool stream) {
  std::string text;
  for (const CommandRow& row : kCommands) {
    if (stream && row.tag == kTagNone) continue;
    char usage[100];
    TextWriter out(usage, sizeof usage);
    put_usage(row, &out);
    std::string line = std::string("  ") + usage + " ";
    line.resize(std::max(line.size(), kUsageColumn), ' ');
    text += line + row.help + "\n";
  }
  return text;
}

void fill_in(const std::string& mark, const std::string& with, std::string* text) {
  const size_t at = text->find(mark);
  if (at != std::string::npos) text->replace(at, mark.size(), with);
}

}  // namespace

const ToolCommand* find_tool_command(const std::string& name) {
  for (const Page& page : kPages) {
    if (name == page.command.name) return &page.command;
  }
  return nullptr;
}

std::vector<ToolCommand> tool_commands() {
  std::vector<ToolCommand> commands;
  for (const Page& page : kPages) commands.push_back(page.command);
  return commands;
}

std::string tool_command_names() {
  std::string names;
  for (const Page& page : kPages) names += (names.empty() ? "" : ", ") + std::string(page.command.name);
  return names;
}

std::string help_text(const std::string& command) {
  if (command.empty()) return overview();
  for (const Page& page : kPages) {
    if (command != page.command.name) continue;
    std::string text = page.text;
    fill_in("@COMMANDS@\n", agent_commands(false), &text);
    fill_in("@STREAM@\n", agent_commands(true), &text);
    fill_in("@AGENT@", os::kAgentName, &text);
    return text;
  }
  return {};
}

}  // namespace hprof::tool
