// Reading, writing, naming and listing files.
#include <errno.h>
#include <limits.h>
#include <set>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("files are read to their end, and only regular ones") {
  TemporaryFolder folder;
  put_file(folder.in("in"), "some text");
  File file;
  REQUIRE(file_open(folder.in("in").c_str(), &file) == 0);
  CHECK_FALSE(file_is_terminal(file));
  char text[32];
  CHECK(file_read(file, text, 4) == 4);
  CHECK(file_read(file, text + 4, sizeof text - 4) == 5);
  CHECK(file_read(file, text, sizeof text) == 0);
  CHECK(std::string(text, 9) == "some text");
  CHECK(file_write(file, "x", 1) == -EBADF);
  file_close(&file);
  CHECK(file_open(folder.path().c_str(), &file) == kErrorNotUsable);
  CHECK(file_open("/dev/zero", &file) == kErrorNotUsable);
  CHECK(file_open(folder.in("absent").c_str(), &file) == ENOENT);
  REQUIRE(mkfifo(folder.in("fifo").c_str(), 0600) == 0);
  CHECK(file_open(folder.in("fifo").c_str(), &file) == kErrorNotUsable);
}

TEST_CASE("a private file is nobody else's to read") {
  TemporaryFolder folder;
  File file;
  REQUIRE(file_create(folder.in("out").c_str(), Existing::kRefuse, &file) == 0);
  CHECK(file_is_private(file));
  file_close(&file);
  for (mode_t mode : {0640, 0604, 0620, 0644}) {
    REQUIRE(chmod(folder.in("out").c_str(), mode) == 0);
    REQUIRE(file_open(folder.in("out").c_str(), &file) == 0);
    CHECK_FALSE(file_is_private(file));
    file_close(&file);
  }
}

TEST_CASE("writing at an offset leaves the position alone") {
  TemporaryFolder folder;
  File file;
  REQUIRE(file_create(folder.in("out").c_str(), Existing::kRefuse, &file) == 0);
  CHECK(file_write_all(file, "0000abc", 7) == 0);
  CHECK(file_write_at(file, "1234", 4, 0) == 4);
  CHECK(file_write_all(file, "def", 3) == 0);
  file_close(&file);
  CHECK(content_of(folder.in("out")) == "1234abcdef");
  REQUIRE(file_create("/dev/null", Existing::kRefuse, &file) == 0);
  CHECK(file_write_at(file, "1", 1, 0) == -ESPIPE);
  file_close(&file);
}

// Where a plain off_t has 32 bits: written and read with the calls of the port, which asks for 64.
TEST_CASE("a file goes on beyond 2 and 4 GiB") {
  TemporaryFolder folder;
  const std::string path = folder.in("out");
  constexpr int64_t kGiB = int64_t{1} << 30;
  File file;
  REQUIRE(file_create(path.c_str(), Existing::kRefuse, &file) == 0);
  // Sparse: takes no room.
  CHECK(file_write_at(file, "beyond", 6, 4 * kGiB + 3) == 6);
  CHECK(file_write_at(file, "across", 6, 2 * kGiB - 3) == 6);
  REQUIRE(lseek(static_cast<int>(file.handle), 2 * kGiB + 3, SEEK_SET) == 2 * kGiB + 3);
  CHECK(file_write_all(file, " on", 3) == 0);
  REQUIRE(lseek(static_cast<int>(file.handle), 0, SEEK_END) == 4 * kGiB + 9);
  CHECK(file_write_all(file, "!", 1) == 0);
  CHECK(file_is_private(file));
  file_close(&file);
  CHECK(std::filesystem::file_size(path) == 4 * kGiB + 10);

  REQUIRE(file_open(path.c_str(), &file) == 0);
  char text[16];
  REQUIRE(lseek(static_cast<int>(file.handle), 2 * kGiB - 3, SEEK_SET) == 2 * kGiB - 3);
  CHECK(file_read(file, text, 9) == 9);
  CHECK(std::string(text, 9) == "across on");
  REQUIRE(lseek(static_cast<int>(file.handle), 4 * kGiB + 3, SEEK_SET) == 4 * kGiB + 3);
  CHECK(file_read(file, text, sizeof text) == 7);
  CHECK(std::string(text, 7) == "beyond!");
  file_close(&file);
  // An existing one of that size is taken, too.
  REQUIRE(file_create(path.c_str(), Existing::kTruncateOwn, &file) == 0);
  file_close(&file);
  CHECK(std::filesystem::file_size(path) == 0);
}

