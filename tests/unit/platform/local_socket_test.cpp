// Local sockets: who may connect, and what is replaced.
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("a local socket has mode 0600 under any umask and knows its peer") {
  TemporaryFolder folder;
  for (mode_t mask : {0, 0777}) {
    const std::string path = folder.in("socket" + std::to_string(mask));
    Socket listener, client, server;
    {
      const Umask scope(mask);
      REQUIRE(local_listen(path.c_str(), &listener) == 0);
    }
    CHECK(mode_of(path) == 0600);
    REQUIRE(local_connect(path.c_str(), deadline_after_ms(10000), &client) == 0);
    REQUIRE(socket_accept(listener, deadline_after_ms(10000), &server) == 0);
    uint32_t user = 12345;
    CHECK(socket_peer_user(server, &user) == 0);
    CHECK(user == current_user());
    CHECK(is_own_peer(server));
    CHECK(socket_send_all(server, "hi", 2, deadline_after_ms(1000)) == 0);
    char text[4];
    CHECK(socket_receive(client, text, sizeof text, deadline_after_ms(1000)) == 2);
    for (Socket* socket : {&listener, &client, &server}) socket_close(socket);
  }
}

TEST_CASE("a local socket that is shut down takes no more connections, and says so") {
  TemporaryFolder folder;
  Socket listener, server;
  REQUIRE(local_listen(folder.in("socket").c_str(), &listener) == 0);
  socket_shutdown(listener);
  CHECK(socket_accept(listener, deadline_after_ms(10000), &server) == kErrorClosed);
  socket_close(&listener);
}

TEST_CASE("a socket left behind is replaced, one that answers is not") {
  TemporaryFolder folder;
  const std::string path = folder.in("socket");
  Socket first, second, client;
  REQUIRE(local_listen(path.c_str(), &first) == 0);
  CHECK(local_listen(path.c_str(), &second) == kErrorInUse);
  CHECK(local_connect(path.c_str(), deadline_after_ms(1000), &client) == 0);
  socket_close(&client);
  socket_close(&first);
  CHECK(local_connect(path.c_str(), deadline_after_ms(1000), &client) == ECONNREFUSED);
  REQUIRE(local_listen(path.c_str(), &second) == 0);
  CHECK(local_connect(path.c_str(), deadline_after_ms(1000), &client) == 0);
  socket_close(&client);
  socket_close(&second);
}

TEST_CASE("what is not a socket of ours is left alone") {
  TemporaryFolder folder;
  put_file(folder.in("file"), "precious");
  Socket socket;
  CHECK(local_listen(folder.in("file").c_str(), &socket) == kErrorExists);
  CHECK(content_of(folder.in("file")) == "precious");
  std::filesystem::create_symlink(folder.in("nothing"), folder.in("link"));
  CHECK(local_listen(folder.in("link").c_str(), &socket) == kErrorExists);
  CHECK_FALSE(path_exists(folder.in("nothing").c_str()));
  if (geteuid() == 0) {
    REQUIRE(local_listen(folder.in("foreign").c_str(), &socket) == 0);
    socket_close(&socket);
    REQUIRE(chown(folder.in("foreign").c_str(), 65534, 65534) == 0);
    CHECK(local_listen(folder.in("foreign").c_str(), &socket) == kErrorNotOwned);
  }
}

TEST_CASE("a folder in which others may rename is refused") {
  TemporaryFolder folder;
  chmod(folder.path().c_str(), 0777);
  Socket socket;
  CHECK(local_listen(folder.in("socket").c_str(), &socket) == kErrorUnsafeDirectory);
  CHECK_FALSE(path_exists(folder.in("socket").c_str()));
}

TEST_CASE("a folder above in which others may rename is refused, whatever way leads there") {
  TemporaryFolder top;
  const std::string middle = top.in("middle"), folder = middle + "/own", link = top.in("link");
  REQUIRE(mkdir(middle.c_str(), 0755) == 0);
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(symlink(folder.c_str(), link.c_str()) == 0);
  Socket socket;
  for (const std::string& path : {folder + "/socket", link + "/socket"}) {
    REQUIRE(chmod(middle.c_str(), 0777) == 0);
    CHECK(local_listen(path.c_str(), &socket) == kErrorUnsafeDirectory);
    CHECK_FALSE(path_exists(path.c_str()));
    // For who knows the folder by a descriptor.
    REQUIRE(local_listen(path.c_str(), &socket, false) == 0);
    socket_close(&socket);
    for (mode_t mode : {01777, 0755}) {
      REQUIRE(chmod(middle.c_str(), mode) == 0);
      REQUIRE(local_listen(path.c_str(), &socket) == 0);
      socket_close(&socket);
    }
    REQUIRE(unlink(path.c_str()) == 0);
  }
  CHECK(local_listen(top.in("absent/socket").c_str(), &socket) == ENOENT);
}

TEST_CASE("paths that no socket can have are refused") {
  Socket socket;
  CHECK(local_listen(("/tmp/" + std::string(200, 'x')).c_str(), &socket) == kErrorBadAddress);
  CHECK(local_listen("", &socket) == kErrorBadAddress);
  CHECK(local_connect("", 0, &socket) == kErrorBadAddress);
  CHECK(local_connect("/no/such/socket", 0, &socket) == ENOENT);
}
