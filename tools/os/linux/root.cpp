// Walks through another process's file system, name by name. A hostile owner may change it meanwhile, so each
// step starts from a descriptor, opens no link, and ".." returns to the previous descriptor.
#include "tools/os/linux/root.h"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hprof::os {

namespace {

constexpr int kLinksMost = 40;  // the kernel's limit

// Removes the first name from a path; empty: there is none.
std::string next_name(std::string* path) {
  const size_t begin = path->find_first_not_of('/');
  if (begin == std::string::npos) return {};
  const size_t end = path->find('/', begin);
  const std::string name = path->substr(begin, end == std::string::npos ? end : end - begin);
  *path = end == std::string::npos ? std::string() : path->substr(end);
  return name;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  const int code = errno;
  if (number_ >= 0) close(number_);
  errno = code;
}

int Descriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

Descriptor find_inside(int root, const std::string& path) {
  constexpr int kFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  std::vector<Descriptor> way;  // the directories from the root to here
  way.emplace_back(openat(root, ".", kFlags));
  std::string rest = path;
  int links = 0;
  for (std::string name = next_name(&rest); !name.empty(); name = next_name(&rest)) {
    if (name == "..") {
      if (way.size() > 1) way.pop_back();
      continue;
    }
    Descriptor next(openat(way.back().number(), name.c_str(), kFlags));
    struct stat status;
    if (!next.is_open() || fstat(next.number(), &status) != 0) return Descriptor();
    if (!S_ISLNK(status.st_mode)) {
      way.push_back(std::move(next));
      continue;
    }
    char target[PATH_MAX];
    const ssize_t size = readlinkat(next.number(), "", target, sizeof target);
    if (size <= 0 || ++links > kLinksMost) {
      errno = ELOOP;
      return Descriptor();
    }
    if (target[0] == '/') way.resize(1);
    rest = std::string(target, static_cast<size_t>(size)) + "/" + rest;
  }
  return std::move(way.back());
}

Descriptor open_inside(int root, const std::string& path) {
  const Descriptor found = find_inside(root, path);
  struct stat status;
  if (!found.is_open() || fstat(found.number(), &status) != 0 || !S_ISREG(status.st_mode))
    return Descriptor();
  return Descriptor(open(found.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

}  // namespace hprof::os
