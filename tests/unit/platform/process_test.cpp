// This process, error texts.
#include <errno.h>
#include <fcntl.h>
#include <map>
#include <sys/socket.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

using Threads = std::map<uint32_t, std::string>;

bool collect(void* context, NativeThread thread, const char* name) {
  (*static_cast<Threads*>(context))[static_cast<uint32_t>(thread)] = name;
  return true;
}

}  // namespace

TEST_CASE("the ids are the system's") {
  CHECK(process_id() == static_cast<uint32_t>(getpid()));
  CHECK(current_thread_id() == static_cast<NativeThread>(gettid()));
}

TEST_CASE("the listing has every thread with its name and stops when told") {
  struct Other {
    std::atomic<uint32_t> id{0};
    Event started, stop;
  } other;
  Thread thread;
  REQUIRE(thread.start(
              "listed-thread-with-a-long-name", 0,
              [](void* argument) {
                Other* o = static_cast<Other*>(argument);
                o->id = static_cast<uint32_t>(current_thread_id());
                o->started.signal();
                o->stop.wait();
              },
              &other) == 0);
  REQUIRE(other.started.wait());
  Threads threads;
  CHECK(for_each_thread(collect, &threads) == 0);
  CHECK(threads.count(static_cast<uint32_t>(current_thread_id())) == 1);
  CHECK(threads[other.id] == "listed-thread-w");
  int visits = 0;
  auto first_only = [](void* context, NativeThread, const char*) {
    ++*static_cast<int*>(context);
    return false;
  };
  CHECK(for_each_thread(first_only, &visits) == 0);
  CHECK(visits == 1);
  other.stop.signal();
  CHECK(thread.join());
}

TEST_CASE("environment, executable and processors") {
  setenv("HPROF_TEST_VARIABLE", "value", 1);
  REQUIRE(environment("HPROF_TEST_VARIABLE") != nullptr);
  CHECK(std::string(environment("HPROF_TEST_VARIABLE")) == "value");
  unsetenv("HPROF_TEST_VARIABLE");
  CHECK(environment("HPROF_TEST_VARIABLE") == nullptr);
  char path[1024];
  const size_t length = executable_path(path, sizeof path);
  CHECK(length == std::string(path).size());
  CHECK(std::string(path).find("hprof_platform_test") != std::string::npos);
  CHECK(processor_count() >= 1);
}

TEST_CASE("random bytes differ from call to call") {
  unsigned char a[32] = {}, b[32] = {};
  CHECK(random_bytes(a, sizeof a) == 0);
  CHECK(random_bytes(b, sizeof b) == 0);
  CHECK(std::string(a, a + 32) != std::string(b, b + 32));
}

TEST_CASE("standard error gets the text as it is, and a closed pipe raises no signal") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  write_stderr("one line\n");
  char text[64] = {};
  CHECK(read(ends[0], text, sizeof text - 1) == 9);
  write_stderr("\x1b]0;a\tb\x07\r\x7f \xc2\x9b|\xc2\xa0|\xe2\x82\xac|\x9b|\xe2\x82\n");
  char clean[64] = {};
  CHECK(read(ends[0], clean, sizeof clean - 1) > 0);
  CHECK(std::string(clean) == "?]0;a\tb??? ??|\xc2\xa0|\xe2\x82\xac|?|??\n");
  const std::string long_text(3000, 'x');
  write_stderr((long_text + "\n").c_str());
  std::string whole(4000, ' ');
  CHECK(read(ends[0], &whole[0], whole.size()) == 3001);
  close(ends[0]);
  write_stderr("into nothing\n");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  CHECK(std::string(text) == "one line\n");
}

namespace {
// Standard error is a pipe that nobody reads, full to the brim; restored at the end.
struct FullPipe {
  int ends[2];
  int saved;
  FullPipe() {
    REQUIRE(pipe(ends) == 0);
    saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    fill();
  }
  ~FullPipe() {
    dup2(saved, STDERR_FILENO);
    for (int descriptor : {saved, ends[0], ends[1]}) close(descriptor);
  }
  void set_blocking(bool blocking) {
    const int flags = fcntl(ends[1], F_GETFL);
    fcntl(ends[1], F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
  }
  void fill() {
    const std::string page(4096, 'x');
    set_blocking(false);
    while (write(ends[1], page.data(), page.size()) > 0) {
    }
    while (write(ends[1], "x", 1) > 0) {
    }
    set_blocking(true);
  }
  // What was written behind the filling.
  std::string drain() {
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    std::string all;
    char part[4096];
    for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;)
      all.append(part, static_cast<size_t>(count));
    return all.substr(all.find_last_of('x') == std::string::npos ? 0 : all.find_last_of('x') + 1);
  }
};
}  // namespace

TEST_CASE("messages into a full pipe are lost and counted, and nobody hangs") {
  FullPipe full;
  for (int i = 0; i < 20; ++i) write_stderr("lost\n");
  CHECK(full.drain() == "");
  write_stderr("heard\n");
  CHECK(full.drain() == "HPROF: 20 messages were lost: nobody read stderr\nheard\n");
  write_stderr("heard again\n");
  CHECK(full.drain() == "heard again\n");
  CHECK((fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("a socket as standard error loses what its peer does not read") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  const std::string line = std::string(1000, 'y') + "\n";
  for (int i = 0; i < 2000; ++i) write_stderr(line.c_str());
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  size_t total = 0;
  char part[4096];
  for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;) total += static_cast<size_t>(count);
  close(ends[0]);
  CHECK(total >= line.size());
  CHECK(total < 2000 * line.size());
}

TEST_CASE("every error has a text, cut to the buffer") {
  char text[128];
  for (int code : {0, ENOENT, EACCES, kErrorTimedOut, kErrorSymbolicLink, kErrorNoMemory, 99999, -5}) {
    CHECK(error_text(code, text, sizeof text) > 0);
    CHECK(text[0] != 0);
  }
  for (int code = kErrorTimedOut; code <= kErrorNoMemory; ++code) {
    error_text(code, text, sizeof text);
    CHECK(std::string(text).find("nknown") == std::string::npos);
  }
  CHECK(error_text(kErrorTimedOut, text, 4) == 3);
  CHECK(std::string(text) == "tim");
  text[0] = 'x';
  CHECK(error_text(ENOENT, text, 0) == 0);
  CHECK(text[0] == 'x');
}
