#include <cstring>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>

#include "tools/os/os.h"

extern char** environ;

namespace hprof::os {

namespace {

#ifdef __APPLE__
constexpr const char* kOpener = "open";
bool has_display() { return true; }
#else
constexpr const char* kOpener = "xdg-open";
bool has_display() { return !environment("DISPLAY").empty() || !environment("WAYLAND_DISPLAY").empty(); }
#endif

}  // namespace

bool open_on_desktop(const std::string& path, std::string* error) {
  if (!has_display()) {
    *error = "there is no display here (DISPLAY and WAYLAND_DISPLAY are not set)";
    return false;
  }
  // A browser may print messages as long as it runs.
  posix_spawn_file_actions_t actions;
  int code = posix_spawn_file_actions_init(&actions);
  if (code == 0) {
    for (int stream = 0; stream <= 2 && code == 0; ++stream)
      code = posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    std::string program = kOpener, file = path;
    char* arguments[] = {program.data(), file.data(), nullptr};
    pid_t child = 0;
    if (code == 0) code = posix_spawnp(&child, kOpener, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  if (code != 0) *error = std::string(kOpener) + ": " + std::strerror(code);
  return code == 0;
}

}  // namespace hprof::os
