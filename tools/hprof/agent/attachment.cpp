#include "tools/hprof/agent/attachment.h"

#include "platform/platform.h"
#include "tools/hprof/agent/ctl_session.h"
#include "tools/hprof/agent/library.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr char kReply[] = "reply";
// for the VM's own answer after the agent's
constexpr double kRestSeconds = 10;

// A line "=name value" is a field, every other line is for the user.
void take_line(const std::string& line, AttachAnswer* answer) {
  const size_t blank = line.find(' ');
  if (line.empty() || line[0] != '=' || blank == std::string::npos) {
    answer->messages.push_back(line);
  } else {
    answer->fields[line.substr(1, blank - 1)] = line.substr(blank + 1);
  }
}

std::string read_to_end(int socket, double seconds) {
  std::string text, ignored;
  char buffer[4096];
  const double deadline = os::monotonic_seconds() + seconds;
  long got;
  while (text.size() < 65536 && (got = os::receive_some(socket, buffer, sizeof buffer,
                                                        deadline - os::monotonic_seconds(), &ignored)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

}  // namespace

bool Attachment::open(int pid, const std::string& agent, bool as_is, std::string* error) {
  const std::string folder = os::working_folder();
  const os::FileId folder_id = os::file_id(folder);
  if (!os::find_jvm(pid, &jvm_, error) || !find_library(agent, as_is, error)) return false;
  shares_folder_ = os::is_same_there(jvm_, folder, folder_id, true);
  return place_.open(jvm_, error);
}

bool Attachment::find_library(const std::string& agent, bool as_is, std::string* error) {
  if (as_is) {
    if (!platform::is_absolute_path(agent.c_str())) *error = "--as-is needs --agent=<absolute path>";
    library_ = agent;
    return platform::is_absolute_path(agent.c_str()) && os::become(jvm_, error);
  }
  const std::string library = agent_library(agent, error);
  if (library.empty()) return false;
  const os::FileId id = os::file_id(library);
  if (!os::become(jvm_, error)) return false;
  library_ = library;
  return os::is_same_there(jvm_, library, id) || stage(library, error);
}

// Copies the library if the JVM has another file system, or its user may not read the folder.
bool Attachment::stage(const std::string& library, std::string* error) {
  std::vector<os::FileCopy> files;
  os::become_caller();
  if (!read_agent(library, &files, error) || !os::become(jvm_, error)) return false;
  if (!staged_.open(jvm_, identity_of(files), files, error)) return false;
  library_ = staged_.folder_there() + "/" + files[0].name;
  return true;
}

bool Attachment::hear_agent(int listener, const std::string& request, double deadline, AttachAnswer* answer,
                            std::string* error) {
  const int agent = os::accept_jvm(jvm_, listener, 1, error);
  if (agent < 0) return false;
  const Channel channel = socket_channel(agent, deadline);
  int status = kFailed;
  if (channel.write(request, error))
    status = read_answer(
        channel, [&](const std::string& line) { take_line(line, answer); }, error);
  os::close_socket(agent);
  if (status == kFailed) {
    *error = name() + ": " + *error;
    return false;
  }
  answer->good = status == kDone;
  if (status == kFoundProblems) answer->problem = *error;
  error->clear();
  return true;
}

// A loaded agent connects first; else the VM says why not.
bool Attachment::converse(int vm, int listener, const std::string& request, double seconds,
                          AttachAnswer* answer, std::string* error) {
  const double deadline = os::monotonic_seconds() + seconds;
  const int ready = os::wait_readable({listener, vm}, static_cast<int>(seconds * 1000));
  if (ready == 0) {
    if (!hear_agent(listener, request, deadline, answer, error)) return false;
    read_to_end(vm, kRestSeconds);
    return true;
  }
  if (ready != 1) {
    *error = ready == -2
                 ? "stopped before " + name() + " had answered"
                 : name() + " has not answered in " + std::to_string(static_cast<int>(seconds)) + " s";
    return false;
  }
  const std::string said = read_to_end(vm, kRestSeconds);
  if (said.empty()) {
    *error = name() + " closed the connection without an answer";
    return false;
  }
  answer->good = os::understand_vm(said, &answer->problem);
  answer->too_early = !answer->good && os::comes_too_early(answer->problem);
  if (answer->good) return true;
  const bool refuses_all = answer->problem.find("Dynamic agent loading is not enabled") != std::string::npos;
  answer->problem = "the VM refused the agent: " + answer->problem;
  if (refuses_all)
    answer->problem += " Without a restart, take a recording, which hprof print and view read: jcmd " +
                       std::to_string(jvm_.pid) + " JFR.start duration=20s filename=/tmp/app.jfr";
  return true;
}

bool Attachment::ask(const std::string& options, const std::string& folder, double vm_seconds, double seconds,
                     AttachAnswer* answer, std::string* error) {
  if ((options + folder).find('\n') != std::string::npos) {
    *error = "an option has a line feed";
    return false;
  }
  const int listener = place_.listen(kReply, error);
  if (listener < 0) return false;
  std::string request = "HPROF ATTACH 1\n";
  if (!folder.empty()) request += "folder " + folder + "\n";
  request += "options " + options + "\n\n";
  const double deadline = os::monotonic_seconds() + vm_seconds;
  bool answered = false;
  do {
    if (answer->too_early) os::pause_a_little();
    *answer = AttachAnswer();
    const int vm = os::ask_vm(jvm_, deadline - os::monotonic_seconds(),
                              {"load", {library_, "true", "reply=" + place_.path_there(kReply)}}, error);
    if (vm < 0) break;
    answered = converse(vm, listener, request, seconds, answer, error);
    os::close_socket(vm);
  } while (answered && answer->too_early && os::monotonic_seconds() < deadline);
  os::close_socket(listener);
  place_.remove(kReply);
  return answered;
}

bool Attachment::has_session(double vm_seconds, AttachAnswer* there) {
  constexpr double kStatusSeconds = 60;
  std::string ignored;
  return !jvm_.agent.empty() && ask("command=status", "", vm_seconds, kStatusSeconds, there, &ignored) &&
         there->good;
}

bool choose_folder(const Attachment& attachment, const std::string& options, std::string* folder,
                   std::string* error) {
  *folder = attachment.shares_folder() ? os::working_folder() : "/tmp";
  const auto file = find_option(options, "file");
  if (attachment.shares_folder() || file == nullptr || platform::is_absolute_path(file->c_str())) return true;
  *error = "file=" + *file + " is meant in " + os::working_folder() + ", where user " +
           os::user_name(attachment.jvm().user) + " of " + attachment.name() +
           " cannot write, or which it does not see; say a full path of its own, such as file=/tmp/" + *file +
           ", or take hprof profile, which brings the report here";
  return false;
}

}  // namespace hprof::tool
