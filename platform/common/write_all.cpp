// Writes and sends until everything has been written.
#include "platform/file.h"
#include "platform/socket.h"

namespace hprof::platform {

int file_write_all(File file, const void* data, size_t size, int64_t deadline_ns) {
  const char* at = static_cast<const char*>(data);
  while (size) {
    const int64_t count = file_write(file, at, size, deadline_ns);
    if (count < 0) return static_cast<int>(-count);
    at += count;
    size -= static_cast<size_t>(count);
  }
  return 0;
}

int socket_send_all(Socket socket, const void* data, size_t size, int64_t deadline_ns) {
  const char* at = static_cast<const char*>(data);
  while (size) {
    const int64_t count = socket_send(socket, at, size, deadline_ns);
    if (count < 0) return static_cast<int>(-count);
    at += count;
    size -= static_cast<size_t>(count);
  }
  return 0;
}

}  // namespace hprof::platform
