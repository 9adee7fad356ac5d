// The methods of the JDK that read and write files and sockets: for each call of the program the outermost
// one that knows how many bytes were moved, so that no call is counted twice.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::io_calls {

enum Operation : uint32_t {
  kFileRead,
  kFileWrite,
  kSocketRead,
  kSocketWrite,
};
constexpr const char* kOperations[] = {"file read", "file write", "socket read", "socket write"};

// How many bytes a call has moved.
enum class Bytes : uint32_t {
  kResult,      // the result, if it is positive
  kByte,        // one, if the result is not negative
  kOne,         // one
  kLast,        // the last number among the arguments
  kArray,       // the length of the first argument, an array of bytes
  kString,      // the length of the first argument, a String
  kChars,       // twice that
  kTransferTo,  // the result; the first argument, a channel, was written that much
  kTransferred  // the result; the first argument, a file's channel, was read that much
};

struct Hook {
  const char* owner;  // a class
  const char* method;
  const char* type;  // as in class files; null: all methods of that name
  Operation operation;
  Bytes bytes;
};

// The patterns of all hooks (hprof_probe_user.include). [onload]
const char* hook_patterns();
// The number of a method's hook, from 1; 0: it has none. [app]
uint32_t hook_number(const Services& services, hprof_method_id method);
// The hook of a number; null: there is none.
const Hook* hook_of(uint32_t number);

}  // namespace hprof::io_calls
