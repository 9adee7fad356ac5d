/* Preloaded into a VM: counts what the agent's library asks the C library and the system for. Prints one line
 * at the end of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void* __libc_calloc(size_t count, size_t size);

static atomic_ulong calls, bytes;
static _Thread_local int inside;

static void note(const void* caller, size_t size) {
  Dl_info info;
  if (inside) return;
  inside = 1;
  if (dladdr(caller, &info) && info.dli_fname != NULL && strstr(info.dli_fname, "libhprof.so") != NULL) {
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&bytes, size);
  }
  inside = 0;
}

void* calloc(size_t count, size_t size) {
  note(__builtin_return_address(0), count * size);
  return __libc_calloc(count, size);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  static void* (*next)(void*, size_t, int, int, int, off64_t);
  if (next == NULL) next = (void* (*)(void*, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64");
  note(__builtin_return_address(0), size);
  return next(address, size, protection, flags, file, offset);
}

__attribute__((destructor)) static void report(void) {
  fprintf(stderr, "agent memory: %lu calls, %lu bytes\n", calls, bytes);
}
