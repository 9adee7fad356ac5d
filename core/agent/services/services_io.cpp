// The io service: the platform's files and sockets behind plain handles for sinks.
#include <hprof/host.h>

#include "core/agent/services/service_tables.h"
#include "core/agent/session/control.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/base/build.h"
#include "platform/platform.h"

namespace hprof {

namespace {

// A handle is the descriptor with its kind in the low bits: 0 regular file, 1 stream, 2 socket.
constexpr int64_t kKindBits = 2;
constexpr int64_t kSocketKind = 2;

int64_t to_handle(intptr_t native, int64_t kind) { return static_cast<int64_t>(native) << kKindBits | kind; }
intptr_t native_of(int64_t handle) { return static_cast<intptr_t>(handle >> kKindBits); }
bool is_socket(int64_t handle) { return kHasSockets && (handle & 3) == kSocketKind; }

platform::File file_of(int64_t handle) {
  platform::File file;
  file.handle = native_of(handle);
  file.kind = static_cast<platform::FileKind>(handle & 3);
  return file;
}

platform::Socket socket_of(int64_t handle) {
  platform::Socket socket;
  socket.handle = native_of(handle);
  return socket;
}

int64_t explain(int code, char* error, uint32_t error_size) {
  platform::error_text(code, error, error_size);
  return -1;
}

int64_t deadline_in(uint64_t timeout_ns) {
  return platform::monotonic_ns() + static_cast<int64_t>(timeout_ns);
}

int64_t create_file(const hprof_host*, const char* path, uint32_t replace, char* error, uint32_t error_size) {
  platform::File file;
  auto existing = replace != 0 ? platform::Existing::kTruncateOwn : platform::Existing::kRefuse;
  int code = platform::file_create(path, existing, &file, deadline_in(10 * platform::kNanosPerSecond));
  if (code != 0) {
    explain(code, error, error_size);
    return code == platform::kErrorExists  ? HPROF_IO_EXISTS
           : code == platform::kErrorInUse ? HPROF_IO_IN_USE
                                           : -1;
  }
  return to_handle(file.handle, static_cast<int64_t>(file.kind));
}

// Refuses a socket of another user, who would get the profile.
int connect_local(const char* path, int64_t deadline_ns, platform::Socket* socket) {
  const int code = platform::local_connect(path, deadline_ns, socket);
  if (code != 0 || platform::is_own_peer(*socket)) return code;
  platform::socket_close(socket);
  return platform::kErrorNotOwned;
}

int64_t connect(const hprof_host*, const char* address, uint64_t timeout_ns, char* error,
                uint32_t error_size) {
  if (!kHasSockets) return explain(platform::kErrorUnsupported, error, error_size);
  platform::Address parts;
  platform::Socket socket;
  int code = 0;
  if (address[0] == '/') {
    code = connect_local(address, deadline_in(timeout_ns), &socket);
  } else {
    code = platform::split_address(address, nullptr, &parts);
    if (code == 0) code = platform::tcp_connect(parts, deadline_in(timeout_ns), &socket);
  }
  if (code != 0) return explain(code, error, error_size);
  return to_handle(socket.handle, kSocketKind);
}

int64_t write(const hprof_host*, int64_t handle, const void* bytes, uint64_t size, uint64_t timeout_ns,
              char* error, uint32_t error_size) {
  auto most = static_cast<size_t>(size);
  int64_t count = is_socket(handle)
                      ? platform::socket_send(socket_of(handle), bytes, most, deadline_in(timeout_ns))
                      : platform::file_write(file_of(handle), bytes, most, deadline_in(timeout_ns));
  if (count == -platform::kErrorTimedOut) return 0;
  return count < 0 ? explain(static_cast<int>(-count), error, error_size) : count;
}

int64_t write_at(const hprof_host*, int64_t handle, uint64_t position, const void* bytes, uint64_t size,
                 char* error, uint32_t error_size) {
  if (is_socket(handle)) return explain(platform::kErrorUnsupported, error, error_size);
  auto* from = static_cast<const char*>(bytes);
  while (size != 0) {
    int64_t count = platform::file_write_at(file_of(handle), from, static_cast<size_t>(size),
                                            static_cast<int64_t>(position));
    if (count <= 0) return explain(static_cast<int>(-count), error, error_size);
    from += count;
    position += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
  return 0;
}

int64_t read(const hprof_host*, int64_t handle, void* bytes, uint64_t size, uint64_t timeout_ns) {
  if (!is_socket(handle)) return platform::file_read(file_of(handle), bytes, static_cast<size_t>(size));
  int64_t count =
      platform::socket_receive(socket_of(handle), bytes, static_cast<size_t>(size), deadline_in(timeout_ns));
  if (count == -platform::kErrorTimedOut) return 0;
  return count <= 0 ? -1 : count;  // the end or an error: the peer is gone
}

int64_t close(const hprof_host*, int64_t handle, char* error, uint32_t error_size) {
  if (is_socket(handle)) {
    platform::Socket socket = socket_of(handle);
    platform::socket_shutdown(socket);
    platform::socket_close(&socket);
    return 0;
  }
  platform::File file = file_of(handle);
  int code = platform::file_close(&file);
  return code != 0 ? explain(code, error, error_size) : 0;
}

int64_t share(const hprof_host*, int64_t handle, uint32_t mode, char* error, uint32_t error_size) {
  int code = is_socket(handle) ? platform::kErrorUnsupported : platform::file_share(file_of(handle), mode);
  return code != 0 ? explain(code, error, error_size) : 0;
}

int64_t prove(const hprof_host* host, int64_t handle, const char* secret_file, uint64_t timeout_ns,
              char* error, uint32_t error_size) {
  if (handle >= 0 && !is_socket(handle)) return explain(platform::kErrorUnsupported, error, error_size);
  const platform::Socket socket = handle >= 0 ? socket_of(handle) : platform::Socket();
  TextWriter why(error, error_size);
  const ControlServer& server = slot_of(host)->parts->control.server();
  return server.prove(socket, secret_file, deadline_in(timeout_ns), &why) ? 0 : -1;
}

}  // namespace

const hprof_io_service kIoService = {
    sizeof(hprof_io_service),
    0,
    &create_file,
    &connect,
    &write,
    &read,
    &close,
    [](const hprof_host*, const char* path) { return static_cast<int64_t>(-platform::file_remove(path)); },
    [](const hprof_host*) { return static_cast<uint64_t>(platform::process_id()); },
    [](const hprof_host*, char* text, uint32_t size) {
      platform::format_timestamp(platform::wall_ms(), text, size);
    },
    &write_at,
    [](const hprof_host*, const char* from, const char* to) {
      return static_cast<int64_t>(-platform::file_rename(from, to));
    },
    &share,
    [](const hprof_host*, const char* path, char* text, uint32_t size) {
      return static_cast<uint64_t>(platform::absolute_path(path, text, size));
    },
    kHasSockets ? &prove : nullptr,
};

}  // namespace hprof
