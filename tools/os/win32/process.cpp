// Files, Ctrl-C and processes that only the front end needs.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/win32/local_socket.h"
#include "platform/win32/wait.h"
#include "tools/os/apart.h"
#include "tools/os/os.h"
#include "tools/os/win32/handle.h"

namespace hprof::os {

namespace {

constexpr int kSliceMs = 50;  // no wait covers sockets, the console and pipes
constexpr int kLocalSliceMs = 5;
constexpr DWORD kStandard[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

std::atomic<bool> stop_requested{false};

BOOL WINAPI request_stop(DWORD) {
  stop_requested = true;
  return TRUE;
}
BOOL WINAPI leave_to_child(DWORD) { return TRUE; }

std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

// The console is ready when a line is complete, since a read waits for that.
bool is_line_typed(HANDLE console) {
  INPUT_RECORD events[256];
  DWORD count = 0;
  if (!PeekConsoleInputA(console, events, 256, &count)) return true;
  return std::any_of(events, events + count, [](const INPUT_RECORD& event) {
    return event.EventType == KEY_EVENT && event.Event.KeyEvent.bKeyDown &&
           event.Event.KeyEvent.wVirtualKeyCode == VK_RETURN;
  });
}

bool is_input_ready(HANDLE input) {
  switch (GetFileType(input)) {
    case FILE_TYPE_PIPE: {
      DWORD count = 0;
      return !PeekNamedPipe(input, nullptr, 0, nullptr, &count, nullptr) || count > 0;
    }
    case FILE_TYPE_CHAR: {
      DWORD mode;
      return !GetConsoleMode(input, &mode) || is_line_typed(input);
    }
    default:
      return true;
  }
}

// Index of a ready socket; -1: none.
int ready_socket(const std::vector<int>& handles, int milliseconds) {
  fd_set wanted;
  FD_ZERO(&wanted);
  bool any = false;
  for (size_t i = 0; i < handles.size(); ++i) {
    const int handle = handles[i];
    if (handle <= 2) continue;
    if (platform::is_local(platform::Socket{handle})) {
      if (platform::local_is_ready(platform::Socket{handle})) return static_cast<int>(i);
      milliseconds = std::min(milliseconds, kLocalSliceMs);
      continue;
    }
    FD_SET(static_cast<SOCKET>(handle), &wanted);
    any = true;
  }
  if (!any) {
    Sleep(static_cast<DWORD>(milliseconds));
    return -1;
  }
  timeval limit = {0, milliseconds * 1000};
  if (select(0, &wanted, nullptr, nullptr, &limit) <= 0) return -1;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] > 2 && !platform::is_local(platform::Socket{handles[i]}) &&
        FD_ISSET(static_cast<SOCKET>(handles[i]), &wanted))
      return static_cast<int>(i);
  }
  return -1;
}

// Quotes an argument for the C library's parser: backslashes count only before quotes.
std::string quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\n\v\"") == std::string::npos) return argument;
  std::string text = "\"";
  size_t slashes = 0;
  for (char letter : argument) {
    if (letter == '\\') {
      ++slashes;
      continue;
    }
    text.append(letter == '"' ? 2 * slashes + 1 : slashes, '\\');
    slashes = 0;
    text += letter;
  }
  return text.append(2 * slashes, '\\') + '"';
}

}  // namespace

const char* const kLibrarySuffix = ".dll";
const char* const kAgentName = "hprof.dll";

intptr_t native_handle(int handle) {
  return handle >= 0 && handle <= 2 ? reinterpret_cast<intptr_t>(GetStdHandle(kStandard[handle])) : handle;
}

std::string program_name(const std::string& path) {
  const size_t slash = path.find_last_of("/\\:");
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.size() > 4 && _stricmp(name.c_str() + name.size() - 4, ".exe") == 0) name.resize(name.size() - 4);
  return name;
}

std::string program_path() {
  char path[4096];
  const size_t length = platform::executable_path(path, sizeof path);
  return with_slashes(std::string(path, length));
}

std::string working_folder() {
  char path[4096];
  return with_slashes(std::string(path, platform::absolute_path(".", path, sizeof path)));
}

bool seek_to(int file, uint64_t offset) {
  LARGE_INTEGER to;
  to.QuadPart = static_cast<LONGLONG>(offset);
  return SetFilePointerEx(handle_of(file), to, nullptr, FILE_BEGIN);
}

uint64_t file_size(int file) {
  LARGE_INTEGER size;
  if (GetFileType(handle_of(file)) != FILE_TYPE_DISK || !GetFileSizeEx(handle_of(file), &size))
    return UINT64_MAX;
  return static_cast<uint64_t>(size.QuadPart);
}

std::string absolute_path(const std::string& path, std::string* error) {
  char resolved[4096];
  const size_t length = platform::absolute_path(path.c_str(), resolved, sizeof resolved);
  if (length > 0 && platform::path_exists(resolved)) return with_slashes(std::string(resolved, length));
  *error = path + ": no such file or directory";
  return {};
}

int wait_readable(const std::vector<int>& handles, int milliseconds) {
  const int64_t end = milliseconds < 0 ? platform::kNoDeadline : platform::deadline_after_ms(milliseconds);
  for (;;) {
    if (stop_requested) return -2;
    for (size_t i = 0; i < handles.size(); ++i) {
      if (handles[i] == 0 && is_input_ready(handle_of(0))) return static_cast<int>(i);
    }
    const int left = milliseconds < 0 ? kSliceMs : static_cast<int>(platform::wait_milliseconds(end));
    const int ready = ready_socket(handles, std::min(left, kSliceMs));
    if (ready >= 0) return ready;
    if (platform::has_passed(end)) return -1;
  }
}

void stop_on_signals() { SetConsoleCtrlHandler(request_stop, TRUE); }
void forget_stop() { stop_requested = false; }

void set_environment(const char* name, const std::string& value) { _putenv_s(name, value.c_str()); }

void exec_program(const std::vector<std::string>& arguments, std::string* error) {
  std::string line;
  for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + quoted(argument);
  std::cout.flush();
  std::cerr.flush();
  STARTUPINFOA start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION child;
  // Ctrl-C is for the other program, whose exit code counts.
  SetConsoleCtrlHandler(leave_to_child, TRUE);
  if (!CreateProcessA(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &child)) {
    char text[256];
    platform::error_text(platform::last_error(), text, sizeof text);
    *error = arguments[0] + ": " + text;
    return;
  }
  DWORD code = 0;
  WaitForSingleObject(child.hProcess, INFINITE);
  GetExitCodeProcess(child.hProcess, &code);
  ExitProcess(code);
}

// Windows has no fork, so a function cannot run in a separate process.
bool run_apart(const std::function<void(const std::function<void(const std::string& line)>& say)>&, double,
               const std::function<void(const std::string& line)>&, Apart*, std::string* error) {
  *error = "running a plugin in a process of its own is supported on Unix only";
  return false;
}

bool run_program(const std::vector<std::string>&, double, const std::function<void(const std::string& line)>&,
                 Apart*, std::string* error) {
  *error = "running a JVM is supported on Unix only";
  return false;
}

}  // namespace hprof::os