TEST_CASE("a file size limit is an error and not a signal") {
  TemporaryFolder folder;
  File file;
  REQUIRE(file_create(folder.in("out").c_str(), Existing::kRefuse, &file) == 0);
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{4096, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string much(8192, 'x');
  const int error = file_write_all(file, much.data(), much.size());
  setrlimit(RLIMIT_FSIZE, &before);
  sigset_t pending;
  sigpending(&pending);
  CHECK(error == EFBIG);
  CHECK(content_of(folder.in("out")).size() == 4096);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
  file_close(&file);
}

TEST_CASE("a SIGPIPE of somebody else's stays pending") {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  pthread_kill(pthread_self(), SIGPIPE);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const int64_t result = file_write(File{ends[1], FileKind::kStream}, "x", 1);
  close(ends[1]);
  sigpending(&pending);
  const bool still = sigismember(&pending, SIGPIPE) == 1;
  const timespec now{};
  sigtimedwait(&pipe_signal, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(result == -EPIPE);
  CHECK(still);
}

TEST_CASE("files are renamed over others and removed") {
  TemporaryFolder folder;
  put_file(folder.in("a"), "new");
  put_file(folder.in("b"), "old");
  CHECK(file_rename(folder.in("a").c_str(), folder.in("b").c_str()) == 0);
  CHECK(content_of(folder.in("b")) == "new");
  CHECK_FALSE(path_exists(folder.in("a").c_str()));
  CHECK(file_remove(folder.in("b").c_str()) == 0);
  CHECK(file_remove(folder.in("b").c_str()) == ENOENT);
  CHECK(file_rename(folder.in("a").c_str(), folder.in("b").c_str()) == ENOENT);
}

TEST_CASE("a directory is listed without its dots and until told to stop") {
  TemporaryFolder folder;
  for (const char* name : {"x", "y", ".hidden"}) put_file(folder.in(name), "");
  std::set<std::string> names;
  auto collect = [](void* context, const char* name) {
    static_cast<std::set<std::string>*>(context)->insert(name);
    return true;
  };
  CHECK(list_directory(folder.path().c_str(), collect, &names) == 0);
  CHECK(names == std::set<std::string>{"x", "y", ".hidden"});
  int count = 0;
  auto once = [](void* context, const char*) {
    ++*static_cast<int*>(context);
    return false;
  };
  CHECK(list_directory(folder.path().c_str(), once, &count) == 0);
  CHECK(count == 1);
  CHECK(list_directory(folder.in("x").c_str(), once, &count) == ENOTDIR);
}

TEST_CASE("code is run out of files and folders that nobody else can write to") {
  TemporaryFolder folder;
  TemporaryFolder elsewhere;
  const std::string module = folder.in("module.so"), link = elsewhere.in("link.so"),
                    own = folder.in("own.so");
  put_file(module, "");
  put_file(own, "");
  const char* path = module.c_str();
  char real[PATH_MAX];
  const auto trusted = [&] { return is_trusted_code(path, own.c_str(), real, sizeof real); };
  chmod(path, 0644);
  CHECK(trusted());
  CHECK_FALSE(is_trusted_code(folder.in("none.so").c_str(), own.c_str(), real, sizeof real));
  chmod(path, 0646);
  CHECK_FALSE(trusted());
  chmod(path, 0644);
  chmod(folder.path().c_str(), 0777);
  CHECK_FALSE(trusted());
  chmod(folder.path().c_str(), 01777);
  CHECK(trusted());
  chmod(folder.path().c_str(), 0777);
  REQUIRE(symlink(path, link.c_str()) == 0);
  CHECK_FALSE(is_trusted_code(link.c_str(), own.c_str(), real, sizeof real));
  chmod(folder.path().c_str(), 0755);
  CHECK(is_trusted_code(link.c_str(), own.c_str(), real, sizeof real));
  if (geteuid() != 0) return;
  REQUIRE(chown(path, 65534, 65534) == 0);
  CHECK_FALSE(trusted());
  REQUIRE(chown(own.c_str(), 65534, 65534) == 0);
  CHECK(trusted());  // whose library runs already
  chmod(path, 0664);
  CHECK(trusted());  // of its owner's own group
  REQUIRE(chown(path, 65534, 100) == 0);
  CHECK_FALSE(trusted());
}

TEST_CASE(
    "code is run out of folders whose ancestors nobody else can write to, under the path that was checked") {
  TemporaryFolder top;
  const std::string middle = top.in("middle"), folder = middle + "/plugins", module = folder + "/module.so";
  REQUIRE(mkdir(middle.c_str(), 0755) == 0);
  REQUIRE(mkdir(folder.c_str(), 0755) == 0);
  put_file(module, "");
  REQUIRE(chmod(module.c_str(), 0644) == 0);
  char real[PATH_MAX] = "";
  const auto trusted = [&](const std::string& path) {
    return is_trusted_code(path.c_str(), module.c_str(), real, sizeof real);
  };
  CHECK(trusted(module));
  CHECK(std::string(real) == module);
  CHECK(trusted(middle + "/../middle/plugins/module.so"));
  CHECK(std::string(real) == module);
  REQUIRE(symlink(folder.c_str(), top.in("link").c_str()) == 0);
  CHECK(trusted(top.in("link") + "/module.so"));
  CHECK(std::string(real) == module);
  CHECK_FALSE(is_trusted_code(module.c_str(), module.c_str(), real, 4));
  for (mode_t mode : {0777, 0757}) {
    REQUIRE(chmod(middle.c_str(), mode) == 0);
    CHECK_FALSE(trusted(module));
    CHECK_FALSE(trusted(top.in("link") + "/module.so"));
  }
  REQUIRE(chmod(middle.c_str(), 01777) == 0);
  CHECK(trusted(module));
  if (geteuid() != 0) return;
  REQUIRE(chmod(middle.c_str(), 0775) == 0);
  REQUIRE(chown(middle.c_str(), 0, 50) == 0);
  CHECK(trusted(module));  // /usr/local of Debian is writable for its group staff
  REQUIRE(chown(middle.c_str(), 0, 100) == 0);
  CHECK_FALSE(trusted(module));
  REQUIRE(chown(middle.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(trusted(module));
}

TEST_CASE("a directory is secure if nobody else can replace files in it") {
  TemporaryFolder folder;
  const char* path = folder.path().c_str();
  CHECK(is_secure_directory(path));
  chmod(path, 0777);
  CHECK_FALSE(is_secure_directory(path));
  chmod(path, 0770);
  CHECK_FALSE(is_secure_directory(path));
  chmod(path, 01777);
  CHECK(is_secure_directory(path));
  chmod(path, 0755);
  CHECK(is_secure_directory(path));
  if (geteuid() == 0) {
    REQUIRE(chown(path, 65534, 65534) == 0);
    CHECK_FALSE(is_secure_directory(path));
  }
  put_file(folder.in("file"), "");
  CHECK_FALSE(is_secure_directory(folder.in("file").c_str()));
  CHECK_FALSE(is_secure_directory(folder.in("absent").c_str()));
}
