// hprof ctl PATH|PID|HOST:PORT COMMAND: one command to a running agent.
#include <iostream>

#include "platform/platform.h"
#include "tools/hprof/command.h"
#include "tools/hprof/ctl/ctl_session.h"
#include "tools/os/attach.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr size_t kSecretMax = 4096;

// Only the first line, so that a final line feed does not matter.
bool read_secret(const std::string& path, std::string* secret, std::string* error) {
  int fd = os::open_for_reading(path, error);
  if (fd < 0) return false;
  char bytes[kSecretMax];
  long got;
  while (secret->size() < kSecretMax && (got = os::read_some(fd, bytes, sizeof bytes, error)) > 0) {
    secret->append(bytes, static_cast<size_t>(got));
  }
  os::close_file(fd);
  size_t end = secret->find_first_of("\r\n");
  if (end != std::string::npos) secret->resize(end);
  if (secret->empty() && error->empty()) *error = path + " holds no secret";
  return error->empty();
}

void print_line(const std::string& text) { std::cout << text << '\n'; }

constexpr char kBusy[] = "too many connections";

double left(double deadline) { return deadline - os::monotonic_seconds(); }

// False: there is no time left for another try.
bool wait_a_little(double deadline) {
  if (left(deadline) < 0.2) return false;
  platform::sleep_ns(50 * platform::kNanosPerMilli);
  return true;
}

int connect_to(const std::string& where, bool tcp, double seconds, std::string* error) {
  if (tcp) {
    size_t colon = where.rfind(':');
    std::string host = where.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return os::connect_tcp(host, where.substr(colon + 1), seconds, error);
  }
  uint64_t pid = 0;
  if (parse_number(where, INT32_MAX, &pid)) return os::connect_control(static_cast<int>(pid), seconds, error);
  return os::connect_local(where, seconds, error);
}

}  // namespace

int ctl_command(const Arguments& arguments) {
  std::string where, command, secret_file, secret, value, error;
  uint64_t seconds = 60;
  for (const std::string& argument : arguments) {
    if (where.empty() && option_value(argument, "--secret-file", &secret_file)) continue;
    if (command.empty() && option_value(argument, "--secret-file", &secret_file)) continue;
    if (command.empty() && option_value(argument, "--timeout", &value)) {
      if (!parse_number(value, 86400, &seconds)) return misuse("ctl", "--timeout takes seconds");
    } else if (where.empty()) {
      if (argument.rfind("--", 0) == 0) return misuse("ctl", "unknown option " + argument);
      where = argument;
    } else {
      command += (command.empty() ? "" : " ") + argument;
    }
  }
  if (command.empty()) return misuse("ctl", "PATH, PID or HOST:PORT, and a COMMAND");
  bool tcp = where.find('/') == std::string::npos && where.find(':') != std::string::npos;
  if (tcp && secret_file.empty()) return misuse("ctl", "HOST:PORT needs --secret-file=FILE");
  if (tcp && !read_secret(secret_file, &secret, &error)) return fail(error);
  // One deadline for the whole call, so that an agent that sends a byte now and then cannot delay it. If all
  // connections are taken, the next try may get one.
  const double deadline = os::monotonic_seconds() + static_cast<double>(seconds);
  int status = kFailed;
  do {
    int fd = connect_to(where, tcp, left(deadline), &error);
    if (fd < 0) return fail(error);
    const Channel channel = socket_channel(fd, deadline);
    status = control_session(channel, tcp ? &secret : nullptr, command, print_line, &error);
    os::close_socket(fd);
  } while (status == kFoundProblems && error == kBusy && wait_a_little(deadline));
  std::cout.flush();
  if (status != kDone) std::cerr << "hprof: " << error << '\n';
  return status;
}

}  // namespace hprof::tool
