// What the front end bin/hprof needs of the operating system: files, sockets, processes and the terminal.
//
// Only the front end uses this header; it never becomes part of the agent. All functions are [any] thread,
// but the front end has one thread. Errors are returned as text in `*error` (empty when there was none) and
// are ready to be printed after "hprof: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hprof::os {

// A file opened for reading. -1 = not open.
int open_for_reading(const std::string& path, std::string* error);

// A file opened for writing, mode 0600, not through a symbolic link; an existing regular file is truncated
// only with `overwrite`.
int create_private_file(const std::string& path, bool overwrite, std::string* error);

// Bytes read, 0 at the end, -1 on an error (then *error). Interrupted calls are repeated.
long read_some(int fd, void* to, size_t size, std::string* error);
// All of it or false.
bool write_all(int fd, const void* from, size_t size, std::string* error);
bool seek_to(int fd, uint64_t offset);
// Size of a regular file in bytes; UINT64_MAX when it has none (a pipe).
uint64_t file_size(int fd);
void close_fd(int fd);

// The number of seconds since an arbitrary start, monotonic.
double monotonic_seconds();
bool is_terminal(int fd);

// A TCP connection. `seconds` bounds the connect and each later read and write; 0 = no bound.
int connect_tcp(const std::string& host, const std::string& port, unsigned seconds, std::string* error);
int connect_unix(const std::string& path, unsigned seconds, std::string* error);
// A listening TCP socket on `host` (numeric or name); *port is in/out, 0 = any free one.
int listen_tcp(const std::string& host, uint16_t* port, std::string* error);
// The next peer; *peer is its address as text.
int accept_peer(int listener, std::string* peer, std::string* error);

// Waits until one of `fds` (-1 entries are ignored) can be read. Returns the index of one, -1 on a time-out,
// -2 when a signal asked to stop.
int wait_readable(const std::vector<int>& fds, int milliseconds);

// From here on SIGINT and SIGTERM make wait_readable() return -2; SIGPIPE is ignored.
void stop_on_signals();

// Sends SIGPIPE-free: all functions above already do. Kept apart: the peer is told that nothing more will
// come.
void finish_sending(int fd);

// Absolute path of the running program; empty when the system does not say.
std::string program_path();
bool file_exists(const std::string& path);
// Absolute and without symbolic links; empty with *error when it does not exist.
std::string absolute_path(const std::string& path, std::string* error);
unsigned effective_user();

// Replaces this process. Returns only on an error.
void exec_program(const std::vector<std::string>& arguments, std::string* error);
std::string environment(const char* name);
void set_environment(const char* name, const std::string& value);

// Loads the agent library `library` (absolute path, as the target sees it) with `options` into the running
// HotSpot VM `pid` by its attach protocol. True when the VM answered that the agent started; *answer is what
// the VM said.
bool attach_agent(int pid, const std::string& library, const std::string& options, unsigned seconds,
                  std::string* answer, std::string* error);

// Where an agent in process `pid` has its control socket when no option says otherwise:
// /tmp/hprof-<user>-<pid>.sock, user and pid being those of the process, seen from here.
bool control_socket_path(int pid, std::string* path, std::string* error);

}  // namespace hprof::os
