// The attach protocol of HotSpot on Linux, as the agent speaks it with its own VM and bin/hprof with
// another's.
//
// The VM listens on /tmp/.java_pid<pid> once it has seen a file .attach_pid<pid> of its own user on SIGQUIT.
// A request is five zero-terminated strings: version of the protocol, command, three arguments; the answer is
// a result code, a line feed and text until the VM closes. /tmp and <pid> are those of the VM's namespaces.
#pragma once

#include <initializer_list>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

namespace hprof::platform {

constexpr char kAttachSocket[] = ".java_pid", kAttachTrigger[] = ".attach_pid";  // and the process id
constexpr size_t kAttachArgumentMost = 1024;  // the VM's limit, with the NUL
constexpr size_t kAttachRequestMost = 16 + 3 * kAttachArgumentMost;

// Writes a request and returns its size; 0: an argument is too long, or the request does not fit.
inline size_t put_attach_request(char* to, size_t size, const char* command,
                                 std::initializer_list<const char*> three) {
  size_t at = static_cast<size_t>(snprintf(to, size, "1%c%s", 0, command)) + 1;
  for (const char* argument : three) {
    const size_t length = strlen(argument) + 1;
    if (length > kAttachArgumentMost || at + length > size) return 0;
    memcpy(to + at, argument, length);
    at += length;
  }
  return at;
}

}  // namespace hprof::platform
