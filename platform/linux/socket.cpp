// The user of a local socket's peer.
#include <errno.h>
#include <sys/socket.h>

#include "platform/posix/port.h"

namespace hprof::platform {

int peer_user(int descriptor, uint32_t* user) {
  ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
  *user = static_cast<uint32_t>(credentials.uid);
  return 0;
}

}  // namespace hprof::platform
