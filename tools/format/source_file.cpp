#include "tools/format/source_file.h"

#include <algorithm>
#include <mutex>

#include "tools/format/gzip_source.h"
#include "tools/os/os.h"

namespace hprof::tool {

// The standard input, and the temporary file with all bytes that were read from it.
struct KeptPipe {
  ~KeptPipe() {
    if (kept >= 0) os::close_file(kept);
  }
  // offset: at most `count`.
  size_t read_at(uint64_t offset, uint8_t* to, size_t size, std::string* error) {
    std::lock_guard<std::mutex> guard(mutex);
    const bool fresh = offset == count;
    if ((fresh && ended) || !os::seek_to(kept, offset)) return 0;
    if (!fresh) size = static_cast<size_t>(std::min<uint64_t>(size, count - offset));
    const long got = os::read_some(fresh ? kInput : kept, to, size, error);
    if (got <= 0) {
      ended = ended || (fresh && got == 0);
      return 0;
    }
    if (fresh && !os::write_all(kept, to, static_cast<size_t>(got), error)) return 0;
    if (fresh) count += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }

  std::mutex mutex;
  static constexpr int kInput = 0;
  int kept = -1;
  uint64_t count = 0;  // bytes in the temporary file
  bool ended = false;  // the pipe has no more
};

namespace {

class FileSource : public ByteSource {
 public:
  explicit FileSource(int fd) : fd_(fd), size_(os::file_size(fd)) {}
  ~FileSource() override { os::close_file(fd_); }
  size_t read(uint8_t* to, size_t size) override {
    long count = os::read_some(fd_, to, size, &error_);
    return count < 0 ? 0 : static_cast<size_t>(count);
  }
  bool seek(uint64_t offset) override { return os::seek_to(fd_, offset); }
  uint64_t size() const override { return size_; }

 private:
  int fd_;
  uint64_t size_;
};

class PipeSource : public ByteSource {
 public:
  explicit PipeSource(std::shared_ptr<KeptPipe> pipe) : pipe_(std::move(pipe)) {}
  size_t read(uint8_t* to, size_t size) override {
    const size_t got = pipe_->read_at(at_, to, size, &error_);
    at_ += got;
    return got;
  }
  bool seek(uint64_t offset) override {
    if (offset > pipe_->count) return false;
    at_ = offset;
    return true;
  }
  uint64_t size() const override { return pipe_->ended ? pipe_->count : kUnknownSize; }

 private:
  std::shared_ptr<KeptPipe> pipe_;
  uint64_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(int file) { return std::make_unique<FileSource>(file); }

SourceFile::SourceFile(std::string path, std::string folder)
    : path_(std::move(path)), folder_(std::move(folder)), points_(std::make_shared<GzipPoints>()) {}

std::unique_ptr<ByteSource> SourceFile::open_plain(std::string* error) {
  if (!is_pipe()) {
    const int file = os::open_for_reading(path_, error);
    return file < 0 ? nullptr : std::make_unique<FileSource>(file);
  }
  if (pipe_ == nullptr) {
    pipe_ = std::make_shared<KeptPipe>();
    pipe_->kept = os::create_temporary(folder_, error);
  }
  return pipe_->kept < 0 ? nullptr : std::make_unique<PipeSource>(pipe_);
}

std::unique_ptr<ByteSource> SourceFile::open(std::string* error) {
  std::unique_ptr<ByteSource> plain = open_plain(error);
  if (plain == nullptr) return nullptr;
  uint8_t magic[2] = {0, 0};
  for (size_t at = 0, got = 1; at < sizeof magic && got > 0; at += got)
    got = plain->read(magic + at, sizeof magic - at);
  *error = plain->error();
  if (!error->empty()) return nullptr;
  if (!plain->seek(0)) {
    *error = path_ + " cannot be read more than once: it has to be a regular file";
    return nullptr;
  }
  if (magic[0] != 0x1f || magic[1] != 0x8b) return plain;
  if (!kInflates) {
    *error = path_ + " is compressed and this build has no zlib: gunzip it first";
    return nullptr;
  }
  std::unique_ptr<ByteSource> inflated = inflate_source(std::move(plain), points_);
  if (inflated == nullptr) *error = path_ + ": no memory to inflate it";
  return inflated;
}

std::unique_ptr<ByteSource> open_source(const std::string& path, std::string* error) {
  static SourceFile input("-");
  return path == "-" ? input.open(error) : SourceFile(path).open(error);
}

}  // namespace hprof::tool
