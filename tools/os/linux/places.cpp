// Private folders in a JVM's /tmp, for data and for copies of files. See tools/os/attach.h.
//
// A program locks the folder that it uses, so that folders left by killed programs can be recognised, in any
// namespace.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tools/os/attach.h"
#include "tools/os/linux/proc.h"
#include "tools/os/linux/root.h"
#include "tools/os/os.h"

namespace hprof::os {

namespace {

constexpr char kMeetingPrefix[] = ".hprof-meet-";
constexpr char kStagePrefix[] = ".hprof-agent-";
// A folder without a lock may just have been made.
constexpr time_t kLeftoverSeconds = 5;

std::string problem(const std::string& what, const std::string& path) {
  return what + " " + path + ": " + std::strerror(errno);
}

// Removes a file, a socket or, three levels deep, a folder of this user. What cannot be removed stays.
void remove_tree(int parent, const std::string& name, int levels = 3) {
  struct stat status;
  if (fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_uid != geteuid()) return;
  if (!S_ISDIR(status.st_mode)) {
    unlinkat(parent, name.c_str(), 0);
    return;
  }
  const Descriptor folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (levels > 0 && folder.is_open()) {
    for (const std::string& inside : names_in_folder(folder.path()))
      remove_tree(folder.number(), inside, levels - 1);
  }
  unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

// Opens the folder if it is this user's, private and no link.
Descriptor open_own_folder(int parent, const std::string& name) {
  Descriptor folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!folder.is_open()) return folder;
  if (fstat(folder.number(), &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0)
    return folder;
  errno = EPERM;
  return Descriptor();
}

// Opens the folder, which is made if it does not exist.
Descriptor make_own_folder(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) return Descriptor();
  return open_own_folder(parent, name);
}

// Removes leftovers of killed programs of this user from `tmp`.
void remove_leftovers(int tmp) {
  for (const std::string& name : names_in_folder(descriptor_path(tmp))) {
    if (name.rfind(kMeetingPrefix, 0) != 0 && name.rfind(kStagePrefix, 0) != 0) continue;
    const Descriptor folder = open_own_folder(tmp, name);
    struct stat status;
    if (!folder.is_open()) continue;
    const bool old =
        fstat(folder.number(), &status) == 0 && time(nullptr) - status.st_mtime >= kLeftoverSeconds;
    if (old && flock(folder.number(), LOCK_EX | LOCK_NB) == 0) remove_tree(tmp, name);
  }
}

bool write_copy(int folder, const std::string& name, const std::string& content) {
  const int file = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
  if (file < 0) return false;
  std::string ignored;
  const bool good = write_all(file, content.data(), content.size(), &ignored);
  return close(file) == 0 && good;
}

// Copies a whole file or nothing: an incomplete library must not be loaded.
bool put_copy(int top, const FileCopy& copy) {
  Descriptor folder(fcntl(top, F_DUPFD_CLOEXEC, 0));
  std::string name = copy.name;
  for (size_t slash = name.find('/'); slash != std::string::npos && folder.is_open();
       slash = name.find('/')) {
    folder = make_own_folder(folder.number(), name.substr(0, slash));
    name.erase(0, slash + 1);
  }
  if (!folder.is_open()) return false;
  const int in = folder.number();
  struct stat status;
  if (fstatat(in, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  const std::string part = name + ".part";
  unlinkat(in, part.c_str(), 0);
  return write_copy(in, part, copy.content) && renameat(in, part.c_str(), in, name.c_str()) == 0;
}

// Returns the socket if the JVM is its peer; else closes it, -1 with *error.
int checked_peer(const Jvm& jvm, int socket, std::string* error) {
  const int peer = peer_of(socket);
  if (peer == jvm.pid) return socket;
  *error = process_name(peer) + " answers in place of " + process_name(jvm.pid);
  close(socket);
  return -1;
}

// Takes on the rights of the JVM's user while it lives, even after become_caller().
class AsItsUser {
 public:
  explicit AsItsUser(const Jvm& jvm) : switched_(geteuid() != jvm.user) {
    std::string ignored;
    if (switched_) become(jvm, &ignored);
  }
  ~AsItsUser() {
    if (switched_) become_caller();
  }
  AsItsUser(const AsItsUser&) = delete;
  AsItsUser& operator=(const AsItsUser&) = delete;

 private:
  const bool switched_;
};

}  // namespace

const bool MeetingPlace::kHasFiles = true;

bool MeetingPlace::open(const Jvm& jvm, std::string* error) {
  remove_leftovers(jvm.tmp);
  std::string name = descriptor_path(jvm.tmp) + "/" + kMeetingPrefix + "XXXXXX";
  if (mkdtemp(&name[0]) == nullptr) {
    const int code = errno;  // saved, as looking up the name sets another
    *error = "cannot make a folder in /tmp of " + process_name(jvm.pid) + ": " + std::strerror(code) +
             "; attaching needs one that user " + user_name(jvm.user) + " may write";
    return false;
  }
  jvm_ = jvm;
  folder_ = name.substr(name.rfind('/') + 1);
  lock_ = open_own_folder(jvm.tmp, folder_).release();
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
  if (lock_ < 0) *error = problem("cannot use", "/tmp/" + folder_ + " of " + process_name(jvm.pid));
  return lock_ >= 0;
}

MeetingPlace::~MeetingPlace() {
  if (folder_.empty()) return;
  const AsItsUser rights(jvm_);
  remove_tree(jvm_.tmp, folder_);
  if (lock_ >= 0) close(lock_);
}

std::string MeetingPlace::here(const std::string& name) const { return descriptor_path(lock_) + "/" + name; }

int MeetingPlace::listen(const std::string& name, std::string* error) {
  platform::Socket listener;
  // The folder is named by its descriptor, so nobody can exchange a folder above it.
  const int code = platform::local_listen(here(name).c_str(), &listener, false);
  if (code == 0) return static_cast<int>(listener.handle);
  char text[160];
  platform::error_text(code, text, sizeof text);
  *error = "cannot listen at " + path_there(name) + ": " + text;
  return -1;
}

int MeetingPlace::connect(const std::string& name, double seconds, std::string* error) {
  const int socket = connect_local(here(name), seconds, error);
  return socket < 0 ? -1 : checked_peer(jvm_, socket, error);
}

void MeetingPlace::remove(const std::string& name) { remove_file(here(name)); }

int MeetingPlace::open_file(const std::string& name, std::string* error) {
  // O_NONBLOCK: the JVM could have made a pipe.
  const int file = openat(lock_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) *error = problem("cannot read", path_there(name) + " of " + process_name(jvm_.pid));
  return file;
}

int accept_jvm(const Jvm& jvm, int listener, double seconds, std::string* error) {
  platform::Socket peer;
  const int code = platform::socket_accept(
      platform::Socket{listener}, platform::deadline_after_ms(static_cast<int64_t>(seconds * 1000)), &peer);
  if (code != 0) {
    *error = "the agent in " + process_name(jvm.pid) + " does not answer";
    return -1;
  }
  return checked_peer(jvm, static_cast<int>(peer.handle), error);
}

// Files that the JVM does not see.

bool StagedFiles::open(const Jvm& jvm, const std::string& identity, const std::vector<FileCopy>& files,
                       std::string* error) {
  const std::string name = kStagePrefix + identity;
  const std::string process = " of " + process_name(jvm.pid);
  if (mkdirat(jvm.tmp, name.c_str(), 0700) != 0 && errno != EEXIST) {
    *error = problem("cannot make", "/tmp/" + name + process);
    return false;
  }
  lock_ = open_own_folder(jvm.tmp, name).release();
  if (lock_ < 0) {
    *error =
        "/tmp/" + name + process + " is not user " + user_name(jvm.user) + "'s alone: somebody else made it";
    return false;
  }
  jvm_ = jvm;
  folder_ = name;
  flock(lock_, LOCK_SH);
  for (const FileCopy& copy : files) {
    if (put_copy(lock_, copy)) continue;
    *error = problem("cannot write", "/tmp/" + name + "/" + copy.name + process);
    return false;
  }
  return true;
}

StagedFiles::~StagedFiles() {
  if (folder_.empty()) return;
  const AsItsUser rights(jvm_);
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) remove_tree(jvm_.tmp, folder_);
  if (lock_ >= 0) close(lock_);
}

}  // namespace hprof::os
