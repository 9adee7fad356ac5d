// What the front end bin/hprof needs of the operating system: platform.h for programs that have the C++
// library, and what no agent needs, such as running programs and attaching to a VM.
//
// Only core/tool and its tests include this; nothing of it becomes part of the agent. Thread: any, but the
// front end has one. Errors are texts in `*error`, ready to be printed after "hprof: ". Handles are
// descriptors, -1 = none.
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
// Absolute and without symbolic links; empty with *error when it does not exist.
std::string absolute_path(const std::string& path, std::string* error);

double monotonic_seconds();

// Sockets. `seconds` bounds one call.
int connect_tcp(const std::string& host, const std::string& port, unsigned seconds, std::string* error);
int connect_local(const std::string& path, unsigned seconds, std::string* error);
// A listening TCP socket; *port is in and out, 0 = any free one.
int listen_tcp(const std::string& host, uint16_t* port, std::string* error);
int accept_peer(int listener, std::string* error);
// Bytes received, 0 when the peer has sent all, -1 on an error or a time-out.
long receive_some(int socket, void* to, size_t size, unsigned seconds, std::string* error);
bool send_all(int socket, const void* from, size_t size, unsigned seconds, std::string* error);
void close_socket(int socket);

// Waits until one of the handles (-1 entries are ignored) can be read, at most `milliseconds` (-1: for ever).
// Returns the index of one, -1 on a time-out, -2 when a signal asked to stop.
int wait_readable(const std::vector<int>& handles, int milliseconds);
// From here on SIGINT and SIGTERM make wait_readable() return -2.
void stop_on_signals();

// Absolute path of the running program; empty when the system does not say.
std::string program_path();
std::string environment(const char* name);
void set_environment(const char* name, const std::string& value);
// Replaces this process. Returns only on an error.
void exec_program(const std::vector<std::string>& arguments, std::string* error);

// Loads the agent library `library` (absolute path, as the target sees it) with `options` into the running
// HotSpot VM `pid` by its attach protocol. True when the VM answered that the agent started; *answer is what
// the VM said.
bool attach_agent(int pid, const std::string& library, const std::string& options, unsigned seconds,
                  std::string* answer, std::string* error);

// Connects to the control socket that an agent in process `pid` has when no option says otherwise:
// /tmp/hprof-<user>-<pid>.sock, user and pid being those of the process, seen from here. Anybody can make a
// socket of that name: who listens must be that process (Linux), or a process of this user (elsewhere).
int connect_control(int pid, unsigned seconds, std::string* error);

}  // namespace hprof::os
