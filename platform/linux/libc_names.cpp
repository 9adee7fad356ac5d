// Names that headers of glibc put in the place of standard functions, and that musl does not have: a library
// that was built with the one runs with the other. Compiled without _FILE_OFFSET_BITS, which is what brings
// such a name about.
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
