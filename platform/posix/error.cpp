// Error texts.
#include "platform/error.h"

#include <netdb.h>
#include <string.h>

#include "platform/common/error.h"
#include "platform/common/text.h"

namespace hprof::platform {
namespace {

// strerror_r has two shapes: XSI returns int and fills the buffer, GNU returns the text.
[[maybe_unused]] const char* chosen_text(int failed, const char* buffer) {
  return failed ? "unknown error" : buffer;
}
[[maybe_unused]] const char* chosen_text(const char* text, const char*) { return text; }

}  // namespace

size_t error_text(int code, char* text, size_t size) {
  if (!size) return 0;
  char buffer[256] = "";
  const char* from = own_error_text(code);
  if (!from && code > kErrorUnknownHost) {
    // The resolver's numbers are negative on some systems (glibc, musl) and positive on others.
    const int number = code - kErrorUnknownHost;
    from = gai_strerror(EAI_NONAME < 0 ? -number : number);
  } else if (!from) {
    from = chosen_text(strerror_r(code, buffer, sizeof buffer), buffer);
  }
  return copy_text(from, text, size);
}

}  // namespace hprof::platform
