#include "platform/common/error.h"

#include "platform/error.h"

namespace hprof::platform {

const char* own_error_text(int code) {
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
      return "is not a regular file";
    case kErrorUnsafeDirectory:
      return "is below a directory where other users can replace it";
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

}  // namespace hprof::platform
