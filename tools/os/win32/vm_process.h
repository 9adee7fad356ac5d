// A process that may be a Java VM, as others of Windows see it.
#pragma once

#include <string>

#include "platform/win32/wait.h"

namespace hprof::os {

// A handle that is closed.
class Owned {
 public:
  explicit Owned(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  ~Owned() {
    if (handle_ != nullptr) CloseHandle(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  HANDLE handle_;
};

struct Library {
  std::string path;
  unsigned char* base = nullptr;  // in the other process
};

std::string process_name(int pid);
// The message of the last error.
std::string last_text();
// Its jvm.dll and its agent; without a path: it has none. False with *error: the process cannot be looked
// into.
bool libraries(int pid, Library* vm, Library* agent, std::string* error);

}  // namespace hprof::os
