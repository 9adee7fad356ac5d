// os.h over platform.h.
#include "tools/os/os.h"

#include "platform/platform.h"

namespace hprof::os {

namespace {

using platform::File;
using platform::Socket;

bool failed(int code, const std::string& what, std::string* error) {
  if (code == 0) return false;
  char text[256];
  platform::error_text(code, text, sizeof text);
  *error = what.empty() ? text : what + ": " + text;
  return true;
}

bool failed(int code, std::string* error) { return failed(code, std::string(), error); }

int64_t deadline(double seconds) {
  return platform::deadline_after_ms(seconds > 0 ? static_cast<int64_t>(seconds * 1000) : 0);
}

File file_of(int handle) { return File{native_handle(handle), platform::FileKind::kRegular}; }
// A stream waits for its reader; its kind was found when it was opened.
File stream_of(int handle) { return File{native_handle(handle), platform::FileKind::kStream}; }

bool address_of(const std::string& host, const std::string& port, platform::Address* address,
                std::string* error) {
  std::string text = (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  return !failed(platform::split_address(text.c_str(), nullptr, address), text, error);
}

}  // namespace

int open_for_reading(const std::string& path, std::string* error) {
  File file;
  return failed(platform::file_open(path.c_str(), &file), path, error) ? -1 : static_cast<int>(file.handle);
}

int create_private_file(const std::string& path, bool overwrite, std::string* error) {
  File file;
  auto existing = overwrite ? platform::Existing::kTruncateOwn : platform::Existing::kRefuse;
  return failed(platform::file_create(path.c_str(), existing, &file), path, error)
             ? -1
             : static_cast<int>(file.handle);
}

long read_some(int file, void* to, size_t size, std::string* error) {
  int64_t count = platform::file_read(file_of(file), to, size);
  if (count < 0) failed(static_cast<int>(-count), error);
  return count < 0 ? -1 : static_cast<long>(count);
}

bool rename_file(const std::string& from, const std::string& to, std::string* error) {
  return !failed(platform::file_rename(from.c_str(), to.c_str()), to, error);
}

bool write_all(int file, const void* from, size_t size, std::string* error) {
  File out = file_size(file) == UINT64_MAX ? stream_of(file) : file_of(file);
  return !failed(platform::file_write_all(out, from, size), error);
}

void close_file(int file) {
  File open = file_of(file);
  platform::file_close(&open);
}

bool is_terminal(int file) { return platform::file_is_terminal(file_of(file)); }
bool file_is_private(int file) { return platform::file_is_private(file_of(file)); }
bool file_exists(const std::string& path) { return platform::path_exists(path.c_str()); }

std::vector<std::string> names_in_folder(const std::string& path) {
  std::vector<std::string> names;
  auto add = [](void* context, const char* name) {
    static_cast<std::vector<std::string>*>(context)->push_back(name);
    return true;
  };
  platform::list_directory(path.c_str(), add, &names);
  return names;
}

double monotonic_seconds() { return static_cast<double>(platform::monotonic_ns()) * 1e-9; }

int connect_tcp(const std::string& host, const std::string& port, double seconds, std::string* error) {
  platform::Address address{};
  Socket socket;
  if (!address_of(host, port, &address, error)) return -1;
  int code = platform::tcp_connect(address, deadline(seconds), &socket);
  return failed(code, host + ":" + port, error) ? -1 : static_cast<int>(socket.handle);
}

int connect_local(const std::string& path, double seconds, std::string* error) {
  Socket socket;
  int code = platform::local_connect(path.c_str(), deadline(seconds), &socket);
  return failed(code, path, error) ? -1 : static_cast<int>(socket.handle);
}

int listen_tcp(const std::string& host, uint16_t* port, std::string* error) {
  platform::Address address{};
  Socket socket;
  std::string number = std::to_string(*port);
  if (!address_of(host, number, &address, error)) return -1;
  if (failed(platform::tcp_listen(address, &socket), host + ":" + number, error)) return -1;
  int32_t bound = platform::socket_port(socket);
  if (bound > 0) *port = static_cast<uint16_t>(bound);
  return static_cast<int>(socket.handle);
}

int accept_peer(int listener, std::string* error) {
  Socket peer;
  int code = platform::socket_accept(Socket{listener}, platform::kNoDeadline, &peer);
  return failed(code, error) ? -1 : static_cast<int>(peer.handle);
}

long receive_some(int socket, void* to, size_t size, double seconds, std::string* error) {
  int64_t count = platform::socket_receive(Socket{socket}, to, size, deadline(seconds));
  if (count < 0) failed(static_cast<int>(-count), error);
  return count < 0 ? -1 : static_cast<long>(count);
}

bool send_all(int socket, const void* from, size_t size, double seconds, std::string* error) {
  return !failed(platform::socket_send_all(Socket{socket}, from, size, deadline(seconds)), error);
}

void close_socket(int socket) {
  Socket open{socket};
  platform::socket_close(&open);
}

std::string environment(const char* name) {
  const char* value = platform::environment(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace hprof::os
