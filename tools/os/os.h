// The operating system for the front end, bin/hprof: platform.h with types of the C++ library, and functions
// that the agent does not need, such as running programs. attach.h reaches a VM.
//
// Only tools/ and its tests include this; nothing of it becomes part of the agent. Thread: any, but the front
// end has one. Errors are texts in `*error`, ready to be printed after "hprof: ". Handles are descriptors
// (Windows: handles of the system, which fit), -1 = none; 0, 1 and 2 are the standard streams everywhere.
// Paths that are returned have '/' between their parts, on Windows, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hprof::os {

// Opens a file for reading.
int open_for_reading(const std::string& path, std::string* error);
// Opens a file of mode 0600 for writing, by the rules of platform::file_create(): never through a symbolic
// link; with `overwrite` a regular file of this user is emptied.
int create_private_file(const std::string& path, bool overwrite, std::string* error);
// Opens a nameless file of mode 0600 in `folder` ("" = $TMPDIR or /tmp) for reading and writing.
int create_temporary(const std::string& folder, std::string* error);
// Returns the bytes read, 0 at the end, -1 on an error.
long read_some(int file, void* to, size_t size, std::string* error);
bool write_all(int file, const void* from, size_t size, std::string* error);
// False: the file cannot be positioned.
bool seek_to(int file, uint64_t offset);
// Size of a regular file in bytes; UINT64_MAX: it has none (a pipe).
uint64_t file_size(int file);
void close_file(int file);
bool is_terminal(int file);
bool file_exists(const std::string& path);
bool remove_file(const std::string& path);
bool rename_file(const std::string& from, const std::string& to, std::string* error);  // replaces `to`
// True: it belongs to this user or root, and nobody else may read or write it.
bool file_is_private(int file);
// Time of the last change in nanoseconds since 1970; 0: unknown.
uint64_t file_changed(int file);
// The names in a folder, in no order; empty: it cannot be read.
std::vector<std::string> names_in_folder(const std::string& path);
std::string working_folder();
// Absolute and without symbolic links; empty with *error: it does not exist.
std::string absolute_path(const std::string& path, std::string* error);

double monotonic_seconds();

// Reserves `size` bytes of address space that read as 0 and take memory when touched. Null: none is left.
void* map_memory(size_t size);
// As map_memory(), backed by a nameless file in `folder` ("" = $TMPDIR or /tmp), so that the system can move
// it out of RAM. Takes the disk space now. Null with *error.
void* map_temporary(size_t size, const std::string& folder, std::string* error);
// Maps the first `size` bytes of a file, read-only. Null with *error.
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
// Makes a listening TCP socket; *port is in and out, 0 = any free one.
int listen_tcp(const std::string& host, uint16_t* port, std::string* error);
int accept_peer(int listener, std::string* error);
// Returns the bytes received, 0: the peer has sent all, -1: an error or a time-out.
long receive_some(int socket, void* to, size_t size, double seconds, std::string* error);
bool send_all(int socket, const void* from, size_t size, double seconds, std::string* error);
void close_socket(int socket);

// Waits until one of the handles (-1 entries are ignored) can be read, at most `milliseconds` (-1: for ever).
// Returns the index of one, -1: time-out, -2: a signal to stop.
int wait_readable(const std::vector<int>& handles, int milliseconds);
// From now on SIGINT and SIGTERM make wait_readable() return -2.
void stop_on_signals();
// Acknowledges the signal to stop; the next one counts again.
void forget_stop();

// The system's handle for a handle of this header, for platform.h.
intptr_t native_handle(int handle);
// A program's name without its folder, on Windows also without ".exe".
std::string program_name(const std::string& path);
// The suffix of this system's shared libraries: ".so".
extern const char* const kLibrarySuffix;
// File name of the agent: "libhprof.so".
extern const char* const kAgentName;
// Absolute path of the running program; empty: not known.
std::string program_path();
std::string environment(const char* name);
void set_environment(const char* name, const std::string& value);
// Shows a file with the desktop's program for it, in the background: xdg-open, macOS open, Windows by
// extension. False with *error: no display, or no such program.
bool open_on_desktop(const std::string& path, std::string* error);
// Replaces this process; Windows: runs the program, and ends with its exit code. Returns only on an error.
void exec_program(const std::vector<std::string>& arguments, std::string* error);

}  // namespace hprof::os
