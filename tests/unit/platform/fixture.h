// What several platform tests need: a folder of their own, CPU time to be used up, and a tick of a timer
// without waiting for it.
#pragma once

#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/platform.h"

namespace hprof::platform {

// A folder of mode 0700 that goes away with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hprof-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string in(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void put_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// Uses that much CPU time on this thread.
inline void burn_cpu(int64_t nanoseconds) {
  const int64_t end = thread_cpu_ns() + nanoseconds;
  volatile unsigned sink = 0;
  while (thread_cpu_ns() < end) {
    for (unsigned i = 0; i < 2000; ++i) sink = sink + i;
  }
}

// The file mode mask for a scope.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  ~Umask() { umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

// Sends the calling thread the signal that the timer would send it; it has been handled when this returns.
inline int send_tick(const CpuTimer& timer) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGPROF;
  info.si_code = SI_TIMER;
  info.si_timerid = static_cast<int>(timer.id);
  info.si_value.sival_ptr = reinterpret_cast<void*>(uintptr_t{timer.place});
  return static_cast<int>(
      syscall(SYS_rt_tgsigqueueinfo, getpid(), static_cast<int>(current_thread_id()), SIGPROF, &info));
}

}  // namespace hprof::platform
