// Files, signals and processes that only the front end needs.
#include <cstring>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tools/os/os.h"

namespace hprof::os {

namespace {

volatile sig_atomic_t stop_requested = 0;
void request_stop(int) { stop_requested = 1; }

}  // namespace

const char* const kLibrarySuffix = ".so";
const char* const kAgentName = "libhprof.so";

intptr_t native_handle(int handle) { return handle; }

std::string program_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string program_path() {
  char path[PATH_MAX];
  const size_t length = platform::executable_path(path, sizeof path);
  return std::string(path, length);
}

std::string working_folder() {
  char path[PATH_MAX];
  const size_t length = platform::absolute_path("", path, sizeof path);
  return std::string(path, length > 1 ? length - 1 : length);
}

bool seek_to(int file, uint64_t offset) { return lseek(file, static_cast<off_t>(offset), SEEK_SET) >= 0; }

uint64_t file_size(int file) {
  struct stat info {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return UINT64_MAX;
  return static_cast<uint64_t>(info.st_size);
}

std::string absolute_path(const std::string& path, std::string* error) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr) return resolved;
  *error = path + ": " + std::strerror(errno);
  return {};
}

int wait_readable(const std::vector<int>& handles, int milliseconds) {
  std::vector<pollfd> waits;
  for (int handle : handles) waits.push_back({handle, POLLIN, 0});
  for (;;) {
    if (stop_requested != 0) return -2;
    int count = poll(waits.data(), waits.size(), milliseconds);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return -1;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd >= 0 && waits[i].revents != 0) return static_cast<int>(i);
    }
  }
}

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void forget_stop() { stop_requested = 0; }

void set_environment(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

void exec_program(const std::vector<std::string>& arguments, std::string* error) {
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  execvp(list[0], list.data());
  *error = arguments[0] + ": " + std::strerror(errno);
}

}  // namespace hprof::os
