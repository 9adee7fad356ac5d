// The man pages, in man(7) macros of groff and mandoc.
#include "core/protocol/command_table.h"
#include "tools/hprof/command.h"
#include "tools/manual/manual.h"

namespace hprof::manual {
namespace {

// Escapes text for roff: keeps hyphens and backslashes, and no line begins a request.
std::string plain(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '|') {
      out += "|\\:";  // a list of values may be longer than a line
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }

std::string head(const std::string& name, const char* section, const std::string& version, const char* what) {
  return ".TH " + name + " " + section + " \"\" \"hprof " + version + "\"\n.ad l\n.SH NAME\n" + what + "\n";
}

std::string as_it_is(const std::string& text) { return ".nf\n" + plain(text) + ".fi\n"; }

constexpr char kToolFiles[] = R"(.SH FILES
.TP
.I java.hprof.txt\fR, \fIjava.hprof
the report of an agent that was given no
.BR file= ,
as text or in the binary format
.TP
.I /tmp/hprof\-<user>\-<pid>.sock
where an agent takes the commands of
.B hprof ctl
.SH SEE ALSO
.BR hprof\-agent (7),
.BR java (1),
.BR jcmd (1)
)";

constexpr char kAgentText[] = R"(.SH SYNOPSIS
.nf
java \fB\-agentpath:\fIfile\fR[=\fIoption\fB=\fIvalue\fR[,...]] ...
java \fB\-agentlib:hprof\fR[=\fIoption\fB=\fIvalue\fR[,...]] ...
java \fB\-Xrunhprof\fR[:\fIoption\fB=\fIvalue\fR[,...]] ...
.fi
.SH DESCRIPTION
The agent is loaded into a Java virtual machine (JDK 8 to 27) and profiles the program that runs there: CPU by sampling or
by counting calls, allocations, heap dumps, contended locks.
It takes the options of the HPROF that JDK 5 to 8 had and writes the same formats.
.B hprof run
starts a program with it,
.B hprof attach
loads it into one that runs; see
.BR hprof (1).
.PP
.B \-agentpath
takes the whole path of
.IR libhprof.so ;
on JDK 8
.B \-agentlib:hprof
finds the JDK's own library first.
Options are separated by commas.
Without
.BR heap= ,
.BR cpu= ,
.B monitor=
and
.B plugin=
the agent runs
.BR heap=all .
An unknown option or a bad value stops the VM before it starts, with one line on stderr and exit status 1;
an agent that is attached refuses, and the program goes on.
.B help
prints the options and ends the VM;
.B help=plugins
lists the plugins that are found,
.B help=units
what each of their units needs and offers.
)";

constexpr char kAgentEnd[] = R"(.SH ENVIRONMENT
.TP
.B _JAVA_HPROF_OPTIONS
more options; they replace the same ones given on the command line
.SH FILES
.TP
.I java.hprof.txt\fR, \fIjava.hprof
the default of
.BR file= ,
with mode 0600.
.B %p
in a name is the process id
.TP
.I hprof/plugins
beside
.IR libhprof.so :
collectors, formats and destinations, one module each
.SH EXAMPLES
.nf
java \-agentpath:/usr/lib/libhprof.so=cpu=samples,depth=16 \-jar app.jar
java \-agentpath:/usr/lib/libhprof.so=heap=dump,format=b,file=app.hprof \-jar app.jar
jcmd \fIpid\fR JVMTI.agent_load /usr/lib/libhprof.so \(aq"cpu=samples,file=/tmp/app.txt"\(aq
.fi
.SH SEE ALSO
.BR hprof (1),
.BR java (1),
.BR jcmd (1)
)";

}  // namespace

std::string tool_page(const std::string& version) {
  std::string text = head("HPROF", "1", version, "hprof \\- heap and CPU profiling of Java programs");
  text += ".SH SYNOPSIS\n.nf\n";
  for (const tool::Command* command : tool::kCommandRows) text += plain(tool::usage_text(*command));
  text +=
      ".fi\n.SH DESCRIPTION\n.B hprof\nstarts Java programs with a profiling agent, loads the agent into "
      "running ones, talks to\n"
      "it, and shows, checks and analyses what it writes.\nThe options of the agent are in\n.BR "
      "hprof\\-agent (7).\n.SH COMMANDS\n";
  for (const tool::Command* command : tool::kCommandRows) {
    text += ".SS hprof " + std::string(command->name) + ": " + plain(command->summary) + "\n";
    text += as_it_is(tool::help_text(*command));
  }
  return text + kToolFiles;
}

std::string agent_page(const std::string& version, const std::vector<Option>& options) {
  std::string text = head("HPROF-AGENT", "7", version,
                          "hprof\\-agent \\- options and commands of the profiling agent libhprof.so");
  text += kAgentText;
  text += ".SH OPTIONS\n";
  std::string owner = "core";
  for (const Option& option : options) {
    if (option.owner != owner) {
      owner = option.owner;
      text += ".SS Options of " + plain(owner) + "\n";
    }
    text += ".TP\n" + bold(option.name + "=") + plain(option.values) + "\n" + plain(option.help);
    if (!option.preset.empty()) text += " (default: " + bold(option.preset) + ")";
    text += "\n";
  }
  text +=
      ".SH COMMANDS\nAn agent started with\n.B control=\nor\n.B listen=\ntakes these from\n.BR \"hprof ctl\" "
      ".\n";
  for (const CommandRow& row : kCommands) {
    text += ".TP\n" + bold(tool::usage_of(row)) + "\n" + plain(row.help) + "\n";
  }
  return text + kAgentEnd;
}

}  // namespace hprof::manual
