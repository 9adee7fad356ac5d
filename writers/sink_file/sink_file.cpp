// The file sink: the destination unless net= or url= is given. It chooses the name; the io service makes sure
// that the file is private, new, and no link.
#include <hprof/cpp/writer.hpp>
#include <hprof/service/io.h>
#include <hprof/service/log.h>

#include "file_name.h"

namespace hprof::file {

namespace {

constexpr uint32_t kReasonMost = 256;
// The last number of names with the pid: the pid alone, then with 2, 3 ...
constexpr uint32_t kLastSpare = 9;
// The last number of names with a number alone.
constexpr uint32_t kLastNumber = 9999;
constexpr uint32_t kModes[] = {0600, 0640, 0644};

struct Config {
  uint32_t keep;
  uint32_t mode;  // of kModes
};

struct File {
  const hprof_host* host;
  const hprof_io_service* io;
  int64_t handle;
  char name[kNameMost];
};

const hprof_option kOptions[] = {
    {"keep", HPROF_OPTION_FLAG, offsetof(Config, keep), "n", nullptr, 0, 0, nullptr,
     "keep truncated heap dumps as <file>.partial"},
    {"mode", HPROF_OPTION_CHOICE, offsetof(Config, mode), "0600", "0600|0640|0644", 0, 0, nullptr,
     "set the permissions of the output file"},
};

void explain(char* error, uint32_t error_size, const char* what, const char* name, const char* reason) {
  TextBuffer(error, error_size).add(what).add(name).add(": ").add(reason);
}

// Creates a file beside the existing one, with the process id in its name.
int64_t create_spare(File& file, const char* wanted, const NameParts& parts, char* reason) {
  char with_pid[kNameMost];
  if (!insert_pid(wanted, parts, with_pid)) return -1;
  std::memcpy(file.name, with_pid, kNameMost);
  int64_t handle = file.io->create_file(file.host, file.name, 0, reason, kReasonMost);
  for (uint32_t n = 2; handle < 0 && n <= kLastSpare; n++) {
    if (!insert_number(with_pid, n, parts, file.name)) return -1;
    handle = file.io->create_file(file.host, file.name, 0, reason, kReasonMost);
  }
  return handle;
}

// Creates a file beside the existing one, with the next free number in its name; also for later outputs,
// whose names have a number already.
int64_t create_next(File& file, const hprof_sink_target* target, const NameParts& parts, char* reason) {
  char base[kNameMost];
  const bool numbered = std::strstr(target->address, "%n") != nullptr;
  const uint32_t begin = numbered || target->sequence < 2 ? 1 : target->sequence;
  NameParts of_base = parts;
  if (!numbered) of_base.sequence = 1;
  if (!expand_name(target->address, of_base, base)) return -1;
  int64_t handle = HPROF_IO_EXISTS;
  for (uint32_t n = begin + 1; handle == HPROF_IO_EXISTS && n <= kLastNumber; n++) {
    if (!insert_number(base, n, parts, file.name)) return -1;
    handle = file.io->create_file(file.host, file.name, 0, reason, kReasonMost);
  }
  return handle;
}

void log_spare(const File& file, const char* wanted, const char* why) {
  const auto* log = find_service<hprof_log_service>(file.host, HPROF_SERVICE_LOG);
  if (log == nullptr) return;
  char text[2 * kNameMost + 96];
  TextBuffer(text, sizeof text).add(wanted).add(why).add(": writing to ").add(file.name);
  log->message(file.host, text);
}

// The existing file stays; creates one with another name.
int64_t create_beside(File& file, const hprof_sink_target* target, const NameParts& parts, int64_t found,
                      char* reason) {
  char wanted[kNameMost];
  char ignored[kReasonMost];
  std::memcpy(wanted, file.name, kNameMost);
  const bool in_use = found == HPROF_IO_IN_USE;
  const bool numbers = target->force == HPROF_EXISTING_NUMBER && !in_use;
  const int64_t handle =
      numbers ? create_next(file, target, parts, ignored) : create_spare(file, wanted, parts, ignored);
  if (handle >= 0) {
    log_spare(file, wanted,
              in_use    ? " is in use by a running VM"
              : numbers ? " is kept (force=y replaces it)"
                        : " is kept (force=n)");
  } else {
    std::memcpy(file.name, wanted, kNameMost);
    TextBuffer(reason, kReasonMost)
        .add(in_use ? "is in use by a running VM" : "exists")
        .add(", and so do all other names for it");
  }
  return handle;
}

int64_t create(File& file, const hprof_sink_target* target, char* error, uint32_t error_size) {
  char stamp[32] = "";
  file.io->timestamp(file.host, stamp, sizeof stamp);
  const bool has_suffixes = HPROF_HAS(target, hprof_sink_target, filter_suffix);
  const NameParts parts = {file.io->process_id(file.host), stamp, target->sequence,
                           has_suffixes ? target->suffix : "", has_suffixes ? target->filter_suffix : ""};
  if (!expand_name(target->address, parts, file.name)) {
    explain(error, error_size, "can't create profile file", "", "the name is too long");
    return -1;
  }
  char reason[kReasonMost] = "";
  const uint32_t replace = target->force == HPROF_EXISTING_REPLACE ? 1 : 0;
  int64_t handle = file.io->create_file(file.host, file.name, replace, reason, sizeof reason);
  if (handle == HPROF_IO_EXISTS || handle == HPROF_IO_IN_USE)
    handle = create_beside(file, target, parts, handle, reason);
  if (handle < 0) explain(error, error_size, "can't create profile file: ", file.name, reason);
  return handle;
}

// Sets the file's permissions, and the name to show.
void finish_file(File& file, const Config& config) {
  char text[kNameMost];
  if (HPROF_HAS(file.io, hprof_io_service, share) && config.mode != 0 &&
      file.io->share(file.host, file.handle, kModes[config.mode], text, sizeof text) != 0) {
    const auto* log = find_service<hprof_log_service>(file.host, HPROF_SERVICE_LOG);
    char said[2 * kNameMost];
    TextBuffer(said, sizeof said).add("mode= of ").add(file.name).add(" stays 0600: ").add(text);
    if (log != nullptr) log->message(file.host, said);
  }
  if (HPROF_HAS(file.io, hprof_io_service, absolute_path) &&
      file.io->absolute_path(file.host, file.name, text, sizeof text) != 0) {
    std::memcpy(file.name, text, sizeof text);
  }
}

class Sink {
 public:
  Sink(const hprof_host* host, const Config& config)
      : config_(config), file_{host, find_service<hprof_io_service>(host, HPROF_SERVICE_IO), -1, ""} {}

