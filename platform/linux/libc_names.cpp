// Names that glibc's headers substitute for standard functions and that musl does not have, so that a library
// built with glibc runs with musl. Compiled without _FILE_OFFSET_BITS, which causes the substitution.
#include <fcntl.h>
#include <stdarg.h>

#ifdef __GLIBC__

// Only commands with an int or a pointer as argument are used, and no record locks, whose structure differs.
extern "C" int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(file, command, argument);
}

#endif
