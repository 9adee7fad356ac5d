// Error texts.
#include "platform/error.h"

#include <cstdint>
#include <netdb.h>
#include <string.h>

namespace hprof::platform {
namespace {

// strerror_r has two shapes: XSI returns int and fills the buffer, GNU returns the text. One of these is
// unused.
[[maybe_unused]] const char* chosen_text(int failed, const char* buffer) {
  return failed ? "unknown error" : buffer;
}
[[maybe_unused]] const char* chosen_text(const char* text, const char*) { return text; }

const char* own_text(int code) {
  switch (code) {
    case 0:
      return "no error";
    case kErrorTimedOut:
      return "timed out";
    case kErrorUnsupported:
      return "not supported on this system";
    case kErrorExists:
      return "exists already";
    case kErrorSymbolicLink:
      return "is a symbolic link";
    case kErrorNotOwned:
      return "belongs to another user";
    case kErrorManyLinks:
      return "has other hard links";
    case kErrorNotUsable:
      return "is not a kind of file that can be used here";
    case kErrorUnsafeDirectory:
      return "is in a directory where other users can replace it";
    case kErrorNoReader:
      return "is a FIFO that nobody reads";
    case kErrorBadAddress:
      return "is not a usable address (host:port, [IPv6]:port)";
    case kErrorInUse:
      return "is in use";
    case kErrorClosed:
      return "closed by the other end";
    case kErrorNoMemory:
      return "out of memory";
    default:
      return nullptr;
  }
}

}  // namespace

size_t error_text(int code, char* text, size_t size) {
  if (!size) return 0;
  char buffer[256] = "";
  const char* from = own_text(code);
  if (!from && code > kErrorUnknownHost) {
    // The resolver's numbers are negative on some systems (glibc, musl) and positive on others.
    const int number = code - kErrorUnknownHost;
    from = gai_strerror(EAI_NONAME < 0 ? -number : number);
  } else if (!from) {
    from = chosen_text(strerror_r(code, buffer, sizeof buffer), buffer);
  }
  size_t length = strlen(from);
  if (length >= size) length = size - 1;
  memcpy(text, from, length);
  text[length] = 0;
  return length;
}

}  // namespace hprof::platform
