// This process: ids, environment, terminal.
#include "platform/process.h"

#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "platform/posix/port.h"

namespace hprof::platform {
namespace {

void (*exit_handler)(bool alone);
pid_t exit_process;

}  // namespace

// A forked child has the handler, but none of the threads that it may wait for.
void at_exit(void (*handler)(bool alone)) {
  exit_handler = handler;
  exit_process = getpid();
  atexit([] {
    if (getpid() == exit_process) exit_handler(false);
  });
}

uint32_t process_id() { return static_cast<uint32_t>(getpid()); }

size_t host_name(char* text, size_t size) {
  if (size == 0 || gethostname(text, size) != 0) return 0;
  text[size - 1] = '\0';  // a name that is cut may lack it
  const size_t length = strlen(text);
  return length < size - 1 ? length : 0;
}

const char* environment(const char* name) { return trusted_environment(name); }

int random_bytes(void* data, size_t size) { return read_first("/dev/urandom", data, size); }

int read_first(const char* path, void* data, size_t size) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return errno;
  char* at = static_cast<char*>(data);
  int error = 0;
  while (size && !error) {
    const ssize_t count = read(descriptor, at, size);
    if (count > 0) {
      at += count;
      size -= static_cast<size_t>(count);
    } else if (count == 0) {
      error = EIO;
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  close(descriptor);
  return error;
}

}  // namespace hprof::platform
