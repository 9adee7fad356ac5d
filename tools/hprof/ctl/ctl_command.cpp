// hprof ctl PATH|PID|HOST:PORT COMMAND: one command to a running agent.
#include <algorithm>
#include <iostream>

#include "core/protocol/secret_file.h"
#include "platform/platform.h"
#include "tools/hprof/agent/attachment.h"
#include "tools/hprof/agent/ctl_session.h"
#include "tools/hprof/command.h"
#include "tools/os/attach.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr char kBusy[] = "too many connections";

void print_line(const std::string& text) { std::cout << text << '\n'; }

double left(double deadline) { return deadline - os::monotonic_seconds(); }

// Sleeps between two tries. False: there is no time left for another.
bool wait_a_little(double deadline) {
  if (left(deadline) < 0.2) return false;
  platform::sleep_ns(50 * platform::kNanosPerMilli);
  return true;
}

// A command to the agent in a JVM, which may have no control socket.
struct Request {
  std::string where, command;
  uint64_t pid = 0;  // 0: `where` is a path or an address
  bool tcp = false;
  Secret secret;
  double deadline = 0;
};

int connect_tcp(const Request& request, std::string* error) {
  const size_t colon = request.where.rfind(':');
  std::string host = request.where.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return os::connect_tcp(host, request.where.substr(colon + 1), left(request.deadline), error);
}

// Sends the command by the VM's attach mechanism, to the library that the JVM has loaded.
int ask_by_vm(const Request& request, const os::Jvm& jvm, std::string* error) {
  const std::string pid = std::to_string(jvm.pid);
  if (jvm.agent.empty()) {
    *error = "process " + pid + " has no agent; `hprof attach " + pid +
             " cpu=samples` loads one, `hprof profile " + pid + "` takes a profile";
    return kFailed;
  }
  os::stop_on_signals();
  Attachment attachment;
  AttachAnswer answer;
  const double seconds = left(request.deadline);
  if (!valid_control_command(request.command, error) || !attachment.open(jvm.pid, jvm.agent, true, error) ||
      !attachment.ask("command=" + request.command, "", seconds, seconds, &answer, error))
    return kFailed;
  for (const std::string& line : answer.messages) print_line(line);
  *error = answer.problem;
  return answer.good ? kDone : kFoundProblems;
}

int ask(const Request& request, std::string* error) {
  os::Jvm jvm;
  const int fd = request.tcp ? connect_tcp(request, error)
                 : request.pid != 0
                     ? os::connect_control(static_cast<int>(request.pid), left(request.deadline), &jvm, error)
                     : os::connect_local(request.where, left(request.deadline), error);
  if (fd < 0) return error->empty() ? ask_by_vm(request, jvm, error) : kFailed;
  const Channel channel = socket_channel(fd, request.deadline);
  const std::string secret(request.secret.bytes, request.secret.size);
  const int status =
      control_session(channel, request.tcp ? &secret : nullptr, request.command, print_line, error);
  os::close_socket(fd);
  return status;
}

// Completes the command by which an agent's refusal says what takes such a report.
std::string with_command(std::string refusal, uint64_t pid) {
  constexpr std::pair<const char*, const char*> kTakers[] = {
      {"has heap dumps", "heap=dump"}, {"has allocation sites", "heap=sites"}, {"", "cpu=samples"}};
  const std::string named = "`hprof profile`";
  const size_t at = refusal.find(named);
  if (at == std::string::npos) return refusal;
  const auto* taker = std::find_if(std::begin(kTakers), std::end(kTakers), [&](const auto& each) {
    return refusal.find(each.first) != std::string::npos;
  });
  const std::string process = pid != 0 ? std::to_string(pid) : "PID";
  return refusal.replace(at, named.size(), "`hprof profile " + process + " " + taker->second + "`");
}

int ctl(const Given& given) {
  Request request;
  Error why;
  std::string error;
  request.where = given.words[0];
  for (size_t i = 1; i < given.words.size(); ++i) request.command += (i == 1 ? "" : " ") + given.words[i];
  const std::string secret_file = given.text("--secret-file");
  request.tcp = request.where.find('/') == std::string::npos && request.where.find(':') != std::string::npos;
  if (!parse_number(request.where, INT32_MAX, &request.pid)) request.pid = 0;
  if (request.tcp && secret_file.empty()) return given.misuse("HOST:PORT needs --secret-file=FILE");
  if (request.tcp && !read_secret("--secret-file", secret_file.c_str(), &request.secret, &why))
    return fail(why.text);
  // One deadline for the whole call, which an agent that sends single bytes cannot extend. If all connections
  // are in use, a later try may get one.
  request.deadline = os::monotonic_seconds() + static_cast<double>(given.number("--timeout", 60));
  int status = kFailed;
  do {
    error.clear();
    status = ask(request, &error);
  } while (status == kFoundProblems && error == kBusy && wait_a_little(request.deadline));
  std::cout.flush();
  if (status != kDone) std::cerr << "hprof: " << with_command(error, request.pid) << '\n';
  return status;
}

constexpr OptionRow kOptions[] = {
    {"--secret-file", "FILE",
     "its first line is the secret of an agent with listen=; the secret itself is not sent"},
    {"--timeout", "SECONDS", "how long to wait for the answer, in all; default 60", ValueKind::kNumber, 0,
     86400},
};
constexpr Verb kVerbs[] = {{"", "PATH|PID|HOST:PORT COMMAND...", "", ctl, kOptions}};

}  // namespace

const Command kCtlCommand = {
    "ctl",
    "PATH|PID|HOST:PORT COMMAND",
    "talk to a running agent",
    kVerbs,
    R"(Sends one command to an agent and prints the answer: by a socket of control= or listen=, or by the process id of its
JVM. Then the default socket /tmp/hprof-<user>-<pid>.sock is used, or without one the VM's attach mechanism.
)",
    R"(Commands:
@COMMANDS@

Exit status: 0 the agent said OK, 1 it said ERROR, 2 no answer.
)"};

}  // namespace hprof::tool
