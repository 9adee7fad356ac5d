// Paths of another process's file system, for the front end.
#pragma once

#include <string>

namespace hprof::os {

// A path to what a descriptor refers to, for calls that take paths.
inline std::string descriptor_path(int number) { return "/proc/self/fd/" + std::to_string(number); }

// A descriptor that is closed with its object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  std::string path() const { return descriptor_path(number_); }
  int release();

 private:
  int number_;
};

// Finds `path` below the root directory `root`, as a process with that root does: links, absolute ones too,
// and ".." never lead out of it. Returns an O_PATH descriptor, or a closed one, with errno.
Descriptor find_inside(int root, const std::string& path);
// Opens a regular file found that way for reading. Never waits, as opening a pipe would.
Descriptor open_inside(int root, const std::string& path);

}  // namespace hprof::os
