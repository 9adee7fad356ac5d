// What every port keeps, through platform.h and the C++ library alone, so that it is built and run for each.
#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "platform/platform.h"

using namespace hprof::platform;

namespace {

class Folder {
 public:
  Folder() {
    char name[64];
    snprintf(name, sizeof name, "hprof-port-%u-%llu", process_id(),
             static_cast<unsigned long long>(monotonic_ns()));
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string in(const char* name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void put_file(const std::string& path, const char* text) { std::ofstream(path, std::ios::binary) << text; }

Address loopback(int32_t port, const char* host) {
  Address address{};
  snprintf(address.host, sizeof address.host, "%s", host);
  snprintf(address.port, sizeof address.port, "%d", static_cast<int>(port));
  return address;
}

void burn(int64_t nanoseconds) {
  const int64_t end = monotonic_ns() + nanoseconds;
  volatile unsigned sink = 0;
  while (monotonic_ns() < end) sink = sink + 1;
}

bool count_names(void* context, const char*) {
  ++*static_cast<int*>(context);
  return true;
}

}  // namespace

TEST_CASE("port: clocks go forward and CPU time is used by work") {
  const int64_t wall = wall_ms(), start = monotonic_ns();
  CHECK(wall > 1600000000000);
  burn(100 * kNanosPerMilli);
  CHECK(monotonic_ns() - start >= 100 * kNanosPerMilli);
  CHECK(thread_cpu_ns() > 0);
  CHECK(thread_cpu_ns(current_thread_id()) > 0);
  CHECK(process_cpu_ns() > 0);
  CHECK(thread_cpu_ns(NativeThread::kNone) == -1);
}

TEST_CASE("port: dates have their shape") {
  char text[kTimestampSize];
  REQUIRE(format_timestamp(1709210096123, text, sizeof text) == kTimestampSize - 1);
  CHECK(std::string(text).substr(0, 6) == "202402");
  CHECK(format_timestamp(INT64_MAX, text, sizeof text) == 0);
  const int32_t offset = utc_offset_s(1709210096123);
  CHECK(offset % 900 == 0);
  CHECK((offset >= -12 * 3600 && offset <= 14 * 3600));
}

TEST_CASE("port: this thread is in the listing") {
  struct Seen {
    NativeThread self;
    int count, found;
  } seen{current_thread_id(), 0, 0};
  auto visit = [](void* context, NativeThread thread, const char* name) {
    Seen* s = static_cast<Seen*>(context);
    ++s->count;
    if (thread == s->self && name) ++s->found;
    return true;
  };
  CHECK(for_each_thread(visit, &seen) == 0);
  CHECK(seen.found == 1);
  CHECK(seen.count >= 1);
  char path[1024];
  CHECK(executable_path(path, sizeof path) > 0);
  CHECK(std::filesystem::exists(path));
  CHECK(processor_count() >= 1);
}

TEST_CASE("port: memory is zero when reserved") {
  constexpr size_t kSize = size_t{64} << 20;
  char* region = static_cast<char*>(reserve_lazy(kSize));
  REQUIRE(region != nullptr);
  CHECK(region[kSize - 1] == 0);
  region[kSize / 2] = 7;
  CHECK(region[kSize / 2] == 7);
  release_lazy(region, kSize);
  CHECK(reserve_lazy(0) == nullptr);
  CHECK(resident_bytes() > 0);
}

TEST_CASE("port: threads run, wait for events, and are joined by deadline") {
  struct Work {
    Event go, done;
    int value = 0;
  } work;
  Thread thread;
  REQUIRE(thread.start(
              "port", 0,
              [](void* argument) {
                Work* w = static_cast<Work*>(argument);
                w->go.wait();
                w->value = 5;
                w->done.signal();
              },
              &work) == 0);
  CHECK_FALSE(thread.join(deadline_after_ms(20)));
  CHECK_FALSE(work.done.wait(deadline_after_ms(10)));
  work.go.signal();
  CHECK(work.done.wait());
  CHECK(work.value == 5);
  CHECK(thread.join());
  CHECK_FALSE(thread.started());
  work.done.signal();
  work.done.signal();
  CHECK(work.done.wait(0));
  CHECK_FALSE(work.done.wait(0));
}

TEST_CASE("port: conditions wake and time out") {
  struct Shared {
    Mutex mutex;
    Condition condition;
    bool ready = false;
  } shared;
  {
    MutexLock lock(shared.mutex);
    CHECK_FALSE(shared.condition.wait(shared.mutex, deadline_after_ms(10)));
  }
  Thread thread;
  REQUIRE(thread.start(
              "notifier", 0,
              [](void* argument) {
                Shared* s = static_cast<Shared*>(argument);
                MutexLock lock(s->mutex);
                s->ready = true;
                s->condition.notify_all();
              },
              &shared) == 0);
  {
    MutexLock lock(shared.mutex);
    while (!shared.ready) shared.condition.wait(shared.mutex);
  }
  CHECK(thread.join());
}

TEST_CASE("port: files are created exclusively and truncated only when allowed") {
  Folder folder;
  const std::string path = folder.in("out");
  File file;
  REQUIRE(file_create(path.c_str(), Existing::kRefuse, &file) == 0);
  CHECK(file.kind == FileKind::kRegular);
  CHECK(file_write_all(file, "hello world", 11) == 0);
  CHECK(file_write_at(file, "J", 1, 0) == 1);
  CHECK(file_write_all(file, "!", 1) == 0);
  CHECK(file_close(&file) == 0);
  CHECK(content_of(path) == "Jello world!");
  CHECK(file_create(path.c_str(), Existing::kRefuse, &file) == kErrorExists);
  CHECK_FALSE(file.is_open());
  CHECK(content_of(path) == "Jello world!");
  REQUIRE(file_create(path.c_str(), Existing::kTruncateOwn, &file) == 0);
  CHECK(content_of(path).empty());
  CHECK(file_write_all(file, "x", 1) == 0);
  file_close(&file);
  CHECK(content_of(path) == "x");
  CHECK(file_create(folder.path().c_str(), Existing::kTruncateOwn, &file) == kErrorNotUsable);
  CHECK(file_create(folder.in("no/folder").c_str(), Existing::kRefuse, &file) != 0);
}

TEST_CASE("port: a file with a second name is kept") {
  Folder folder;
  put_file(folder.in("one"), "precious");
  std::error_code failed;
  std::filesystem::create_hard_link(folder.in("one"), folder.in("two"), failed);
  REQUIRE_FALSE(failed);
  File file;
  CHECK(file_create(folder.in("two").c_str(), Existing::kTruncateOwn, &file) == kErrorManyLinks);
  CHECK(content_of(folder.in("one")) == "precious");
}

TEST_CASE("port: files are read, renamed, listed and removed") {
  Folder folder;
  put_file(folder.in("a"), "text");
  File file;
  REQUIRE(file_open(folder.in("a").c_str(), &file) == 0);
  char text[16];
  CHECK(file_read(file, text, sizeof text) == 4);
  CHECK(file_read(file, text, sizeof text) == 0);
  CHECK_FALSE(file_is_terminal(file));
  file_close(&file);
  CHECK(file_open(folder.path().c_str(), &file) == kErrorNotUsable);
  CHECK(file_open(folder.in("absent").c_str(), &file) != 0);
  put_file(folder.in("b"), "old");
  CHECK(file_rename(folder.in("a").c_str(), folder.in("b").c_str()) == 0);
  CHECK(content_of(folder.in("b")) == "text");
  int names = 0;
  CHECK(list_directory(folder.path().c_str(), count_names, &names) == 0);
  CHECK(names == 1);
  CHECK(path_exists(folder.in("b").c_str()));
  CHECK(file_remove(folder.in("b").c_str()) == 0);
  CHECK_FALSE(path_exists(folder.in("b").c_str()));
  CHECK_FALSE(is_secure_directory(folder.in("b").c_str()));
}

TEST_CASE("port: bytes go through TCP connections") {
  for (const char* host : {"127.0.0.1", ""}) {
    Socket listener, client, server;
    REQUIRE(tcp_listen(loopback(0, host), &listener) == 0);
    const int32_t port = socket_port(listener);
    REQUIRE(port > 0);
    REQUIRE(tcp_connect(loopback(port, host), deadline_after_ms(10000), &client) == 0);
    REQUIRE(socket_accept(listener, deadline_after_ms(10000), &server) == 0);
    CHECK(socket_send_all(client, "ping", 4, deadline_after_ms(10000)) == 0);
    char text[8];
    CHECK(socket_receive(server, text, sizeof text, deadline_after_ms(10000)) == 4);
    CHECK(socket_receive(server, text, sizeof text, deadline_after_ms(10)) == -kErrorTimedOut);
    socket_shutdown(client);
    CHECK(socket_receive(server, text, sizeof text, deadline_after_ms(10000)) == 0);
    Socket none;
    CHECK(socket_accept(listener, deadline_after_ms(10), &none) == kErrorTimedOut);
    CHECK(tcp_listen(loopback(port, host), &none) == kErrorInUse);
    for (Socket* socket : {&listener, &client, &server}) socket_close(socket);
    CHECK(tcp_connect(loopback(port, "127.0.0.1"), deadline_after_ms(10000), &none) != 0);
  }
}

TEST_CASE("port: bytes go through local sockets, whose path has one listener") {
  const Folder folder;
  const std::string path = folder.in("socket");
  Socket listener, none;
  CHECK(local_connect(path.c_str(), deadline_after_ms(10), &none) != 0);
  REQUIRE(local_listen(path.c_str(), &listener) == 0);
  CHECK(local_listen(path.c_str(), &none) == kErrorInUse);
  // The look at whether it answers counts as a connection.
  while (socket_accept(listener, deadline_after_ms(10), &none) == 0) socket_close(&none);
  for (int round = 0; round < 3; ++round) {
    Socket client, server;
    REQUIRE(local_connect(path.c_str(), deadline_after_ms(10000), &client) == 0);
    REQUIRE(socket_accept(listener, deadline_after_ms(10000), &server) == 0);
    CHECK(socket_send_all(client, "ping", 4, deadline_after_ms(10000)) == 0);
    char text[8];
    CHECK(socket_receive(server, text, sizeof text, deadline_after_ms(10000)) == 4);
    CHECK(socket_receive(server, text, sizeof text, deadline_after_ms(10)) == -kErrorTimedOut);
    // What was sent before the end arrives.
    CHECK(socket_send_all(server, "pong!", 5, deadline_after_ms(10000)) == 0);
    socket_shutdown(server);
    CHECK(socket_receive(client, text, sizeof text, deadline_after_ms(10000)) == 5);
    CHECK(socket_receive(client, text, sizeof text, deadline_after_ms(10000)) == 0);
    CHECK(socket_send_all(server, "late", 4, deadline_after_ms(10000)) == kErrorClosed);
    for (Socket* socket : {&client, &server}) socket_close(socket);
  }
  CHECK(socket_accept(listener, deadline_after_ms(10), &none) == kErrorTimedOut);
  socket_close(&listener);
  local_remove(path.c_str());
  CHECK(local_connect(path.c_str(), deadline_after_ms(10), &none) != 0);
}

TEST_CASE("port: shutting down a local listener wakes the thread that accepts") {
  const Folder folder;
  Socket listener;
  REQUIRE(local_listen(folder.in("socket").c_str(), &listener) == 0);
  struct Accept {
    Socket listener;
    std::atomic<int> code{-1};
  } accept;
  accept.listener = listener;
  Thread thread;
  const auto run = [](void* self) {
    auto* own = static_cast<Accept*>(self);
    Socket none;
    own->code = socket_accept(own->listener, kNoDeadline, &none);
  };
  REQUIRE(thread.start("accept", 64 * 1024, run, &accept) == 0);
  sleep_ns(20 * kNanosPerMilli);
  socket_shutdown(listener);
  CHECK(thread.join(deadline_after_ms(10000)));
  CHECK(accept.code == kErrorClosed);
  socket_close(&listener);
}

TEST_CASE("port: libraries are loaded by path and found by address") {
  Library library;
  char text[1024];
  REQUIRE(library_open(HPROF_TEST_LIBRARY, &library, text, sizeof text) == 0);
  void* symbol = library_symbol(library, "hprof_test_loadable");
  REQUIRE(symbol != nullptr);
  CHECK(reinterpret_cast<int (*)()>(symbol)() == 42);
  CHECK(symbol_in_library_of(symbol, "hprof_test_loadable") == symbol);
  REQUIRE(library_path_of(symbol, text, sizeof text) > 0);
  CHECK(std::filesystem::path(text).filename() == std::filesystem::path(HPROF_TEST_LIBRARY).filename());
  CHECK(library_open("no-such-library", &library, text, sizeof text) != 0);
  CHECK(std::string(text).find("no-such-library") != std::string::npos);
  CHECK(symbol_in_process("malloc") != nullptr);
}

TEST_CASE("port: errors have texts and random bytes are random") {
  char text[256];
  CHECK(error_text(2, text, sizeof text) > 0);
  CHECK(error_text(kErrorTimedOut, text, sizeof text) > 0);
  CHECK(std::string(text) == "timed out");
  unsigned char a[16] = {}, b[16] = {};
  CHECK(random_bytes(a, sizeof a) == 0);
  CHECK(random_bytes(b, sizeof b) == 0);
  CHECK(std::string(a, a + 16) != std::string(b, b + 16));
}

TEST_CASE("port: the books of this thread have the columns that they say") {
  size_t count = 0;
  const AccountingColumn* columns = accounting_columns(&count);
  REQUIRE(count <= kMaxAccountingColumns);
  burn(50 * kNanosPerMilli);
  ThreadAccounting row;
  REQUIRE(read_accounting(current_thread_id(), &row) == 0);
  bool user = false;
  for (size_t i = 0; i < count; ++i) {
    CHECK(columns[i].name[0] != 0);
    user = user || std::string(columns[i].name) == "user";
  }
  CHECK(user);
  for (size_t i = count; i < kMaxAccountingColumns; ++i) CHECK(row.value[i] == kNotAccounted);
}

TEST_CASE("port: guarded calls call") {
  int value = 0;
  CHECK(guarded_call([](void* v) { *static_cast<int*>(v) = 1; }, &value));
  CHECK(value == 1);
}
