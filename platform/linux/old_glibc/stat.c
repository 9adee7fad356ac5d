// stat(), lstat(), fstat() and fstatat(): functions of the library since glibc 2.33; before, each program had
// its own, around these. Both structures are the same on 64 bits.
#define _GNU_SOURCE
#include <sys/stat.h>

enum { kVersion = 1 };  // of struct stat on x86_64 (glibc's sysdeps/unix/sysv/linux/x86/bits/xstatver.h)

int __xstat64(int version, const char* path, struct stat64* found);
int __lxstat64(int version, const char* path, struct stat64* found);
int __fxstat64(int version, int file, struct stat64* found);
int __fxstatat64(int version, int folder, const char* path, struct stat64* found, int flags);

int stat64(const char* path, struct stat64* found) { return __xstat64(kVersion, path, found); }
int lstat64(const char* path, struct stat64* found) { return __lxstat64(kVersion, path, found); }
int fstat64(int file, struct stat64* found) { return __fxstat64(kVersion, file, found); }
int fstatat64(int folder, const char* path, struct stat64* found, int flags) {
  return __fxstatat64(kVersion, folder, path, found, flags);
}
int stat(const char* path, struct stat* found) { return __xstat64(kVersion, path, (struct stat64*)found); }
int lstat(const char* path, struct stat* found) { return __lxstat64(kVersion, path, (struct stat64*)found); }
int fstat(int file, struct stat* found) { return __fxstat64(kVersion, file, (struct stat64*)found); }
int fstatat(int folder, const char* path, struct stat* found, int flags) {
  return __fxstatat64(kVersion, folder, path, (struct stat64*)found, flags);
}
