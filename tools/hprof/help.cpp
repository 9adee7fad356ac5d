// The commands and their help pages: docs/tool.md says the same at more length.
#include <algorithm>

#include "core/control/command_table.h"
#include "tools/hprof/command.h"

namespace hprof::tool {

namespace {

constexpr char kRun[] = R"(hprof run [--agent=LIBRARY] [--print] [OPTION=VALUE...] -- COMMAND [ARGUMENT...]

Starts COMMAND with the agent. Agent options are given as they are to -agentlib:hprof, in one word or several.
  java ...              gets -agentpath:LIBRARY=OPTIONS as its first argument
  javac, jar, ...       (launchers of the JDK) get -J-agentpath:LIBRARY=OPTIONS
  anything else         gets JAVA_TOOL_OPTIONS, which every VM that it starts obeys

  --agent=LIBRARY       the agent; default ../lib/libhprof.so beside this program
  --print               print the command instead of running it

  hprof run cpu=samples,depth=8 -- java -jar app.jar
  hprof run heap=dump format=b file=app.hprof -- javac Main.java
)";

constexpr char kAttach[] =
    R"(hprof attach [--agent=LIBRARY] [--as-is] [--timeout=SECONDS] PID [OPTION=VALUE...]
hprof attach PID command=LINE

Loads the agent into the running HotSpot VM with process id PID, or hands a command to the one that is there.
Prints where the report goes and how to ask for it, or why the agent refused. Needs no JDK; works into
containers. Run it as the user of that process, or as root.

  --agent=LIBRARY       the agent; default ../lib/libhprof.so beside this program. A copy is brought to where
                        the process sees it, if need be
  --as-is               LIBRARY is a path in the target's file system, taken as it is
  --timeout=SECONDS     how long to wait for the VM to listen, default 10

Relative names of files are meant in this folder. A report that is there is kept unless force=y is given.

  hprof attach 4711 cpu=samples depth=16 file=app.txt
  hprof attach 4711 command=report
)";

constexpr char kProfile[] =
    R"(hprof profile [--seconds=20] [-o FILE] [--force] [--agent=LIBRARY] PID [OPTION=VALUE...]

Profiles a running JVM: loads the agent, waits, fetches the report, and unloads the agent. The report is a file
of yours, in this folder; its path and size are printed. Run it as the user of that process, or as root; works
into containers. Ctrl-C ends the waiting, not the report.

  OPTION=VALUE          the agent's options, default cpu=samples; depth=16 unless depth= is given
  --seconds=N           how long, default 20; 0 when only heap=dump is asked for
  -o FILE               default java.hprof.txt, java.hprof with format=b. A file that is there is kept, and the
                        next gets a number, unless --force
  --agent=LIBRARY       the agent; default ../lib/libhprof.so beside this program
  --timeout=SECONDS     how long to wait for the VM to listen, default 10

  hprof profile 4711
  hprof profile --seconds=60 -o sites.txt 4711 heap=sites
  hprof profile -o app.hprof 4711 heap=dump format=b

Exit status: 0 done, 1 refused by the agent or a report that failed, 2 wrong usage or failed.
)";

constexpr char kView[] = R"(hprof view FILE [-o FILE.html] [--open]
hprof view BEFORE AFTER --diff [-o FILE.html] [--open]

Makes a page to look at in a browser: flame graph, callers of each method, table of methods, search. The page is one file
and asks nothing of any other. FILE is a text report (java.hprof.txt) or a binary file with CPU samples or allocation
sites, of this agent or the original, folded stacks, a profile of pprof, or lines of format=json; compressed by gzip
or not. Without -o the page is FILE.html.

  --diff                compares two profiles: what is more, less, new and gone
  --open                open the page in the browser; where there is no display it says so, and the page is there

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
  --table=NAME          cpu_samples, cpu_times, alloc_sites, monitor_time ...; where the format has one table, default
                        the last, which holds all that was seen
  --weight=NAME         what the numbers of folded stacks are: samples, time, calls, live_bytes ...; default the one
                        by which the table is ranked

  hprof convert java.hprof.txt --to=pprof -o app.pb
  hprof convert app.pb.gz --to=collapsed --weight=alloc_space -o - | flamegraph.pl > app.svg

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)";

constexpr char kDoctor[] = R"(hprof doctor [PID]

Says what this host allows, and for a running JVM which collectors can be attached, each with yes, limited, at start
(only when the program is started with the agent) or no, and what to do about it. Changes nothing. Exit status 1
when something is a no.

  hprof doctor
  hprof doctor 4711
)";

constexpr char kCtl[] = R"(hprof ctl [--timeout=SECONDS] PATH|PID COMMAND
hprof ctl --secret-file=FILE [--timeout=SECONDS] HOST:PORT COMMAND

Sends one command to an agent that was started with control=, and prints the answer. A PID stands for the
default socket /tmp/hprof-<user>-<pid>.sock of that process.

