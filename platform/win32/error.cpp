// Error texts.
#include "platform/error.h"

#include "platform/common/error.h"
#include "platform/common/text.h"
#include "platform/win32/wait.h"

namespace hprof::platform {

size_t error_text(int code, char* text, size_t size) {
  if (!size) return 0;
  const char* own = own_error_text(code);
  if (own) return copy_text(own, text, size);
  // The resolver uses the system's error numbers.
  const int number = code > kErrorUnknownHost ? code - kErrorUnknownHost : code;
  char buffer[512];
  DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                static_cast<DWORD>(number), 0, buffer, sizeof buffer, nullptr);
  while (length && (buffer[length - 1] == '\n' || buffer[length - 1] == '\r' || buffer[length - 1] == '.'))
    --length;
  if (!length) return copy_text("unknown error", text, size);
  buffer[length] = 0;
  return copy_text(buffer, text, size);
}

}  // namespace hprof::platform
