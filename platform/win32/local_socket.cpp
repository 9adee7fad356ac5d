// Local sockets by named pipes, which only this user can open. They are no files: of a path only the text
// counts. The handle of such a Socket is odd, which no handle of Windows is, and names an entry of a table.
#include "platform/win32/local_socket.h"

#include <atomic>
#include <cstring>

#include "platform/common/text.h"
#include "platform/error.h"
#include "platform/win32/security.h"

namespace hprof::platform {
namespace {

constexpr char kFolder[] = "\\\\.\\pipe\\";
constexpr size_t kNameMost = 256;  // the system's limit
constexpr DWORD kBuffer = 64 * 1024;
constexpr DWORD kRetryMs = 20;

// An end of a pipe.
struct Pipe {
  std::atomic<bool> taken;
  SRWLOCK lock;          // guards the rest
  HANDLE handle;         // nullptr: closed
  int calls;             // that use the handle now
  bool shut;             // no call may begin; the last one closes the handle
  char name[kNameMost];  // of a listener
};

// The sessions' two listeners and their connections, and the attach reply.
Pipe pipes[48];

Pipe& pipe_of(Socket socket) { return pipes[socket.handle >> 1]; }

class Lock {
 public:
  explicit Lock(Pipe& pipe) : pipe_(pipe) { AcquireSRWLockExclusive(&pipe_.lock); }
  ~Lock() { ReleaseSRWLockExclusive(&pipe_.lock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Pipe& pipe_;
};

int take(HANDLE handle, const char* name, Socket* socket) {
  // The first ones would look like the standard streams.
  for (size_t i = 1; i < sizeof pipes / sizeof pipes[0]; ++i) {
    Pipe& pipe = pipes[i];
    bool taken = false;
    if (!pipe.taken.compare_exchange_strong(taken, true)) continue;
    Lock hold(pipe);
    pipe.handle = handle;
    pipe.calls = 0;
    pipe.shut = false;
    copy_text(name, pipe.name, sizeof pipe.name);
    socket->handle = static_cast<intptr_t>(i << 1 | 1);
    return 0;
  }
  CloseHandle(handle);
  return kErrorNoMemory;
}

// A call that uses the handle of a pipe.
class Call {
 public:
  explicit Call(Pipe& pipe) : pipe_(pipe) {
    overlapped_.hEvent = CreateEventA(nullptr, TRUE, FALSE, nullptr);
    Lock hold(pipe_);
    if (pipe_.shut || !pipe_.handle || !overlapped_.hEvent) return;
    handle_ = pipe_.handle;
    ++pipe_.calls;
  }
  ~Call() {
    if (overlapped_.hEvent) CloseHandle(overlapped_.hEvent);
    if (!handle_) return;
    Lock hold(pipe_);
    if (--pipe_.calls == 0 && pipe_.shut) {
      CloseHandle(pipe_.handle);
      pipe_.handle = nullptr;
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  HANDLE handle() const { return handle_; }  // nullptr: shut down
  OVERLAPPED* overlapped() { return &overlapped_; }

  // The result of ReadFile and the like: 0 with the bytes, a GetLastError() number, or kErrorTimedOut.
  int finish(BOOL done, int64_t deadline_ns, DWORD* count) {
    *count = 0;
    int error = done ? 0 : last_error();
    if (error == ERROR_IO_PENDING) {
      if (is_shut()) CancelIoEx(handle_, &overlapped_);
      while (WaitForSingleObject(overlapped_.hEvent, wait_milliseconds(deadline_ns)) == WAIT_TIMEOUT &&
             !has_passed(deadline_ns)) {
      }
      if (WaitForSingleObject(overlapped_.hEvent, 0) == WAIT_TIMEOUT) {
        CancelIoEx(handle_, &overlapped_);
        error = kErrorTimedOut;
      }
    } else if (error) {
      return error;
    }
    if (GetOverlappedResult(handle_, &overlapped_, count, TRUE)) return 0;  // also when it was faster
    return error == kErrorTimedOut ? error : last_error();
  }

 private:
  bool is_shut() {
    Lock hold(pipe_);
    return pipe_.shut;
  }

  Pipe& pipe_;
  HANDLE handle_ = nullptr;
  OVERLAPPED overlapped_ = {};
};

bool is_end(int error) {
  return error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED || error == ERROR_NO_DATA ||
         error == ERROR_OPERATION_ABORTED || error == ERROR_INVALID_HANDLE;
}

// The pipe's name for a path: each has its own. Backslashes end the names of folders, which pipes do not
// have.
int name_of(const char* path, char (&name)[kNameMost]) {
  const size_t folder = sizeof kFolder - 1, length = strlen(path);
  const bool whole = strncmp(path, kFolder, folder) == 0;
  if (!length || folder + length + 6 >= kNameMost) return kErrorBadAddress;
  copy_text(kFolder, name, sizeof name);
  copy_text(whole ? path + folder : "hprof/", name + folder, sizeof name - folder);
  if (!whole) copy_text(path, name + strlen(name), sizeof name - strlen(name));
  for (char* at = name + folder; *at; ++at) {
    if (*at == '\\') *at = '/';
  }
  return 0;
}

HANDLE make_instance(const char* name, DWORD more) {
  PrivateAccess access;
  if (!access.attributes()) return INVALID_HANDLE_VALUE;
  return CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | more,
                          PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                          PIPE_UNLIMITED_INSTANCES, kBuffer, kBuffer, 0, access.attributes());
}

}  // namespace

int local_listen(const char* path, Socket* socket, bool) {
  *socket = Socket{};
  char name[kNameMost];
  const int error = name_of(path, name);
  if (error) return error;
  // Fails if the pipe has a listener. FILE_FLAG_FIRST_PIPE_INSTANCE below would do, but Wine 8 ignores it.
  if (WaitNamedPipeA(name, 1) || GetLastError() != ERROR_FILE_NOT_FOUND) return kErrorInUse;
  const HANDLE handle = make_instance(name, FILE_FLAG_FIRST_PIPE_INSTANCE);
  if (handle != INVALID_HANDLE_VALUE) return take(handle, name, socket);
  const int code = last_error();
  return code == ERROR_ACCESS_DENIED || code == ERROR_PIPE_BUSY ? kErrorInUse : code;
}

// A pipe ends with its last end.
void local_remove(const char*) {}
void local_remove_dead(const char*, const char*, const char*) {}

int local_connect(const char* path, int64_t deadline_ns, Socket* socket) {
  *socket = Socket{};
  char name[kNameMost];
  const int error = name_of(path, name);
  if (error) return error;
  for (;;) {
    // The other end may learn who this is, but not act in its name.
    const HANDLE handle =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE | READ_CONTROL, 0, nullptr, OPEN_EXISTING,
                    FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
      const int code = last_error();
      if (code != ERROR_PIPE_BUSY) return code;
      if (has_passed(deadline_ns)) return kErrorTimedOut;
      Sleep(kRetryMs);
      continue;
    }
    // Anybody can make a pipe of that name.
    if (is_owned_by_us(handle)) return take(handle, "", socket);
    CloseHandle(handle);
    return kErrorNotOwned;
  }
}

// Access lists keep other users out of both ends.
int socket_peer_user(Socket, uint32_t*) { return kErrorUnsupported; }
uint32_t current_user() { return 0; }

int local_accept(Socket listener, int64_t deadline_ns, Socket* connection) {
  Pipe& pipe = pipe_of(listener);
  HANDLE next;
  {
    Call call(pipe);
    if (!call.handle()) return kErrorClosed;
    DWORD none;
    const int error = call.finish(ConnectNamedPipe(call.handle(), call.overlapped()), deadline_ns, &none);
    if (error && error != ERROR_PIPE_CONNECTED && error != ERROR_NO_DATA)
      return is_end(error) ? kErrorClosed : error;
    // Before this one is given away, so that the name stays ours.
    next = make_instance(pipe.name, 0);
    if (next == INVALID_HANDLE_VALUE) {
      const int code = last_error();
      DisconnectNamedPipe(call.handle());
      return code;
    }
  }
  HANDLE connected;
  {
    Lock hold(pipe);
    connected = pipe.handle;
    if (connected) pipe.handle = next;
  }
  if (connected) return take(connected, "", connection);
  CloseHandle(next);  // shut down meanwhile
  return kErrorClosed;
}

int64_t local_send(Socket socket, const void* data, size_t size, int64_t deadline_ns) {
  Call call(pipe_of(socket));
  if (!call.handle()) return -kErrorClosed;
  const DWORD part = size < kBuffer ? static_cast<DWORD>(size) : kBuffer;
  DWORD count;
  const int error =
      call.finish(WriteFile(call.handle(), data, part, nullptr, call.overlapped()), deadline_ns, &count);
  if (error) return is_end(error) ? -kErrorClosed : -error;
  return count;
}

int64_t local_receive(Socket socket, void* data, size_t size, int64_t deadline_ns) {
  Call call(pipe_of(socket));
  if (!call.handle()) return 0;
  const DWORD part = size < kBuffer ? static_cast<DWORD>(size) : kBuffer;
  DWORD count;
  const int error =
      call.finish(ReadFile(call.handle(), data, part, nullptr, call.overlapped()), deadline_ns, &count);
  if (error) return is_end(error) ? 0 : -error;
  return count;
}

void local_shutdown(Socket socket) {
  Pipe& pipe = pipe_of(socket);
  Lock hold(pipe);
  pipe.shut = true;
  if (!pipe.handle) return;
  if (pipe.calls) {
    CancelIoEx(pipe.handle, nullptr);
  } else {
    CloseHandle(pipe.handle);
    pipe.handle = nullptr;
  }
}

void local_close(Socket socket) {
  local_shutdown(socket);
  pipe_of(socket).taken.store(false);
}

uint32_t local_peer_process(Socket connection) {
  Call call(pipe_of(connection));
  ULONG process = 0;
  if (!call.handle()) return 0;
  // Each of them refuses at the other's end.
  if (GetNamedPipeServerProcessId(call.handle(), &process) && process != GetCurrentProcessId())
    return process;
  return GetNamedPipeClientProcessId(call.handle(), &process) ? process : 0;
}

bool local_is_ready(Socket socket) {
  Pipe& pipe = pipe_of(socket);
  Call call(pipe);
  DWORD count = 0;
  if (!call.handle()) return true;
  if (!PeekNamedPipe(call.handle(), nullptr, 0, nullptr, &count, nullptr))
    return GetLastError() != ERROR_PIPE_LISTENING && GetLastError() != ERROR_BAD_PIPE;
  return count > 0 || pipe.name[0] != '\0';
}

}  // namespace hprof::platform
