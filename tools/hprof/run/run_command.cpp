// hprof run [options] -- java ...
#include "tools/hprof/run/run_command.h"

#include <iostream>

#include "tools/hprof/agent/library.h"
#include "tools/hprof/agent/options.h"
#include "tools/hprof/command.h"
#include "tools/hprof/convert/convert.h"
#include "tools/hprof/output_file.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr const char* kLaunchers[] = {"jar",       "jarsigner", "javac", "javadoc",     "javah",    "javap",
                                      "jdeps",     "jimage",    "jlink", "jmod",        "jpackage", "jshell",
                                      "jdeprscan", "keytool",   "rmic",  "rmiregistry", "serialver"};

// The VM splits JAVA_TOOL_OPTIONS at blanks; it knows quotes, but no escapes.
bool quote(const std::string& text, std::string* quoted) {
  if (text.find_first_of(" \t\n'\"") == std::string::npos) {
    *quoted = text;
    return true;
  }
  char mark = text.find('\'') == std::string::npos ? '\'' : '"';
  if (text.find(mark) != std::string::npos) return false;
  *quoted = mark + text + mark;
  return true;
}

}  // namespace

bool make_launch(const std::vector<std::string>& command, const std::string& library,
                 const std::string& options, const std::string& present, Launch* launch, std::string* error) {
  std::string agent = "-agentpath:" + library + (options.empty() ? "" : "=" + options);
  std::string name = os::program_name(command[0]);
  launch->command = command;
  launch->tool_options.clear();
  if (name == "java") {
    launch->command.insert(launch->command.begin() + 1, agent);
    return true;
  }
  for (const char* launcher : kLaunchers) {
    if (name != launcher) continue;
    launch->command.insert(launch->command.begin() + 1, "-J" + agent);
    return true;
  }
  std::string quoted;
  if (!quote(agent, &quoted)) {
    *error = "these options have both kinds of quotes, which JAVA_TOOL_OPTIONS cannot hold";
    return false;
  }
  launch->tool_options = present.empty() ? quoted : present + " " + quoted;
  return true;
}

static int start(const Given& given) {
  std::string options = join_options(given.words), error;
  const std::string inherited = os::environment("_JAVA_HPROF_OPTIONS");
  if (!chooses_collector(options + "," + inherited)) add_option("cpu=samples", &options);
  const std::string wanted = given.text("-o");
  const bool force = given.has("--force");
  std::string file;
  if (!choose_file(wanted, agent_suffix_of_file(wanted), force, Taken::kFiles, &file, &error))
    return fail(error);
  std::string wrong = add_file(file, force, &options);
  if (wrong.empty()) wrong = fault_of_sites(options);
  if (!wrong.empty()) return given.misuse(wrong);
  say_kept(wanted, file);
  options += stack_options(options, false);
  // As hprof profile and hprof attach, and so that no VM of several replaces the report of another.
  const bool has_file = find_option(options, "net") == nullptr && find_option(options, "force") == nullptr;
  if (has_file && options != "help") add_option("force=n", &options);
  const std::string library = agent_library(given.text("--agent"), &error);
  if (library.empty()) return fail(error);
  Launch launch;
  if (!make_launch(given.rest, library, options, os::environment("JAVA_TOOL_OPTIONS"), &launch, &error))
    return fail(error);
  if (given.has("--print")) {
    if (!launch.tool_options.empty()) std::cout << "JAVA_TOOL_OPTIONS=" << launch.tool_options << '\n';
    for (const std::string& word : launch.command) std::cout << word << '\n';
    return kDone;
  }
  if (!launch.tool_options.empty()) os::set_environment("JAVA_TOOL_OPTIONS", launch.tool_options);
  os::exec_program(launch.command, &error);
  return fail(error);
}

static constexpr OptionRow kOptions[] = {
    {"-o", "FILE", "default java.hprof.txt; its suffix says the format, as in profile"},
    kForceOption,
    kAgentOption,
    {"--print", nullptr, "print the command instead of running it"},
};
static constexpr Verb kVerbs[] = {{"", "[OPTION=VALUE...] -- COMMAND [ARGUMENT...]", "", start, kOptions}};

const Command kRunCommand = {
    "run",
    "[OPTIONS] -- java ...",
    "start a program with the agent",
    kVerbs,
    R"(Starts COMMAND with the agent, and ends as COMMAND does. Agent options are written as after -agentlib:hprof=, in one
word or several, default cpu=samples.
  java ...              gets -agentpath:LIBRARY=OPTIONS as its first argument
  javac, jar, ...       (launchers of the JDK) get -J-agentpath:LIBRARY=OPTIONS
  anything else         gets JAVA_TOOL_OPTIONS, which every VM that it starts obeys
Stacks are whole, up to 512 frames, but of exact cpu=times and heap=sites, unless depth= is given. Reports of several VMs, and one of the default name
beside an existing one, get the process id in their names.
)",
    R"(  hprof run -- java -jar app.jar
  hprof run -o app.hprof heap=dump -- javac Main.java
)"};

}  // namespace hprof::tool
