// Files, sockets and processes for the front end, on POSIX systems.
#include "platform/tool_os.h"

#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

extern char** environ;

namespace hprof::os {

namespace {

volatile sig_atomic_t stop_requested = 0;
void request_stop(int) { stop_requested = 1; }

std::string reason() { return std::strerror(errno); }

void close_on_exec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

void set_timeouts(int fd, unsigned seconds) {
  if (seconds == 0) return;
  timeval limit{static_cast<time_t>(seconds), 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

int open_for_reading(const std::string& path, std::string* error) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    *error = path + ": " + reason();
    return -1;
  }
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    *error = path + " is a folder";
    close(fd);
    return -1;
  }
  return fd;
}

int create_private_file(const std::string& path, bool overwrite, std::string* error) {
  int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (overwrite ? 0 : O_EXCL);
  int fd = open(path.c_str(), flags, 0600);
  if (fd < 0) {
    *error = path + ": " + reason();
    return -1;
  }
  // Truncated only now that it is known to be a plain file of ours: a pipe or a device is written to as it
  // is.
  struct stat info {};
  if (fstat(fd, &info) != 0 || (S_ISREG(info.st_mode) && ftruncate(fd, 0) != 0)) {
    *error = path + ": " + reason();
    close(fd);
    return -1;
  }
  return fd;
}

long read_some(int fd, void* to, size_t size, std::string* error) {
  for (;;) {
    ssize_t count = read(fd, to, size);
    if (count >= 0) return static_cast<long>(count);
    if (errno == EINTR && stop_requested == 0) continue;
    *error = errno == EAGAIN || errno == EWOULDBLOCK ? "no answer in time" : reason();
    return -1;
  }
}

bool write_all(int fd, const void* from, size_t size, std::string* error) {
  auto* at = static_cast<const char*>(from);
  while (size > 0) {
    ssize_t count = write(fd, at, size);
    if (count < 0 && errno == EINTR && stop_requested == 0) continue;
    if (count < 0) {
      *error = errno == EAGAIN || errno == EWOULDBLOCK ? "the peer takes no data" : reason();
      return false;
    }
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool seek_to(int fd, uint64_t offset) { return lseek(fd, static_cast<off_t>(offset), SEEK_SET) >= 0; }

uint64_t file_size(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return UINT64_MAX;
  return static_cast<uint64_t>(info.st_size);
}

void close_fd(int fd) {
  if (fd >= 0) close(fd);
}

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

bool is_terminal(int fd) { return isatty(fd) == 1; }

int connect_tcp(const std::string& host, const std::string& port, unsigned seconds, std::string* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (code != 0) {
    *error = host + ":" + port + ": " + gai_strerror(code);
    return -1;
  }
  int fd = -1;
  for (addrinfo* at = list; at != nullptr && fd < 0; at = at->ai_next) {
    fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    if (fd < 0) continue;
    close_on_exec(fd);
    set_timeouts(fd, seconds);
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
      *error = host + ":" + port + ": " + reason();
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(list);
  return fd;
}

int connect_unix(const std::string& path, unsigned seconds, std::string* error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    *error = path + " is too long for a socket";
    return -1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0) {
    close_on_exec(fd);
    set_timeouts(fd, seconds);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  }
  *error = path + ": " + reason();
  close_fd(fd);
  return -1;
}

int listen_tcp(const std::string& host, uint16_t* port, std::string* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  std::string service = std::to_string(*port);
  int code = getaddrinfo(host.c_str(), service.c_str(), &hints, &list);
  if (code != 0) {
    *error = host + ": " + gai_strerror(code);
    return -1;
  }
  int fd = -1;
  for (addrinfo* at = list; at != nullptr && fd < 0; at = at->ai_next) {
    fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    if (fd < 0) continue;
    close_on_exec(fd);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 8) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
      *error = host + ":" + service + ": " + reason();
      close(fd);
      fd = -1;
      continue;
    }
    *port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  }
  freeaddrinfo(list);
  return fd;
}

int accept_peer(int listener, std::string* peer, std::string* error) {
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  int fd = accept(listener, reinterpret_cast<sockaddr*>(&from), &length);
  if (fd < 0) {
    *error = reason();
    return -1;
  }
  close_on_exec(fd);
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char host[NI_MAXHOST] = "?", service[NI_MAXSERV] = "?";
  getnameinfo(reinterpret_cast<sockaddr*>(&from), length, host, sizeof host, service, sizeof service,
              NI_NUMERICHOST | NI_NUMERICSERV);
  *peer = std::string(host) + ":" + service;
  return fd;
}

int wait_readable(const std::vector<int>& fds, int milliseconds) {
  std::vector<pollfd> waits;
  for (int fd : fds) waits.push_back({fd, POLLIN, 0});
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
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

std::string program_path() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) length = readlink("/proc/self/path/a.out", path, sizeof path);
  return length <= 0 || length >= static_cast<ssize_t>(sizeof path)
             ? std::string()
             : std::string(path, static_cast<size_t>(length));
}

bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string absolute_path(const std::string& path, std::string* error) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr) return resolved;
  *error = path + ": " + reason();
  return {};
}

unsigned effective_user() { return geteuid(); }

void exec_program(const std::vector<std::string>& arguments, std::string* error) {
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  execvp(list[0], list.data());
  *error = arguments[0] + ": " + reason();
}

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void set_environment(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

}  // namespace hprof::os
