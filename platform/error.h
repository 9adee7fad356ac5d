// Error codes: the OS's own positive numbers (errno, GetLastError) and, above them, codes for errors without
// an OS number, and for those that callers must distinguish on every OS.
#pragma once

#include <cstddef>

namespace hprof::platform {

constexpr int kErrorTimedOut = 0x10000;         // the deadline passed
constexpr int kErrorUnsupported = 0x10001;      // this OS does not have it
constexpr int kErrorExists = 0x10002;           // the file exists
constexpr int kErrorSymbolicLink = 0x10003;     // the path ends in a symbolic link (or reparse point)
constexpr int kErrorNotOwned = 0x10004;         // the file belongs to another user
constexpr int kErrorManyLinks = 0x10005;        // the file has other names (hard links)
constexpr int kErrorNotUsable = 0x10006;        // not a regular file, terminal, character device or FIFO
constexpr int kErrorUnsafeDirectory = 0x10007;  // others may replace files in the directory
constexpr int kErrorNoReader = 0x10008;         // nobody has the FIFO open for reading
constexpr int kErrorBadAddress = 0x10009;       // not host:port, or a name too long
constexpr int kErrorInUse = 0x1000a;            // somebody listens there, or writes that file
constexpr int kErrorClosed = 0x1000b;           // the peer closed the connection
constexpr int kErrorNoMemory = 0x1000c;         // out of memory or of preallocated slots
constexpr int kErrorUnknownHost = 0x20000;  // 0x20000..0x2ffff: the resolver's own number is in the low bits

// Writes the text of `code` (0 is "no error") to `text` and returns its length. The text is the OS's, in the
// locale of the process. [any]
size_t error_text(int code, char* text, size_t size);

}  // namespace hprof::platform
