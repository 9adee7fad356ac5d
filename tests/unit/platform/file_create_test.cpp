// Creating output files where somebody laid traps.
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <thread>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

int create(const std::string& path, Existing existing, File* file) {
  return file_create(path.c_str(), existing, file);
}

void check_writes(File file, const std::string& text) {
  CHECK(file_write_all(file, text.data(), text.size()) == 0);
}

}  // namespace

TEST_CASE("a new file has mode 0600 under any umask and is not inherited") {
  TemporaryFolder folder;
  const Umask open_mask(0);
  File file;
  REQUIRE(create(folder.in("new"), Existing::kRefuse, &file) == 0);
  CHECK(file.kind == FileKind::kRegular);
  CHECK(mode_of(folder.in("new")) == 0600);
  CHECK((fcntl(static_cast<int>(file.handle), F_GETFD) & FD_CLOEXEC) != 0);
  check_writes(file, "hello");
  CHECK(file_close(&file) == 0);
  CHECK_FALSE(file.is_open());
  CHECK(file_close(&file) == 0);
  CHECK(content_of(folder.in("new")) == "hello");
}

TEST_CASE("an existing file is kept unless the caller allows to truncate it") {
  TemporaryFolder folder;
  const std::string path = folder.in("old");
  put_file(path, "precious");
  chmod(path.c_str(), 0644);
  File file;
  CHECK(create(path, Existing::kRefuse, &file) == kErrorExists);
  CHECK_FALSE(file.is_open());
  CHECK(content_of(path) == "precious");
  CHECK(mode_of(path) == 0644);
  REQUIRE(create(path, Existing::kTruncateOwn, &file) == 0);
  CHECK(mode_of(path) == 0600);
  check_writes(file, "new");
  file_close(&file);
  CHECK(content_of(path) == "new");
}

TEST_CASE("a file that somebody has open for output is not taken, and keeps its content") {
  TemporaryFolder folder;
  const std::string path = folder.in("busy");
  File first, second;
  REQUIRE(create(path, Existing::kRefuse, &first) == 0);
  check_writes(first, "first");
  CHECK(create(path, Existing::kTruncateOwn, &second) == kErrorInUse);
  CHECK(create(path, Existing::kRefuse, &second) == kErrorExists);
  CHECK(content_of(path) == "first");
  file_close(&first);
  REQUIRE(create(path, Existing::kTruncateOwn, &first) == 0);
  CHECK(create(path, Existing::kTruncateOwn, &second) == kErrorInUse);
  file_close(&first);
}

TEST_CASE("an open file can be shared with readers, and with nobody else") {
  TemporaryFolder folder;
  File file;
  REQUIRE(create(folder.in("new"), Existing::kRefuse, &file) == 0);
  CHECK(file_share(file, 0640) == 0);
  CHECK(mode_of(folder.in("new")) == 0640);
  CHECK(file_share(file, 0777) == 0);
  CHECK(mode_of(folder.in("new")) == 0644);
  CHECK(file_share(file, 0) == 0);
  CHECK(mode_of(folder.in("new")) == 0600);
  file_close(&file);
}

TEST_CASE("a path is made absolute by the working directory, and not otherwise") {
  char text[4096];
  char here[4096];
  REQUIRE(getcwd(here, sizeof here) != nullptr);
  const size_t length = absolute_path("a/b", text, sizeof text);
  CHECK(text == std::string(here) + "/a/b");
  CHECK(length == strlen(text));
  CHECK(absolute_path("/x", text, sizeof text) == 2);
  CHECK(text == std::string("/x"));
  CHECK(absolute_path("a/b", text, strlen(here) + 3) == 0);
}

TEST_CASE("a symbolic link is refused, to a file as to nothing, and its target is kept") {
  TemporaryFolder folder;
  put_file(folder.in("target"), "precious");
  std::filesystem::create_symlink(folder.in("target"), folder.in("link"));
  std::filesystem::create_symlink(folder.in("nothing"), folder.in("dangling"));
  std::filesystem::create_symlink("/dev/null", folder.in("device"));
  File file;
  for (Existing existing : {Existing::kRefuse, Existing::kTruncateOwn}) {
    for (const char* name : {"link", "dangling", "device"}) {
      CHECK(create(folder.in(name), existing, &file) == kErrorSymbolicLink);
    }
  }
  CHECK(content_of(folder.in("target")) == "precious");
  CHECK_FALSE(path_exists(folder.in("nothing").c_str()));
}

TEST_CASE("a file of another user is kept") {
  TemporaryFolder folder;
  std::string path = "/etc/passwd";
  if (geteuid() == 0) {
    path = folder.in("foreign");
    put_file(path, "precious");
    REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
  }
  const std::string before = content_of(path);
  File file;
  CHECK(create(path, Existing::kTruncateOwn, &file) == kErrorNotOwned);
  CHECK(content_of(path) == before);
}

TEST_CASE("a file with a second name is kept") {
  TemporaryFolder folder;
  put_file(folder.in("one"), "precious");
  REQUIRE(link(folder.in("one").c_str(), folder.in("two").c_str()) == 0);
  File file;
  CHECK(create(folder.in("two"), Existing::kTruncateOwn, &file) == kErrorManyLinks);
  CHECK(content_of(folder.in("one")) == "precious");
}

