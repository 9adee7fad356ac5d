// The help pages: docs/tool.md says the same at more length.
#include "core/tool/command.h"

namespace hprof::tool {

namespace {

constexpr char kOverview[] = R"(hprof: heap and CPU profiling of Java programs

  hprof run [OPTIONS] -- java ...      start a program with the agent
  hprof attach PID OPTIONS             load the agent into a running program
  hprof ctl PATH|PID|HOST:PORT COMMAND talk to a running agent
  hprof listen [-o FILE]               receive what an agent sends with net=host:port
  hprof check FILE...                  say what is wrong with a profile or dump
  hprof print FILE                     show a binary file as text

  hprof COMMAND --help                 the page of a command
  hprof --version

Exit status: 0 done, 1 problems found or refused by the agent, 2 wrong usage or failed.
)";

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

constexpr char kAttach[] = R"(hprof attach [--agent=LIBRARY] [--as-is] [--timeout=SECONDS] PID [OPTIONS]

Loads the agent into the running HotSpot VM with process id PID. Needs no JDK; works into containers. Run it
as the user of that process, or as root.

  --agent=LIBRARY       the agent; default ../lib/libhprof.so beside this program
  --as-is               LIBRARY is a path in the target's file system, taken as it is
  --timeout=SECONDS     how long to wait for the VM, default 10

  hprof attach 4711 cpu=samples,file=/tmp/app.txt
)";

constexpr char kCtl[] = R"(hprof ctl [--timeout=SECONDS] PATH|PID COMMAND
hprof ctl --secret-file=FILE [--timeout=SECONDS] HOST:PORT COMMAND

Sends one command to an agent that was started with control=, and prints the answer. A PID stands for the
default socket /tmp/hprof-<user>-<pid>.sock of that process.

Commands: start, stop, report, reset, status, dump heap, sites, samples, summary, traces, gc, detach and more;
"help" asks the agent for all of them.

  --secret-file=FILE    its first line is the secret that a TCP agent asks for; the secret itself is not sent
  --timeout=SECONDS     how long to wait for each piece of the answer, default 60

Exit status: 0 the agent said OK, 1 it said ERROR, 2 no answer.
)";

constexpr char kListen[] =
    R"(hprof listen [--host=ADDRESS] [--port=PORT] [-o FILE] [--force] [--cmd=COMMAND...]
             [--no-input] [--quiet]

Waits for one agent started with net=host:port, writes its stream to a file and sends it commands, typed on
stdin or given with --cmd. Shows bytes, records and rate on a terminal.

  --host=ADDRESS        where to listen, default 127.0.0.1
  --port=PORT           default any free port, which is printed
  -o FILE               default java.hprof; - is stdout. An existing file is kept unless --force
  --cmd=COMMAND         sent in turn; "wait SECONDS" between two of them waits
  --no-input            do not read commands from stdin
  --quiet               no progress and no totals

Commands: gc                                   force a garbage collection
          dump heap                            write a heap dump
          sites [incremental] [alloc] [gc] [cutoff=F]
          samples [cutoff=F]                   CPU samples so far
          summary                              live and allocated totals
          traces                               all traces not yet written
          control alloc on|off                 allocation traces
          control cpu on|off [thread=ID]       CPU sampling
          control clear cpu|sites
          control depth N
          exit                                 end the VM, where the agent's options allow it
          eof                                  end the conversation; the program goes on

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

constexpr char kPrint[] = R"(hprof print [--top=N] [--traces] [--threads] FILE
hprof print --records FILE

Shows a binary file, gzip-compressed or not, as text: the top classes of a heap dump by bytes and by objects,
sites, CPU samples, and how many records there are of each type.

  --top=N               rows of each table, default 20; 0 = all
  --traces              the stack below each row of sites and samples
  --threads             a table of the threads
  --records             every record and heap sub-record, in the order of the file

Bytes of classes are those in the dump: fields and elements, without object headers.
)";

struct Page {
  const char* command;
  const char* text;
};
constexpr Page kPages[] = {{"", kOverview},     {"run", kRun},     {"attach", kAttach}, {"ctl", kCtl},
                           {"listen", kListen}, {"check", kCheck}, {"print", kPrint}};

}  // namespace

const char* help_text(const std::string& command) {
  for (const Page& page : kPages) {
    if (command == page.command) return page.text;
  }
  return nullptr;
}

}  // namespace hprof::tool
