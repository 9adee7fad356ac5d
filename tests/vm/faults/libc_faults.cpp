// The C library: this library is preloaded, so these come before its own.
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "tests/vm/faults/decide.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
}

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

bool fails(const char* name, const void* caller, int error) {
  if (!faults::is_agents(caller) || !faults::fails(name, caller)) return false;
  errno = error;
  return true;
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define NEXT(function) static auto* const real = next<decltype(function)>(#function)

extern "C" {

void* malloc(size_t size) { return fails("libc.malloc", CALLER, ENOMEM) ? nullptr : __libc_malloc(size); }

void* calloc(size_t count, size_t size) {
  return fails("libc.calloc", CALLER, ENOMEM) ? nullptr : __libc_calloc(count, size);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  if (fails("libc.mmap", CALLER, ENOMEM)) return MAP_FAILED;
  return real(address, size, protection, flags, file, offset);
}

int open64(const char* path, int flags, ...) {
  NEXT(open64);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return fails("libc.open", CALLER, EMFILE) ? -1 : real(path, flags, mode);
}

ssize_t write(int file, const void* bytes, size_t size) {
  NEXT(write);
  return fails("libc.write", CALLER, ENOSPC) ? -1 : real(file, bytes, size);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  NEXT(pwrite64);
  return fails("libc.pwrite", CALLER, ENOSPC) ? -1 : real(file, bytes, size, offset);
}

ssize_t read(int file, void* bytes, size_t size) {
  NEXT(read);
  return fails("libc.read", CALLER, EIO) ? -1 : real(file, bytes, size);
}

ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  NEXT(send);
  return fails("libc.send", CALLER, ECONNRESET) ? -1 : real(socket, bytes, size, flags);
}

ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  NEXT(recv);
  return fails("libc.recv", CALLER, ECONNRESET) ? -1 : real(socket, bytes, size, flags);
}

int socket(int domain, int type, int protocol) {
  NEXT(socket);
  return fails("libc.socket", CALLER, EMFILE) ? -1 : real(domain, type, protocol);
}

int rename(const char* from, const char* to) noexcept {
  NEXT(rename);
  return fails("libc.rename", CALLER, EACCES) ? -1 : real(from, to);
}

int pipe2(int files[2], int flags) noexcept {
  NEXT(pipe2);
  return fails("libc.pipe2", CALLER, EMFILE) ? -1 : real(files, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  NEXT(pthread_create);
  return fails("libc.pthread_create", CALLER, EAGAIN) ? EAGAIN : real(thread, attributes, body, argument);
}

int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  NEXT(sigaction);
  return fails("libc.sigaction", CALLER, EINVAL) ? -1 : real(number, action, before);
}

// Timers are made by the system call itself.
long syscall(long number, ...) noexcept {
  NEXT(syscall);
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a) argument = va_arg(rest, long);
  va_end(rest);
  const char* name = number == SYS_timer_create    ? "libc.timer_create"
                     : number == SYS_timer_settime ? "libc.timer_settime"
                                                   : nullptr;
  if (name != nullptr && fails(name, CALLER, EAGAIN)) return -1;
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void* dlopen(const char* path, int mode) noexcept {
  NEXT(dlopen);
  bool failing = fails("libc.dlopen", CALLER, 0);
  // So that dlerror() has something to say, as it would.
  void* library = real(failing ? "/nonexistent/injected.so" : path, mode);
  faults::libraries_changed();
  return library;
}

}  // extern "C"
