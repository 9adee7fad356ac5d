// The io service: the platform's files and sockets behind plain handles for sinks. And the VM's own heap
// dumper.
#include <cstdio>

#include <hprof/host.h>
#include <hprof/service/io.h>
#include <hprof/service/vm_dump.h>

#include "core/agent/service_tables.h"
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
  if (code != 0) return explain(code, error, error_size);
  return to_handle(file.handle, static_cast<int64_t>(file.kind));
}

int64_t connect(const hprof_host*, const char* address, uint64_t timeout_ns, char* error,
                uint32_t error_size) {
  if (!kHasSockets) return explain(platform::kErrorUnsupported, error, error_size);
  platform::Address parts;
  platform::Socket socket;
  int code = platform::split_address(address, nullptr, &parts);
  if (code == 0) code = platform::tcp_connect(parts, deadline_in(timeout_ns), &socket);
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
  return count <= 0 ? -1 : count;  // nothing more will come, or an error: the peer is gone either way
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

const hprof_io_service kIo = {
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
};

// --- vm_dump

hprof_status explain_vm_dump(int code, const char* reason, char* error, uint32_t error_size) {
  char why[160];
  platform::error_text(code, why, sizeof(why));
  snprintf(error, error_size, "%s%s%s", reason, *reason != 0 ? ": " : "", why);
  return code == platform::kErrorUnsupported ? HPROF_UNSUPPORTED : HPROF_FAILED;
}

struct Taker {
  void* argument;
  hprof_vm_dump_take take;
  hprof_status status;
};

bool pass_on(void* context, uint32_t stream, uint8_t* bytes, size_t size) {
  auto* taker = static_cast<Taker*>(context);
  taker->status = taker->take(taker->argument, stream, bytes, size);
  return taker->status == HPROF_OK;
}

hprof_status run_vm_dump(const hprof_host* host, uint32_t all, void* argument, hprof_vm_dump_take take,
                         char* error, uint32_t error_size) {
  if (!kHasHeapDump) return HPROF_UNSUPPORTED;
  Taker taker = {argument, take, HPROF_OK};
  char reason[160] = "";
  bool apart = host->settings->java_version >= 22;
  int code = platform::vm_heap_dump(all != 0, apart, pass_on, &taker, reason, sizeof(reason));
  if (taker.status != HPROF_OK) return HPROF_ABORTED;
  return code == 0 ? HPROF_OK : explain_vm_dump(code, reason, error, error_size);
}

uint32_t vm_dump_available(const hprof_host* host, char* error, uint32_t error_size) {
  if (!kHasHeapDump) return 0;
  if (host->settings->java_version < 11) {
    snprintf(error, error_size, "the dumper of this VM writes to files only");
    return 0;
  }
  char reason[160] = "";
  int code = platform::vm_heap_dump_available(reason, sizeof(reason));
  if (code != 0) explain_vm_dump(code, reason, error, error_size);
  return code == 0 ? 1 : 0;
}

const hprof_vm_dump_service kVmDump = {sizeof(hprof_vm_dump_service), 0, &vm_dump_available, &run_vm_dump};

}  // namespace

const void* io_service() { return &kIo; }
const void* vm_dump_service() { return &kVmDump; }

}  // namespace hprof