TEST_CASE("directories and sockets are refused, missing folders are an error") {
  TemporaryFolder folder;
  File file;
  CHECK(create(folder.path(), Existing::kTruncateOwn, &file) == kErrorNotUsable);
  Socket listener;
  REQUIRE(local_listen(folder.in("socket").c_str(), &listener) == 0);
  CHECK(create(folder.in("socket"), Existing::kTruncateOwn, &file) == kErrorNotUsable);
  socket_close(&listener);
  CHECK(create(folder.in("no/such/folder"), Existing::kRefuse, &file) == ENOENT);
  CHECK(create("", Existing::kRefuse, &file) == ENOENT);
}

TEST_CASE("devices are written as they are and say when they are full") {
  // Root brings its own: where /dev/full is missing this would make a file of that name.
  TemporaryFolder folder;
  std::string full = folder.in("full");
  if (geteuid() != 0 || mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0) full = "/dev/full";
  REQUIRE(std::filesystem::is_character_file(full));
  REQUIRE(std::filesystem::is_character_file("/dev/null"));
  File file;
  REQUIRE(create("/dev/null", Existing::kRefuse, &file) == 0);
  CHECK(file.kind == FileKind::kStream);
  check_writes(file, std::string(100000, 'x'));
  file_close(&file);
  REQUIRE(create(full, Existing::kTruncateOwn, &file) == 0);
  CHECK(file_write(file, "x", 1) == -ENOSPC);
  CHECK(file_write_all(file, "xyz", 3, deadline_after_ms(1000)) == ENOSPC);
  file_close(&file);
}

TEST_CASE("/dev/stdout is a copy of our own descriptor, neither opened nor truncated") {
  TemporaryFolder folder;
  const std::string path = folder.in("redirected");
  fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  const int target = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  dup2(target, STDOUT_FILENO);
  REQUIRE(write(STDOUT_FILENO, "before ", 7) == 7);
  File file;
  const int error = create("/dev/stdout", Existing::kRefuse, &file);
  const int written = error ? error : file_write_all(file, "ours ", 5);
  const ssize_t after = write(STDOUT_FILENO, "after", 5);
  file_close(&file);
  const bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
  dup2(saved, STDOUT_FILENO);
  close(saved);
  CHECK(error == 0);
  CHECK(written == 0);
  CHECK(after == 5);
  CHECK(still_open);
  CHECK(content_of(path) == "before ours after");
  CHECK(mode_of(path) == 0644);
  const std::string by_number = "/dev/fd/" + std::to_string(target);
  REQUIRE(create(by_number, Existing::kRefuse, &file) == 0);
  check_writes(file, "!");
  file_close(&file);
  CHECK(content_of(path) == "before ours after!");
  close(target);
}

TEST_CASE("descriptors that are closed, for reading only or misspelt are refused") {
  TemporaryFolder folder;
  put_file(folder.in("input"), "x");
  const int input = open(folder.in("input").c_str(), O_RDONLY);
  File file;
  CHECK(create("/dev/fd/" + std::to_string(input), Existing::kRefuse, &file) == EBADF);
  close(input);
  CHECK(create("/dev/fd/99999", Existing::kRefuse, &file) == EBADF);
  CHECK(create("/proc/self/fd/99999999999999999999", Existing::kRefuse, &file) != 0);
  CHECK(create("/proc/self/fd/", Existing::kRefuse, &file) != 0);
  CHECK_FALSE(file.is_open());
}

TEST_CASE("a FIFO wants a reader, waits for it until the deadline, and never longer for a slow one") {
  TemporaryFolder folder;
  const std::string path = folder.in("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  File file;
  CHECK(create(path, Existing::kRefuse, &file) == kErrorNoReader);
  CHECK(file_create(path.c_str(), Existing::kRefuse, &file, deadline_after_ms(30)) == kErrorNoReader);
  int reader = -1;
  std::thread late([&] {
    sleep_ns(20 * kNanosPerMilli);
    reader = open(path.c_str(), O_RDONLY);
  });
  CHECK(file_create(path.c_str(), Existing::kRefuse, &file, deadline_after_ms(60000)) == 0);
  late.join();
  REQUIRE(file.is_open());
  CHECK(file.kind == FileKind::kStream);
  check_writes(file, "data");
  char text[8] = {};
  CHECK(read(reader, text, sizeof text) == 4);
  const std::string much(1 << 20, 'x');
  CHECK(file_write_all(file, much.data(), much.size(), deadline_after_ms(30)) == kErrorTimedOut);
  close(reader);
  CHECK(file_write(file, "x", 1) == -EPIPE);
  file_close(&file);
}

TEST_CASE("a FIFO of another user is refused") {
  if (geteuid() != 0) return;  // nobody else can make one for us
  TemporaryFolder folder;
  const std::string path = folder.in("fifo");
  REQUIRE(mkfifo(path.c_str(), 0666) == 0);
  REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
  File file;
  CHECK(create(path, Existing::kTruncateOwn, &file) == kErrorNotOwned);
}
