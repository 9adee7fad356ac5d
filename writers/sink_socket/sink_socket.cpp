// The socket sink: net=host:port. Connects, streams the profile, and reads the peer's commands. A slow,
// absent or hostile peer costs the output, never more.
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>
#include <hprof/service/io.h>

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
     "give up on the other end after this time; url= tries again"},
    {"secret-file", HPROF_OPTION_TEXT, offsetof(Config, secret_file), nullptr, nullptr, 0, 0, "<file>",
     "read the secret of net= from this file"},
};

void explain(char* error, uint32_t error_size, const char* what, const char* address, const char* reason) {
  TextBuffer(error, error_size).add(what).add(address).add(": ").add(reason);
}

class Sink {
 public:
  Sink(const hprof_host* host, const Config& config)
      : host_(host), config_(config), io_(find_service<hprof_io_service>(host, HPROF_SERVICE_IO)) {}

  hprof_status open(const hprof_sink_target* target, char* error, uint32_t error_size);
  int64_t write(const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error, uint32_t error_size) {
    char reason[kReasonMost] = "";
    const int64_t wrote = io_->write(host_, handle_, bytes, size, timeout_ns, reason, sizeof reason);
    if (wrote < 0) TextBuffer(error, error_size).add("the connection is lost: ").add(reason);
    return wrote < 0 ? -1 : wrote;
  }
  int64_t read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
    const int64_t got = io_->read(host_, handle_, bytes, size, timeout_ns);
    return got < 0 ? -1 : got;
  }
  hprof_status end(bool, char* error, uint32_t error_size) {
    char reason[kReasonMost] = "";
    const int64_t result = io_->close(host_, handle_, reason, sizeof reason);
    if (result < 0) TextBuffer(error, error_size).add("the connection can't be closed: ").add(reason);
    return result < 0 ? HPROF_FAILED : HPROF_OK;
  }
  const char* name() const { return address_; }

 private:
  bool prove(int64_t handle, uint64_t timeout_ns, char* reason) const;

  const hprof_host* host_;
  const Config& config_;
  const hprof_io_service* io_;
  int64_t handle_ = -1;
  char address_[kAddressMost] = "";
};

// Proves that both ends know the secret, if there is one. Without a connection (-1) it only checks the file.
bool Sink::prove(int64_t handle, uint64_t timeout_ns, char* reason) const {
  if (config_.secret_file == nullptr || config_.secret_file[0] == '\0') return true;
  if (!HPROF_HAS(io_, hprof_io_service, prove)) {
    TextBuffer(reason, kReasonMost).add("no secret-file= in this build");
    return false;
  }
  char why[kReasonMost] = "";
  if (io_->prove(host_, handle, config_.secret_file, timeout_ns, why, sizeof why) == 0) return true;
  TextBuffer(reason, kReasonMost).add(handle < 0 ? "secret-file=" : "").add(why);
  return false;
}

hprof_status Sink::open(const hprof_sink_target* target, char* error, uint32_t error_size) {
  if (io_ == nullptr) {
    TextBuffer(error, error_size).add("this build has no sockets");
    return HPROF_UNSUPPORTED;
  }
  if (std::strlen(target->address) >= kAddressMost) {
    TextBuffer(error, error_size).add("can't connect: the address is too long");
    return HPROF_FAILED;
  }
  TextBuffer(address_, kAddressMost).add(target->address);
  char reason[kReasonMost] = "";
  const uint64_t timeout_ns = static_cast<uint64_t>(config_.timeout * 1e9);
  if (!prove(-1, 0, reason)) {
    explain(error, error_size, "can't connect to ", address_, reason);
    return HPROF_UNSUPPORTED;
  }
  if (HPROF_REACHES(target, hprof_sink_target, check_only) && target->check_only != 0) return HPROF_OK;
  handle_ = io_->connect(host_, address_, timeout_ns, reason, sizeof reason);
  if (handle_ < 0) {
    explain(error, error_size, "can't connect to ", address_, reason);
    return HPROF_FAILED;
  }
  if (!prove(handle_, timeout_ns, reason)) {
    explain(error, error_size, "nothing was sent to ", address_, reason);
    io_->close(host_, handle_, reason, sizeof reason);
    return HPROF_FAILED;
  }
  return HPROF_OK;
}

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "net";

const hprof_unit kUnit =
    sink_unit<Sink, Config>("sink_socket", kSelect, "a TCP connection to a profiler front end", kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::net

HPROF_MODULE(sink_socket, "1.0", "hprof", hprof::net::kUnits, 1)
