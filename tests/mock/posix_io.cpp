// Files and sockets by plain system calls.
#include "tests/mock/posix_io.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace hprof {

namespace {

int64_t fail(char* error, uint32_t error_size) {
  if (error_size != 0) std::snprintf(error, error_size, "%s", std::strerror(errno));
  return -1;
}

bool ready(int handle, short events, uint64_t timeout_ns) {
  pollfd one = {handle, events, 0};
  return poll(&one, 1, static_cast<int>(timeout_ns / 1000000)) > 0;
}

int64_t create_file(const hprof_host*, const char* path, uint32_t replace, char* error, uint32_t error_size) {
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (replace != 0 ? O_TRUNC : O_EXCL);
  const int handle = open(path, flags, 0600);
  return handle >= 0 ? handle : fail(error, error_size);
}

int64_t connect_to(const hprof_host*, const char* address, uint64_t, char* error, uint32_t error_size) {
  const std::string text = address;
  const size_t colon = text.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(text.substr(colon + 1))));
  inet_pton(AF_INET, text.substr(0, colon).c_str(), &to.sin_addr);
  const int handle = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(handle, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
    fcntl(handle, F_SETFL, O_NONBLOCK);
    return handle;
  }
  const int64_t result = fail(error, error_size);
  close(handle);
  return result;
}

int64_t write_some(const hprof_host*, int64_t handle, const void* bytes, uint64_t size, uint64_t timeout_ns,
                   char* error, uint32_t error_size) {
  const int file = static_cast<int>(handle);
  if (!ready(file, POLLOUT, timeout_ns)) return 0;
  ssize_t wrote = send(file, bytes, size, MSG_NOSIGNAL);
  if (wrote < 0 && errno == ENOTSOCK) wrote = write(file, bytes, size);
  if (wrote < 0 && errno == EAGAIN) return 0;
  return wrote >= 0 ? wrote : fail(error, error_size);
}

int64_t read_some(const hprof_host*, int64_t handle, void* bytes, uint64_t size, uint64_t timeout_ns) {
  const int file = static_cast<int>(handle);
  if (!ready(file, POLLIN, timeout_ns)) return 0;
  const ssize_t got = read(file, bytes, size);
  return got > 0 ? got : -1;
}

int64_t close_handle(const hprof_host*, int64_t handle, char* error, uint32_t error_size) {
  return close(static_cast<int>(handle)) == 0 ? 0 : fail(error, error_size);
}

int64_t remove_file(const hprof_host*, const char* path) { return unlink(path); }

uint64_t process_id(const hprof_host*) { return static_cast<uint64_t>(getpid()); }

void timestamp(const hprof_host*, char* text, uint32_t text_size) {
  std::snprintf(text, text_size, "20260102030405");
}

}  // namespace

const hprof_io_service* posix_io_service() {
  static const hprof_io_service service = {sizeof(hprof_io_service),
                                           0,
                                           create_file,
                                           connect_to,
                                           write_some,
                                           read_some,
                                           close_handle,
                                           remove_file,
                                           process_id,
                                           timestamp,
                                           nullptr,
                                           nullptr};
  return &service;
}

}  // namespace hprof
