// Runs a function in a forked process, with a pipe for its output.
#include "tools/os/apart.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/os/os.h"

namespace hprof::os {

namespace {

constexpr int kReturned = 113;  // exit code: body has returned
constexpr char kLast[] = ".";

void write_line(int pipe, const std::string& line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(pipe, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) _exit(1);
    if (wrote > 0) done += static_cast<size_t>(wrote);
  }
}

// Passes whole lines on. False: the other end is closed, or *silent: nothing came in time.
bool read_lines(int pipe, double seconds, std::string* rest,
                const std::function<void(const std::string&)>& heard, bool* silent) {
  pollfd ready = {pipe, POLLIN, 0};
  const int count = poll(&ready, 1, static_cast<int>(seconds * 1000));
  if (count < 0 && errno == EINTR) return true;
  *silent = count <= 0;
  if (*silent) return false;
  char bytes[4096];
  const ssize_t got = read(pipe, bytes, sizeof bytes);
  if (got <= 0) return got < 0 && errno == EINTR;
  rest->append(bytes, static_cast<size_t>(got));
  for (size_t end = rest->find('\n'); end != std::string::npos; end = rest->find('\n')) {
    heard(rest->substr(0, end));
    rest->erase(0, end + 1);
  }
  return true;
}

// Runs body, with the pipe that `heard` gets the lines of, in a new process, which ends after it.
bool run_child(const std::function<void(int pipe)>& body, double seconds,
               const std::function<void(const std::string& line)>& heard, Apart* result, std::string* error) {
  int ends[2];
  if (pipe(ends) != 0) {
    *error = std::string("cannot make a pipe: ") + std::strerror(errno);
    return false;
  }
  const pid_t child = fork();
  if (child < 0) {
    *error = std::string("cannot start a process: ") + std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  if (child == 0) {
    close(ends[0]);
    body(ends[1]);
    write_line(ends[1], kLast);
    _exit(kReturned);
  }
  close(ends[1]);
  std::string rest;
  bool silent = false, returned = false;
  const auto hear = [&](const std::string& line) {
    if (line == kLast) {
      returned = true;
    } else {
      heard(line);
    }
  };
  while (!returned && read_lines(ends[0], seconds, &rest, hear, &silent)) {
  }
  close(ends[0]);
  if (silent) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (silent) {
    result->end = Apart::kSilent;
  } else if (WIFSIGNALED(status)) {
    result->end = Apart::kKilled;
    result->code = WTERMSIG(status);
    result->name = strsignal(result->code);
  } else if (returned && WEXITSTATUS(status) == kReturned) {
    result->end = Apart::kDone;
  } else {
    result->end = Apart::kExited;
    result->code = WEXITSTATUS(status);
  }
  return true;
}

}  // namespace

bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>& body,
               double seconds, const std::function<void(const std::string& line)>& heard, Apart* result,
               std::string* error) {
  const auto child = [&](int pipe) { body([pipe](const std::string& line) { write_line(pipe, line); }); };
  return run_child(child, seconds, heard, result, error);
}

bool run_program(const std::vector<std::string>& arguments, double seconds,
                 const std::function<void(const std::string& line)>& heard, Apart* result,
                 std::string* error) {
  const auto child = [&](int pipe) {
    dup2(pipe, STDOUT_FILENO);
    dup2(pipe, STDERR_FILENO);
    close(pipe);
    std::string why;
    exec_program(arguments, &why);
    write_line(STDERR_FILENO, why);
    _exit(127);
  };
  return run_child(child, seconds, heard, result, error);
}

}  // namespace hprof::os
