// What the front end bin/hprof needs from the operating system: platform.h with types of the C++ library, and
// functions that no agent needs, such as running programs. Attaching to a VM is in attach.h.
//
// Only tools/ and its tests include this; nothing of it becomes part of the agent. Thread: any, but the
// front end has one. Errors are texts in `*error`, ready to be printed after "hprof: ". Handles are
// descriptors (Windows: handles of the system, which fit), -1 = none; 0, 1 and 2 are the standard streams
// everywhere. Paths that are returned have '/' between their parts, on Windows, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hprof::os {

// A file opened for reading.
int open_for_reading(const std::string& path, std::string* error);
// A file of mode 0600 opened for writing, by the rules of platform::file_create(): never through a symbolic
// link, and with `overwrite` a regular file of our own is emptied.
int create_private_file(const std::string& path, bool overwrite, std::string* error);
// Bytes read, 0 at the end, -1 on an error.
long read_some(int file, void* to, size_t size, std::string* error);
bool write_all(int file, const void* from, size_t size, std::string* error);
// False when the file cannot be positioned.
bool seek_to(int file, uint64_t offset);
// Size of a regular file in bytes; UINT64_MAX when it has none (a pipe).
uint64_t file_size(int file);
void close_file(int file);
bool is_terminal(int file);
bool file_exists(const std::string& path);
bool remove_file(const std::string& path);
// Ours or root's, and nobody else may read or write it.
bool file_is_private(int file);
// Time of the last change, in nanoseconds since 1970; 0 = unknown.
uint64_t file_changed(int file);
// Names of what is in a folder, in no order; none when it cannot be read.
std::vector<std::string> names_in_folder(const std::string& path);
std::string working_folder();
// Absolute and without symbolic links; empty with *error when it does not exist.
std::string absolute_path(const std::string& path, std::string* error);

double monotonic_seconds();

// Address space of `size` bytes that reads as 0 and becomes memory as it is touched. Null: none is left.
void* map_memory(size_t size);
// The same, held by a nameless file in `folder` ("" = $TMPDIR or /tmp), so that the system can move it out of
// RAM. The space on the disk is taken now. Null with *error.
void* map_temporary(size_t size, const std::string& folder, std::string* error);
// The first `size` bytes of a file, to be read only. Null with *error.
const void* map_file(int file, size_t size, std::string* error);
void unmap(const void* region, size_t size);
// Drops whole pages inside the region from this process; the contents of map_memory() are lost, those of
// files stay.
void drop_pages(void* region, size_t size);
// Bounds the memory that this process takes from now on; allocations beyond it fail. 0: no bound any more.
// Linux only, elsewhere it does nothing.
void bound_memory(uint64_t bytes);
uint64_t resident_bytes();   // of this process in RAM; 0 = unknown
uint64_t physical_memory();  // bytes of RAM that this process may use; 0 = unknown

// Sockets. `seconds` bounds one call; a negative value counts as 0.
int connect_tcp(const std::string& host, const std::string& port, double seconds, std::string* error);
int connect_local(const std::string& path, double seconds, std::string* error);
// A listening TCP socket; *port is in and out, 0 = any free one.
int listen_tcp(const std::string& host, uint16_t* port, std::string* error);
int accept_peer(int listener, std::string* error);
// Bytes received, 0 when the peer has sent all, -1 on an error or a time-out.
long receive_some(int socket, void* to, size_t size, double seconds, std::string* error);
bool send_all(int socket, const void* from, size_t size, double seconds, std::string* error);
void close_socket(int socket);

// Waits until one of the handles (-1 entries are ignored) can be read, at most `milliseconds` (-1: for ever).
// Returns the index of one, -1 on a time-out, -2 when a signal asked to stop.
int wait_readable(const std::vector<int>& handles, int milliseconds);
// From here on SIGINT and SIGTERM make wait_readable() return -2.
void stop_on_signals();
// Acknowledges the signal that asked to stop; the next one counts again.
void forget_stop();

// The system's handle behind a handle of this header, for platform.h.
intptr_t native_handle(int handle);
// Name of a program without its folder; Windows: and without ".exe".
std::string program_name(const std::string& path);
// The suffix of this system's shared libraries: ".so".
extern const char* const kLibrarySuffix;
// File name of the agent: "libhprof.so".
extern const char* const kAgentName;
// Absolute path of the running program; empty when the system does not say.
std::string program_path();
std::string environment(const char* name);
void set_environment(const char* name, const std::string& value);
// Shows a file with the desktop's program for it, in the background: xdg-open, on macOS open, on Windows the
// one of its extension. False with *error where there is no display or no such program.
bool open_on_desktop(const std::string& path, std::string* error);
// Replaces this process; Windows: runs the program, and ends with its exit code. Returns only on an error.
void exec_program(const std::vector<std::string>& arguments, std::string* error);

}  // namespace hprof::os
