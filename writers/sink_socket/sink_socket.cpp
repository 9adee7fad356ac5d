// The socket sink: net=host:port. Connects, streams the profile, and reads the peer's commands. A slow,
// absent or hostile peer costs the output, never more.
#include <new>

#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/service/io.h>
#include <hprof/service/mem.h>
#include <hprof/sink.h>

namespace hprof::net {

namespace {

constexpr uint32_t kReasonMost = 256;
constexpr uint32_t kAddressMost = 512;  // a host name has at most 253 characters

struct Config {
  double timeout;           // seconds
  const char* secret_file;  // nullptr: none
};

const hprof_option kOptions[] = {
    {"net-timeout", HPROF_OPTION_REAL, offsetof(Config, timeout), "10", nullptr, 0.1, 3600, "<seconds>",
     "give up connecting after this time"},
    {"net-secret-file", HPROF_OPTION_TEXT, offsetof(Config, secret_file), nullptr, nullptr, 0, 0, "<file>",
     "read the secret that the peer of net= must prove from this file"},
};

struct Connection {
  const hprof_host* host;
  const hprof_io_service* io;
  const hprof_mem_service* mem;
  int64_t handle;
  char address[kAddressMost];
};

void explain(char* error, uint32_t error_size, const char* what, const char* address, const char* reason) {
  TextBuffer(error, error_size).add(what).add(address).add(": ").add(reason);
}

bool has_secret(const Config& config) {
  return config.secret_file != nullptr && config.secret_file[0] != '\0';
}

// Proves that both ends know the secret, if there is one. Without a connection (-1) it only checks the file.
bool prove(const hprof_host* host, const hprof_io_service* io, int64_t handle, const Config& config,
           uint64_t timeout_ns, char* reason) {
  if (!has_secret(config)) return true;
  if (!HPROF_HAS(io, hprof_io_service, prove)) {
    TextBuffer(reason, kReasonMost).add("no net-secret-file= in this build");
    return false;
  }
  char why[kReasonMost] = "";
  if (io->prove(host, handle, config.secret_file, timeout_ns, why, sizeof why) == 0) return true;
  TextBuffer(reason, kReasonMost).add(handle < 0 ? "net-secret-file=" : "").add(why);
  return false;
}

hprof_status open(const hprof_host* host, const void* options, const hprof_sink_target* target, void** self,
                  char* error, uint32_t error_size) {
  const auto* io = find_service<hprof_io_service>(host, HPROF_SERVICE_IO);
  const auto* mem = find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  if (io == nullptr || mem == nullptr) {
    TextBuffer(error, error_size).add("this build has no sockets");
    return HPROF_UNSUPPORTED;
  }
  if (std::strlen(target->address) >= kAddressMost) {
    TextBuffer(error, error_size).add("can't connect: the address is too long");
    return HPROF_FAILED;
  }
  const Config& config = *static_cast<const Config*>(options);
  char reason[kReasonMost] = "";
  const uint64_t timeout_ns = static_cast<uint64_t>(config.timeout * 1e9);
  if (!prove(host, io, -1, config, 0, reason)) {
    explain(error, error_size, "can't connect to ", target->address, reason);
    return HPROF_UNSUPPORTED;
  }
  if (HPROF_REACHES(target, hprof_sink_target, look_only) && target->look_only != 0) return HPROF_OK;
  const int64_t handle = io->connect(host, target->address, timeout_ns, reason, sizeof reason);
  if (handle < 0) {
    explain(error, error_size, "can't connect to ", target->address, reason);
    return HPROF_FAILED;
  }
  if (!prove(host, io, handle, config, timeout_ns, reason)) {
    explain(error, error_size, "nothing was sent to ", target->address, reason);
    io->close(host, handle, reason, sizeof reason);
    return HPROF_FAILED;
  }
  void* memory = mem->allocate(host, sizeof(Connection));
  if (memory == nullptr) {
    io->close(host, handle, reason, sizeof reason);
    TextBuffer(error, error_size).add("no memory for a connection");
    return HPROF_NO_MEMORY;
  }
  Connection* connection = new (memory) Connection{host, io, mem, handle, {}};
  TextBuffer(connection->address, kAddressMost).add(target->address);
  *self = connection;
  return HPROF_OK;
}

int64_t write(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
              uint32_t error_size) {
  Connection* to = static_cast<Connection*>(self);
  char reason[kReasonMost] = "";
  const int64_t wrote = to->io->write(to->host, to->handle, bytes, size, timeout_ns, reason, sizeof reason);
  if (wrote < 0) TextBuffer(error, error_size).add("the connection is lost: ").add(reason);
  return wrote < 0 ? -1 : wrote;
}

int64_t read(void* self, uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
  Connection* from = static_cast<Connection*>(self);
  const int64_t got = from->io->read(from->host, from->handle, bytes, size, timeout_ns);
  return got < 0 ? -1 : got;
}

hprof_status close(void* self, uint32_t, char* error, uint32_t error_size) {
  Connection* connection = static_cast<Connection*>(self);
  char reason[kReasonMost] = "";
  const int64_t result = connection->io->close(connection->host, connection->handle, reason, sizeof reason);
  if (result < 0) TextBuffer(error, error_size).add("the connection can't be closed: ").add(reason);
  connection->mem->release(connection->host, connection, sizeof(Connection));
  return result < 0 ? HPROF_FAILED : HPROF_OK;
}

const char* name(void* self) { return static_cast<Connection*>(self)->address; }

const hprof_sink_ops kOps = {
    sizeof(hprof_sink_ops), 0, open, write, close, read, name, nullptr, nullptr, nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "net";

const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_SINK,
    "sink_socket",
    kSelect,
    "a TCP connection to a profiler front end",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    0,
    0,
    0,
    0,
    &kOps,
};
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::net

HPROF_MODULE(sink_socket, "1.0", "hprof", hprof::net::kUnits, 1)
