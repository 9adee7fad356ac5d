// Symbols of newer glibcs that the compiler's static libraries reference and can do without.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc 2.35: libgcc's unwinder calls this first, then dl_iterate_phdr().
int _dl_find_object(void* address, void* found);
int _dl_find_object(void* address, void* found) {
  (void)address;
  (void)found;
  return -1;
}

// glibc 2.32: libstdc++ leaves out atomic operations while this is not 0.
char __libc_single_threaded = 0;

// glibc 2.25 and 2.36: libstdc++'s std::random_device may use one of these.
int getentropy(void* bytes, size_t size);
int getentropy(void* bytes, size_t size) {
  return syscall(SYS_getrandom, bytes, size, 0) == (long)size ? 0 : -1;
}

unsigned int arc4random(void);
unsigned int arc4random(void) {
  unsigned int number;
  if (getentropy(&number, sizeof number) == 0) return number;
  // For kernels before 3.17.
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, &number, sizeof number) != (ssize_t)sizeof number) abort();
  close(file);
  return number;
}