Commands:
@COMMANDS@
  --secret-file=FILE    its first line is the secret that a TCP agent asks for; the secret itself is not sent
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
  --secret-file=FILE    take the stream of an agent with the same net-secret-file= only; others are turned away
  -o FILE               default java.hprof; - is stdout. An existing file is kept unless --force
  --cmd=COMMAND         sent in turn; "wait SECONDS" between two of them waits
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
severity, rule, what is there and what was expected, and in brackets the readers that fail on it. What only
some reader cannot stand is a warning.

  --for=READER          make what this reader cannot stand an error: gprof2dot, hprof2flamegraph, mat, visualvm,
                        jhat, intellij, shark, hprof-slurp, or all
  --strict              every warning is an error
  --allow=RULE          breaking this rule is a warning at most; may be repeated
  --no-warnings         print errors only
  --max=N               print at most N problems, and N of one rule; default 100 and 10
  --rules               list the rules

Dumps of the VM itself (jcmd GC.heap_dump) hold references to mirrors that are not dumped: --allow=reference.

Exit status: 0 no errors, 1 errors, 2 unreadable.
)";

constexpr char kPrint[] = R"(hprof print [--top=N] [--lines] [--traces] [--threads] FILE
hprof print --records FILE

Of a text report: the last table of each kind, each row with its stack. A collector goes on adding, so the last
table holds all that was seen.

Shows a binary file as text: the top classes of a heap dump by bytes and by objects, sites, CPU samples, and how
many records there are of each type. Both gzip-compressed or not.

  --top=N               rows of each table, default 20; 0 = all
  --lines               sums by source line in place of rows: as innermost frame, and anywhere in the stack
  --traces              the stack below each row of sites and samples of a binary file
  --threads             a table of the threads
  --records             every record and heap sub-record, in the order of the file

Bytes of classes are those in the dump: fields and elements, without object headers.
)";

constexpr char kDiff[] = R"(hprof diff [--top=N] [--lines] BEFORE AFTER

What is more and less in the second of two files, the largest changes first: two reports with tables of the same
kind (text or binary, the last table of each), two class histograms (jcmd GC.class_histogram), or two heap dumps.

  --top=N               rows of each table, default 20; 0 = all
  --lines               by source line in place of name and stack

  hprof diff before.txt after.txt --lines
  hprof diff monday.hprof friday.hprof

Exit status: 0 done, 1 unreadable, 2 wrong usage or failed.
)";

constexpr char kPlugin[] = R"(hprof plugin list [-v] [--agent=LIBRARY] [FOLDER...]
hprof plugin new collector|encoder|filter|sink NAME [--cpp]
hprof plugin check FILE [--run] [--unit=ID] [--deadline=SECONDS] [--agent=LIBRARY]

list shows the modules that an agent finds beside itself and in the FOLDERs (as with plugins=), where each lies,
and the units in it with the options that select them. What the agent refuses is named on stderr with the reason.
Libraries in these folders are loaded, which runs their code. With -v also what each unit needs of the VM, which records it
emits or takes, its options, and files of the same name in later folders, which are not looked at.

new makes the folder NAME with a unit that builds against an installed hprof, passes its own test without a VM, and
runs: source, CMakeLists.txt, test, README.md. NAME: lower-case letters, digits and '_'.

check says what is wrong with a plugin: its descriptor and the version of the ABI that it needs, its option rows
(help, names of the agent's own and of shipped units), what its library exports and needs. With --run its units
live against a mock host: started, reported, reset and stopped in all orders, every option at its bounds, every
kind of record, places that are full, slow or gone, each allocation failing; memory, files and threads are counted.
Each step has a process of its own: a crash or a hang is a line of the table.

  --agent=LIBRARY       the agent; default ../lib/libhprof.so beside this program
  -v                    with what each unit needs and offers
  --cpp                 in C++17; default C99
  --run                 run the units, without a VM
  --unit=ID             run this one only
  --deadline=SECONDS    a step that says nothing for so long hangs; default 60

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
    {{"check", check_command, "say what is wrong with a profile or dump"}, "FILE...", kCheck},
    {{"print", print_command, "show a report or binary file in short"}, "FILE", kPrint},
    {{"diff", diff_command, "say what is more in the second of two reports or dumps"}, "FILE FILE", kDiff},
    {{"plugin", plugin_command, "list, start and check plugins"}, "list|new|check ...", kPlugin},
    {{"view", view_command, "make a page with flame graph and tables of a profile"}, "FILE", kView},
    {{"convert", convert_command, "write a profile in another format"}, "FILE --to=FORMAT", kConvert},
    {{"doctor", doctor_command, "say what this host and a JVM allow"}, "[PID]", kDoctor},
    {{"heap", heap_command, "say what keeps memory alive in a heap dump"}, "[COMMAND] FILE", heap_help()},
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
    return text;
  }
  return {};
}

}  // namespace hprof::tool
