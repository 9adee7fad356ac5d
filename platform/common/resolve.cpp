// Resolves host names, with a deadline.
//
// getaddrinfo has none and may wait for minutes. So names (not numbers) are looked up on a thread of their
// own, which is abandoned at the deadline; the last user frees the request.
#include "platform/common/resolve.h"

#include <errno.h>
#include <new>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/thread.h"

namespace hprof::platform {
namespace {

struct Request {
  Address address;
  addrinfo* found;
  int error;
  Event done;
  std::atomic<int> holders;
};

void let_go(Request* request) {
  if (request->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (request->found) freeaddrinfo(request->found);
  request->~Request();
  deallocate(request);
}

int look_up(const Address& address, int flags, addrinfo** found) {
  addrinfo hints;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int result = getaddrinfo(address.host[0] ? address.host : nullptr, address.port, &hints, found);
  if (result == 0) return 0;
  *found = nullptr;
#if defined(EAI_SYSTEM)
  if (result == EAI_SYSTEM) return last_socket_error();
#endif
  if (result == EAI_MEMORY) return kErrorNoMemory;
  return kErrorUnknownHost + (result < 0 ? -result : result);
}

void run_request(void* argument) {
  Request* request = static_cast<Request*>(argument);
  request->error = look_up(request->address, 0, &request->found);
  request->done.signal();
  let_go(request);
}

}  // namespace

int resolve_by(const Address& address, int64_t deadline_ns, addrinfo** found) {
  const int unready = start_sockets();
  if (unready) return unready;
  if (look_up(address, AI_NUMERICHOST, found) == 0) return 0;
  void* memory = allocate_zeroed(sizeof(Request));
  if (!memory) return kErrorNoMemory;
  Request* request = new (memory) Request();
  request->address = address;
  request->holders.store(2, std::memory_order_relaxed);
  Thread thread;
  int error = thread.start("hprof resolver", 256 * 1024, run_request, request);
  if (error) {
    request->holders.store(1, std::memory_order_relaxed);
    let_go(request);
    return error;
  }
  thread.detach();
  error = kErrorTimedOut;
  if (request->done.wait(deadline_ns)) {
    error = request->error;
    *found = request->found;
    request->found = nullptr;
  }
  let_go(request);
  return error;
}

}  // namespace hprof::platform
