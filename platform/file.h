// Files: output files that cannot be planted by others, plain reading, directories.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/clock.h"

namespace hprof::platform {

enum class FileKind : uint32_t {
  kRegular,  // can be positioned, written at an offset and synced
  kStream    // terminal, character device, FIFO, pipe or socket: append only
};

// An open file; a plain value, closed by file_close only.
struct File {
  intptr_t handle = -1;
  FileKind kind = FileKind::kRegular;
  bool is_open() const { return handle != -1; }
};

// The treatment of an existing file.
enum class Existing : uint32_t {
  kRefuse,      // kErrorExists, even if it is open elsewhere
  kTruncateOwn  // use it if it is a regular file of our own with a single link; else an error
};

// Opens `path` for output.
//
//  - A new file gets mode 0600 and is created exclusively, never through a symbolic link.
//  - An existing regular file: see Existing. Owner, type and link count are checked on the open descriptor;
//    then the mode becomes 0600, and only then is the file truncated. A refused file keeps its content and
//    mode.
//  - A regular file is locked (advisory) until file_close or the end of the process. A file that is open by
//    another call, in this process or another, is kErrorInUse. Without locks in the file system this check
//    is left out.
//  - A character device (/dev/null, a terminal) of our own or root's, and a FIFO of our own, are used as they
//    are under either policy: nothing is created or truncated. A FIFO needs a reader, waited for until
//    `deadline_ns` (kErrorNoReader).
//  - /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are copies of our own descriptors: not opened or
//    truncated, and with the same offset as the application's descriptor.
//  - Anything else (directory, socket, block device, symbolic link) is refused.
//  - Windows: "mode 0600" is an access list with our user alone, links are reparse points, and the devices
//    are NUL, CON and CONOUT$.
//
// Child processes do not inherit the descriptor. Links in the directories above are followed: keep the
// directory itself safe (is_secure_directory). [any]
int file_create(const char* path, Existing existing, File* file, int64_t deadline_ns = 0);

// Opens a regular file for reading; links are followed. [any]
int file_open(const char* path, File* file);

// Reads up to `size` bytes; 0 is the end of the file. [any]
int64_t file_read(File file, void* data, size_t size);

// Writes up to `size` bytes: returns a count from 1 to `size`, or an error. Interrupted writes are repeated.
// Never raises SIGPIPE or SIGXFSZ. A stream with a slow reader gets only what fits, and is waited for until
// the deadline (kErrorTimedOut). The deadline has no effect on regular files and on Windows. [any]
int64_t file_write(File file, const void* data, size_t size, int64_t deadline_ns = kNoDeadline);

// As file_write, at an offset from the start and without moving the file position. kRegular only. [any]
int64_t file_write_at(File file, const void* data, size_t size, int64_t offset);

// All of it or an error. [any]
int file_write_all(File file, const void* data, size_t size, int64_t deadline_ns = kNoDeadline);

int file_close(File* file);          // not open: nothing. A delayed write error is returned. [any]
bool file_is_terminal(File file);    // [any]
bool file_is_private(File file);     // ours or root's, and nobody else may read or write it [any]
File standard_output();              // not to be closed [any]
bool path_exists(const char* path);  // whatever it is; a dangling link exists [any]
int file_remove(const char* path);   // [any]
int file_rename(const char* from, const char* to);  // replaces `to` atomically where the OS can [any]

// Lets others read the open file: applies the read bits of `mode`, as in chmod, for group and others.
// Windows: does nothing. [any]
int file_share(File file, uint32_t mode);

// `path`, appended to the working directory unless it is absolute; links and dots are left in. Returns the
// length, 0 if it does not fit or the directory is gone. [any]
size_t absolute_path(const char* path, char* text, size_t size);
bool is_absolute_path(const char* path);  // [any]

// Calls `visit` for each name in the directory but "." and "..", in no order. [any]
using NameVisitor = bool (*)(void* context, const char* name);
int list_directory(const char* path, NameVisitor visit, void* context);

// True: `path` is a directory of this user or root in which nobody else can rename or remove this user's
// files: not writable for group and others, or sticky. Directories above are not checked. [any]
bool is_secure_directory(const char* path);

// True: nobody else can change or replace the file `path` (or the files of a directory), so its code may be
// run. `*real`: its path without links, to be loaded; nobody else can rename anything on it. The file, its
// directory and all directories above, up to the root directory, belong to us, to root, to the owner of the
// file `own` or to that of the root directory, and nobody else may write to them, except a group of the
// owner's own (with the owner's number) and, for directories of root, a system group (below 100, as Debian's
// staff). A directory may be sticky instead. The same holds for the directories of `path` as it is given.
// Windows: the file and its directory only. [any]
bool is_trusted_code(const char* path, const char* own, char* real, size_t size);

}  // namespace hprof::platform
