// hprof attach PID OPTIONS: loads the agent into a running VM, or sends command=LINE to a loaded one.
#include <iostream>

#include "tools/hprof/attach/attachment.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

struct AttachOptions {
  std::string agent;
  bool as_is = false;
  uint64_t vm_seconds = 10;
  std::vector<std::string> words;
};

int parse(const Arguments& arguments, AttachOptions* options) {
  std::string value;
  for (const std::string& argument : arguments) {
    if (option_value(argument, "--agent", &options->agent)) continue;
    if (option_value(argument, "--timeout", &value)) {
      if (!parse_number(value, 86400, &options->vm_seconds))
        return misuse("attach", "--timeout takes seconds");
    } else if (argument == "--as-is") {
      options->as_is = true;
    } else if (argument.rfind("--", 0) == 0) {
      return misuse("attach", "unknown option " + argument);
    } else {
      options->words.push_back(argument);
    }
  }
  return options->words.empty() ? misuse("attach", "PID and OPTIONS") : kDone;
}

// Says how to send commands to the agent from now on: by its own socket, a path of control=, or this command.
std::string how_to(const Attachment& attachment, const AttachAnswer& answer, const std::string& command) {
  const os::Jvm& jvm = attachment.jvm();
  const std::string pid = std::to_string(jvm.pid);
  const auto control = answer.fields.find("control");
  if (control == answer.fields.end()) return "hprof attach " + pid + " command=" + command;
  const std::string by_default =
      "/tmp/hprof-" + std::to_string(jvm.user_there) + "-" + std::to_string(jvm.pid_there) + ".sock";
  return "hprof ctl " + (control->second == by_default ? pid : control->second) + " " + command;
}

void print_success(const Attachment& attachment, const AttachAnswer& answer) {
  const auto field = [&](const char* name) {
    const auto found = answer.fields.find(name);
    return found != answer.fields.end() ? found->second : std::string();
  };
  if (field("output").empty()) return;
  const bool idle = field("state") == "idle";
  // A url= is no file.
  const bool file = !field("mode").empty() && field("output").find("://") == std::string::npos;
  std::cout << attachment.name() << ": " << field("collectors") << (idle ? " will write " : " writes ")
            << (file ? "" : "to ") << field("output");
  if (file)
    std::cout << " (mode " << field("mode") << ", user " << os::user_name(attachment.jvm().user) << ')';
  // A file of that name may lie here, too, and be another one.
  if (file && !os::is_same_there(attachment.jvm(), field("output"), os::file_id(field("output"))))
    std::cout << ", from here /proc/" << attachment.jvm().pid << "/root" << field("output");
  if (idle) std::cout << "; start: " << how_to(attachment, answer, "start");
  std::cout << "; report: " << how_to(attachment, answer, "report")
            << "; end: " << how_to(attachment, answer, "detach") << '\n';
}

}  // namespace

int attach_command(const Arguments& arguments) {
  AttachOptions options;
  int status = parse(arguments, &options);
  if (status != kDone) return status;
  uint64_t pid = 0;
  if (!parse_number(options.words[0], INT32_MAX, &pid) || pid == 0)
    return misuse("attach", options.words[0] + " is not a process id");
  const std::string text = join_options(options.words, 1);
  const bool command = text.rfind("command=", 0) == 0;
  os::stop_on_signals();
  Attachment attachment;
  AttachAnswer answer;
  std::string folder, error;
  // Reports and dumps may take long, and the VM has no limit either.
  const double seconds = static_cast<double>(options.vm_seconds) + (command ? 3600 : 60);
  if (!attachment.open(static_cast<int>(pid), options.agent, options.as_is, &error) ||
      (!command && !choose_folder(attachment, text, &folder, &error)) ||
      !attachment.ask(text, folder, static_cast<double>(options.vm_seconds), seconds, &answer, &error))
    return fail(error);
  for (const std::string& line : answer.messages) (command ? std::cout : std::cerr) << line << '\n';
  if (answer.good) {
    print_success(attachment, answer);
    return kDone;
  }
  std::cout.flush();
  std::cerr << "hprof: " << answer.problem << '\n';
  return kFoundProblems;
}

}  // namespace hprof::tool
