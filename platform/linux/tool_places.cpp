// Private folders in a JVM's /tmp: to exchange data with its agent, and for copies of files that it does not
// see. See platform/tool_attach.h.
//
// A program locks the folder that it uses, so that folders left by killed programs can be recognised, in any
// namespace.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/platform.h"
#include "platform/tool_attach.h"
#include "platform/tool_os.h"

namespace hprof::os {

namespace {

constexpr char kMeetingPrefix[] = ".hprof-meet-";
constexpr char kStagePrefix[] = ".hprof-agent-";
// A folder without a lock may just have been made.
constexpr time_t kLeftoverSeconds = 5;

std::string problem(const std::string& what, const std::string& path) {
  return what + " " + path + ": " + std::strerror(errno);
}

// Removes files, sockets and, three levels deep, folders of ours. What cannot be removed stays.
void remove_tree(const std::string& path, int levels = 3) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0 || status.st_uid != geteuid()) return;
  if (S_ISDIR(status.st_mode)) {
    for (const std::string& name : levels > 0 ? names_in_folder(path) : std::vector<std::string>())
      remove_tree(path + "/" + name, levels - 1);
    rmdir(path.c_str());
  } else {
    unlink(path.c_str());
  }
}

// Opens the folder if it is ours, private and no link; else -1.
int open_own_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (folder < 0) return -1;
  if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0) return folder;
  close(folder);
  errno = EPERM;
  return -1;
}

// Removes what killed programs of this user have left in `tmp`.
void remove_leftovers(const std::string& tmp) {
  for (const std::string& name : names_in_folder(tmp)) {
    if (name.rfind(kMeetingPrefix, 0) != 0 && name.rfind(kStagePrefix, 0) != 0) continue;
    const std::string path = tmp + "/" + name;
    const int folder = open_own_folder(path);
    struct stat status;
    if (folder < 0) continue;
    const bool old = fstat(folder, &status) == 0 && time(nullptr) - status.st_mtime >= kLeftoverSeconds;
    if (old && flock(folder, LOCK_EX | LOCK_NB) == 0) remove_tree(path);
    close(folder);
  }
}

bool write_copy(const std::string& path, const std::string& content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
  if (file < 0) return false;
  std::string ignored;
  const bool good = write_all(file, content.data(), content.size(), &ignored);
  return close(file) == 0 && good;
}

// Whole files only: an incomplete copy must not be loaded.
bool put_copy(const std::string& folder, const FileCopy& copy) {
  for (size_t slash = copy.name.find('/'); slash != std::string::npos;
       slash = copy.name.find('/', slash + 1)) {
    if (mkdir((folder + "/" + copy.name.substr(0, slash)).c_str(), 0700) != 0 && errno != EEXIST)
      return false;
  }
  const std::string path = folder + "/" + copy.name, part = path + ".part";
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) return true;
  unlink(part.c_str());
  return write_copy(part, copy.content) && rename(part.c_str(), path.c_str()) == 0;
}

}  // namespace

// --- where tool and agent meet

bool MeetingPlace::open(const Jvm& jvm, std::string* error) {
  root_ = jvm.root;
  user_ = jvm.user;
  const std::string tmp = root_ + "/tmp";
  remove_leftovers(tmp);
  std::string name = tmp + "/" + kMeetingPrefix + "XXXXXX";
  if (mkdtemp(&name[0]) == nullptr) {
    const int code = errno;  // the name's lookup sets another
    *error = "cannot make a folder in /tmp of process " + std::to_string(jvm.pid) + ": " +
             std::strerror(code) + "; attaching needs one that user " + user_name(jvm.user) + " may write";
    return false;
  }
  folder_ = name.substr(tmp.size() + 1);
  lock_ = open_own_folder(name);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
  return true;
}

MeetingPlace::~MeetingPlace() {
  if (!folder_.empty()) remove_tree(root_ + "/tmp/" + folder_);
  if (lock_ >= 0) close(lock_);
}

int MeetingPlace::listen(const std::string& name, std::string* error) {
  platform::Socket listener;
  const int code = platform::local_listen(here(name).c_str(), &listener);
  if (code == 0) return static_cast<int>(listener.handle);
  char text[160];
  platform::error_text(code, text, sizeof text);
  *error = "cannot listen at " + path_there(name) + ": " + text;
  return -1;
}

int MeetingPlace::connect(const std::string& name, double seconds, std::string* error) {
  return connect_local(here(name), seconds, error);
}

void MeetingPlace::remove(const std::string& name) { remove_file(here(name)); }

int accept_jvm(const Jvm& jvm, int listener, double seconds, std::string* error) {
  platform::Socket peer;
  const int code = platform::socket_accept(
      platform::Socket{listener}, platform::deadline_after_ms(static_cast<int64_t>(seconds * 1000)), &peer);
  if (code != 0) {
    *error = "the agent in process " + std::to_string(jvm.pid) + " does not answer";
    return -1;
  }
  ucred caller{};
  socklen_t length = sizeof caller;
  const int descriptor = static_cast<int>(peer.handle);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &caller, &length) == 0 && caller.pid == jvm.pid)
    return descriptor;
  *error =
      "process " + std::to_string(caller.pid) + " answers in place of process " + std::to_string(jvm.pid);
  close(descriptor);
  return -1;
}

// --- files that the JVM does not see

bool StagedFiles::open(const Jvm& jvm, const std::string& identity, const std::vector<FileCopy>& files,
                       std::string* error) {
  root_ = jvm.root;
  const std::string name = kStagePrefix + identity;
  const std::string path = root_ + "/tmp/" + name;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    *error = problem("cannot make", "/tmp/" + name + " of process " + std::to_string(jvm.pid));
    return false;
  }
  lock_ = open_own_folder(path);
  if (lock_ < 0) {
    *error = "/tmp/" + name + " of process " + std::to_string(jvm.pid) + " is not user " +
             user_name(jvm.user) + "'s alone: somebody else made it";
    return false;
  }
  folder_ = name;
  flock(lock_, LOCK_SH);
  for (const FileCopy& copy : files) {
    if (put_copy(path, copy)) continue;
    *error =
        problem("cannot write", "/tmp/" + name + "/" + copy.name + " of process " + std::to_string(jvm.pid));
    return false;
  }
  return true;
}

StagedFiles::~StagedFiles() {
  if (!folder_.empty() && flock(lock_, LOCK_EX | LOCK_NB) == 0) remove_tree(root_ + "/tmp/" + folder_);
  if (lock_ >= 0) close(lock_);
}

}  // namespace hprof::os