  hprof_status open(const hprof_sink_target* target, char* error, uint32_t error_size) {
    if (file_.io == nullptr) {
      TextBuffer(error, error_size).add("this build cannot write files");
      return HPROF_UNSUPPORTED;
    }
    whole_only_ = target->whole_only != 0;
    file_.handle = create(file_, target, error, error_size);
    if (file_.handle < 0) return HPROF_FAILED;
    finish_file(file_, config_);
    return HPROF_OK;
  }
  int64_t write(const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error, uint32_t error_size) {
    char reason[kReasonMost] = "";
    const int64_t wrote =
        file_.io->write(file_.host, file_.handle, bytes, size, timeout_ns, reason, sizeof reason);
    if (wrote < 0) TextBuffer(error, error_size).add(reason);
    return wrote < 0 ? -1 : wrote;
  }
  hprof_status patch(uint64_t position, const uint8_t* bytes, uint64_t size, char* error,
                     uint32_t error_size) {
    if (!HPROF_HAS(file_.io, hprof_io_service, write_at)) return HPROF_UNSUPPORTED;
    char reason[kReasonMost] = "";
    if (file_.io->write_at(file_.host, file_.handle, position, bytes, size, reason, sizeof reason) == 0)
      return HPROF_OK;
    TextBuffer(error, error_size).add(reason);
    return HPROF_FAILED;
  }
  hprof_status end(bool complete, char* error, uint32_t error_size) {
    char reason[kReasonMost] = "";
    const int64_t result = file_.io->close(file_.host, file_.handle, reason, sizeof reason);
    if (result < 0) TextBuffer(error, error_size).add("it can't be closed: ").add(reason);
    if (whole_only_ && (!complete || result < 0)) put_away();
    return result < 0 ? HPROF_FAILED : HPROF_OK;
  }
  const char* name() const { return file_.name; }
  static hprof_status remove(const hprof_host* host, const void*, const char* name, char* error,
                             uint32_t error_size) {
    const auto* io = find_service<hprof_io_service>(host, HPROF_SERVICE_IO);
    if (io == nullptr) return HPROF_UNSUPPORTED;
    if (is_device(name) || io->remove(host, name) == 0) return HPROF_OK;
    explain(error, error_size, "can't delete ", name, "there are more than keep-files=");
    return HPROF_FAILED;
  }

 private:
  static bool is_device(const char* name) { return std::strncmp(name, "/dev/", 5) == 0; }
  // Renames or removes an incomplete heap dump, which must not look complete. Other truncated files stay:
  // they may be all that is left of a run.
  void put_away() const {
    char name[kNameMost];
    TextBuffer partial(name, sizeof name);
    partial.add(file_.name).add(".partial");
    const bool renames = config_.keep != 0 && !partial.cut() && HPROF_HAS(file_.io, hprof_io_service, rename);
    if (is_device(file_.name)) return;
    if (renames && file_.io->rename(file_.host, file_.name, name) == 0) return;
    file_.io->remove(file_.host, file_.name);
  }

  const Config& config_;
  File file_;
  bool whole_only_ = false;
};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "file";

const hprof_unit kUnit = sink_unit<Sink, Config>("sink_file", kSelect, "a file", kOptions);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::file

HPROF_MODULE(sink_file, "1.0", "hprof", hprof::file::kUnits, 1)
