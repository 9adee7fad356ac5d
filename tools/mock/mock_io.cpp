// The io service of the mock host: files and connections in memory.
#include <cstdio>
#include <cstring>

#include "mock_table.h"

namespace hprof {

struct MockIo {
  static int64_t fail(char* error, uint32_t error_size, const std::string& text) {
    if (error_size != 0) std::snprintf(error, error_size, "%s", text.c_str());
    return -1;
  }

  static int64_t add_handle(MockHost* self, MockFile* file) {
    self->handles_.push_back(file);
    return static_cast<int64_t>(self->handles_.size() - 1);
  }

  static int64_t create_file(const hprof_host* host, const char* path, uint32_t replace, char* error,
                             uint32_t error_size) {
    const MockHost::Locked self(host);
    if (std::strncmp(path, "/nonexistent/", 13) == 0)
      return fail(error, error_size, "No such file or directory");
    const auto found = self->files.find(path);
    if (found != self->files.end() && replace == 0) {
      fail(error, error_size, "File exists");
      return HPROF_IO_EXISTS;
    }
    if (found != self->files.end() && found->second.open) {
      fail(error, error_size, "is in use");
      return HPROF_IO_IN_USE;
    }
    MockFile& file = self->files[path];
    file = {path, "", true, false};
    return add_handle(self, &file);
  }

  static int64_t connect(const hprof_host* host, const char* address, uint64_t timeout_ns, char* error,
                         uint32_t error_size) {
    const MockHost::Locked self(host);
    self->last_connect_timeout_ns = timeout_ns;
    if (!self->connect_error.empty()) return fail(error, error_size, self->connect_error);
    self->open_sockets_.push_back({address, "", true, true});
    return add_handle(self, &self->open_sockets_.back());
  }

  static MockFile* file_of(MockHost* self, int64_t handle) {
    if (handle < 0 || handle >= static_cast<int64_t>(self->handles_.size())) return nullptr;
    MockFile* file = self->handles_[static_cast<size_t>(handle)];
    return file != nullptr && file->open ? file : nullptr;
  }

  static int64_t write(const hprof_host* host, int64_t handle, const void* bytes, uint64_t size, uint64_t,
                       char* error, uint32_t error_size) {
    const MockHost::Locked self(host);
    MockFile* file = file_of(self, handle);
    if (file == nullptr) return fail(error, error_size, "Bad file descriptor");
    if (self->stalled_writes > 0) {
      self->stalled_writes--;
      return 0;
    }
    if (self->space_left == 0) return fail(error, error_size, "No space left on device");
    if (size > self->write_most) size = self->write_most;
    if (size > self->space_left) size = self->space_left;
    file->bytes.append(static_cast<const char*>(bytes), size);
    if (self->space_left != UINT64_MAX) self->space_left -= size;
    return static_cast<int64_t>(size);
  }

  static int64_t read(const hprof_host* host, int64_t handle, void* bytes, uint64_t size, uint64_t) {
    const MockHost::Locked self(host);
    if (file_of(self, handle) == nullptr) return -1;
    if (self->incoming.empty()) return 0;
    std::string& first = self->incoming.front();
    if (first.empty()) return -1;
    if (size > first.size()) size = first.size();
    std::memcpy(bytes, first.data(), size);
    first.erase(0, size);
    if (first.empty()) self->incoming.pop_front();
    return static_cast<int64_t>(size);
  }

  static int64_t close(const hprof_host* host, int64_t handle, char* error, uint32_t error_size) {
    const MockHost::Locked self(host);
    MockFile* file = file_of(self, handle);
    if (file == nullptr) return fail(error, error_size, "Bad file descriptor");
    file->open = false;
    if (file->socket) self->connections.push_back(*file);
    if (!self->close_error.empty()) return fail(error, error_size, self->close_error);
    return 0;
  }

  static int64_t remove(const hprof_host* host, const char* path) {
    const MockHost::Locked self(host);
    const auto found = self->files.find(path);
    if (found == self->files.end()) return -1;
    for (MockFile*& handle : self->handles_) {
      if (handle == &found->second) handle = nullptr;
    }
    self->files.erase(found);
    return 0;
  }

  static int64_t share(const hprof_host* host, int64_t handle, uint32_t mode, char* error,
                       uint32_t error_size) {
    const MockHost::Locked self(host);
    MockFile* file = file_of(self, handle);
    if (file == nullptr) return fail(error, error_size, "Bad file descriptor");
    file->mode = mode;
    return 0;
  }

  static int64_t write_at(const hprof_host* host, int64_t handle, uint64_t position, const void* bytes,
                          uint64_t size, char* error, uint32_t error_size) {
    const MockHost::Locked self(host);
    MockFile* file = file_of(self, handle);
    if (file == nullptr) return fail(error, error_size, "Bad file descriptor");
    if (file->socket || position > file->bytes.size() || size > file->bytes.size() - position)
      return fail(error, error_size, "Illegal seek");
    file->bytes.replace(position, size, static_cast<const char*>(bytes), size);
    return 0;
  }

  static int64_t rename(const hprof_host* host, const char* from, const char* to) {
    const MockHost::Locked self(host);
    const auto found = self->files.find(from);
    if (found == self->files.end() || self->files.count(to) != 0) return -1;
    // Moves the node, so that open handles stay valid.
    auto node = self->files.extract(found);
    node.key() = to;
    node.mapped().path = to;
    self->files.insert(std::move(node));
    return 0;
  }

  static uint64_t absolute_path(const hprof_host* host, const char* path, char* text, uint32_t text_size) {
    const std::string& folder = MockHost::of(host)->working_folder;
    if (folder.empty()) return 0;
    const std::string whole = path[0] == '/' ? path : folder + "/" + path;
    if (whole.size() >= text_size) return 0;
    std::memcpy(text, whole.c_str(), whole.size() + 1);
    return whole.size();
  }

  static int64_t prove(const hprof_host* host, int64_t handle, const char*, uint64_t, char* error,
                       uint32_t error_size) {
    const MockHost::Locked self(host);
    (handle < 0 ? self->secrets_looked_at : self->proofs)++;
    return self->prove_error.empty() ? 0 : fail(error, error_size, self->prove_error);
  }

  static uint64_t process_id(const hprof_host* host) { return MockHost::of(host)->pid; }

  static void timestamp(const hprof_host* host, char* text, uint32_t text_size) {
    std::snprintf(text, text_size, "%s", MockHost::of(host)->stamp.c_str());
  }
};

const hprof_io_service* mock_io_service() { return mock_table<hprof_io_service, MockIo>(); }

}  // namespace hprof
