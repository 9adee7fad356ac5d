// hprof attach PID OPTIONS: loads the agent into a running VM.
#include <iostream>

#include "tools/hprof/agent/attachment.h"
#include "tools/hprof/command.h"
#include "tools/hprof/output_file.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr double kAnswerSeconds = 60;  // for the agent, once the VM listens

// Text that tells how to send commands to the agent from now on.
std::string how_to(const Attachment& attachment, const AttachAnswer& answer, const std::string& command) {
  const os::Jvm& jvm = attachment.jvm();
  const std::string pid = std::to_string(jvm.pid);
  const auto control = answer.fields.find("control");
  const std::string by_default =
      "/tmp/hprof-" + std::to_string(jvm.user_there) + "-" + std::to_string(jvm.pid_there) + ".sock";
  const bool by_pid = control == answer.fields.end() || control->second == by_default;
  return "hprof ctl " + (by_pid ? pid : control->second) + " " + command;
}

void print_success(const Attachment& attachment, const AttachAnswer& answer) {
  const auto field = [&](const char* name) {
    const auto found = answer.fields.find(name);
    return found != answer.fields.end() ? found->second : std::string();
  };
  if (field("output").empty()) return;
  const bool idle = field("state") == "idle";
  const std::string mode = os::mode_there(attachment.jvm(), field("output"));
  const bool file = !mode.empty();
  std::cout << attachment.name() << ": " << field("collectors") << (idle ? " will write " : " writes ")
            << (file ? "" : "to ") << field("output");
  if (file) std::cout << " (mode " << mode << ", user " << os::user_name(attachment.jvm().user) << ')';
  // Here, too, there may be a file of that name, but another one.
  if (file && !os::is_same_there(attachment.jvm(), field("output"), os::file_id(field("output"))))
    std::cout << ", from here /proc/" << attachment.jvm().pid << "/root" << field("output");
  if (idle) std::cout << "; start: " << how_to(attachment, answer, "start");
  std::cout << "; report: " << how_to(attachment, answer, "report")
            << "; end: " << how_to(attachment, answer, "detach") << '\n';
}

// The collectors of a session, from what the agent answers to `status`.
std::string collectors_of(const AttachAnswer& status) {
  std::string names;
  for (const std::string& line : status.messages) {
    const size_t colon = line.find(": ");
    const std::string state = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (state == "not started" || state == "stopped")
      names += (names.empty() ? "" : ", ") + line.substr(0, colon);
  }
  return names;
}

int attach(const Given& given) {
  Arguments words = given.words;
  int pid = 0;
  if (!take_process(&words, &pid)) return given.misuse(words[0] + " is not a process id");
  const std::string typed = join_options(words);
  std::string text = typed;
  const std::string wrong = add_file(given.text("-o"), given.has("--force"), &text);
  if (!wrong.empty()) return given.misuse(wrong);
  text += stack_options(text, true);
  const std::string added = text.substr(typed.size());
  const auto vm_seconds = static_cast<double>(given.number("--timeout", 10));
  os::stop_on_signals();
  Attachment attachment;
  AttachAnswer answer;
  std::string folder, error;
  if (!attachment.open(pid, given.text("--agent"), given.has("--as-is"), &error) ||
      !choose_folder(attachment, text, &folder, &error))
    return fail(error);
  AttachAnswer earlier;
  // With a socket of its own the new session is beside the one that is there.
  const bool replaces =
      find_option(text, "control") == nullptr && attachment.has_session(vm_seconds, &earlier);
  if (!attachment.ask(text, folder, vm_seconds, vm_seconds + kAnswerSeconds, &answer, &error))
    return fail(error);
  for (const std::string& line : answer.messages) std::cerr << line << '\n';
  if (answer.good) {
    if (replaces && answer.fields.count("output") != 0)
      std::cerr << "hprof: replaced the idle agent of " << attachment.name() << ": " << collectors_of(earlier)
                << '\n';
    print_success(attachment, answer);
    return kDone;
  }
  std::cout.flush();
  std::cerr << "hprof: " << without_added(answer.problem, added) << '\n';
  return kFoundProblems;
}

constexpr OptionRow kOptions[] = {
    {"-o", "FILE", "default java.hprof.txt; its suffix says the format, as in profile"},
    kForceOption,
    kAgentOption,
    kAsIsOption,
    kListenTimeoutOption};
constexpr Verb kVerbs[] = {{"", "PID [OPTION=VALUE...]", "", attach, kOptions}};

}  // namespace

const Command kAttachCommand = {
    "attach",
    "PID OPTIONS",
    "load the agent into a running program",
    kVerbs,
    R"(Loads the agent into the running HotSpot VM with process id PID. Prints where the report goes and how to request
it, or why the agent refused. Needs no JDK. The VM may be in a container. Run it as the user of that process, or as
root. If the process cannot read the agent's library, a temporary copy is used.
)",
    R"(Stacks are whole, up to 512 frames, but of exact cpu=times and heap=sites, unless depth= is given. Relative file names are relative to this folder.

  hprof attach 4711 -o app.txt cpu=samples
)"};

}  // namespace hprof::tool
