// TCP with deadlines.
#include <errno.h>
#include <thread>
#include <vector>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

Address loopback(int32_t port, const char* host = "127.0.0.1") {
  Address address{};
  snprintf(address.host, sizeof address.host, "%s", host);
  snprintf(address.port, sizeof address.port, "%d", port);
  return address;
}

struct Pair {
  Socket listener, client, server;
  ~Pair() {
    socket_close(&listener);
    socket_close(&client);
    socket_close(&server);
  }
};

void connect_pair(Pair* pair, const char* host) {
  REQUIRE(tcp_listen(loopback(0, host), &pair->listener) == 0);
  const int32_t port = socket_port(pair->listener);
  REQUIRE(port > 0);
  REQUIRE(tcp_connect(loopback(port, host), deadline_after_ms(10000), &pair->client) == 0);
  REQUIRE(socket_accept(pair->listener, deadline_after_ms(10000), &pair->server) == 0);
}

void check_echo(const Pair& pair) {
  CHECK(socket_send_all(pair.client, "ping", 4, deadline_after_ms(10000)) == 0);
  char text[8];
  CHECK(socket_receive(pair.server, text, sizeof text, deadline_after_ms(10000)) == 4);
  CHECK(std::string(text, 4) == "ping");
}

bool has_ipv6() {
  Socket socket;
  const bool has = tcp_listen(loopback(0, "::1"), &socket) == 0;
  socket_close(&socket);
  return has;
}

}  // namespace

TEST_CASE("addresses are split into host and port") {
  Address address;
  REQUIRE(split_address("example.org:1234", nullptr, &address) == 0);
  CHECK(std::string(address.host) == "example.org");
  CHECK(std::string(address.port) == "1234");
  REQUIRE(split_address("[fe80::1%eth0]:80", nullptr, &address) == 0);
  CHECK(std::string(address.host) == "fe80::1%eth0");
  CHECK(std::string(address.port) == "80");
  REQUIRE(split_address(":65535", nullptr, &address) == 0);
  CHECK(std::string(address.host).empty());
  REQUIRE(split_address("host", "99", &address) == 0);
  CHECK(std::string(address.port) == "99");
  REQUIRE(split_address("[::1]", "99", &address) == 0);
  CHECK(std::string(address.host) == "::1");
}

TEST_CASE("texts that are no addresses are refused") {
  Address address;
  for (const char* text : {"", "host", "host:", "host:port", "host:65536", "host:123456", "host:-1",
                           "host: 1", "::1:80", "[::1", "[::1]80", "[]:80", "host:1:2"}) {
    CAPTURE(text);
    CHECK(split_address(text, nullptr, &address) == kErrorBadAddress);
  }
  CHECK(split_address((std::string(400, 'h') + ":1").c_str(), nullptr, &address) == kErrorBadAddress);
}

TEST_CASE("bytes go through a connection over IPv4 and IPv6") {
  Pair four;
  connect_pair(&four, "127.0.0.1");
  check_echo(four);
  if (has_ipv6()) {
    Pair six;
    connect_pair(&six, "::1");
    check_echo(six);
  } else {
    MESSAGE("no IPv6 loopback here");
  }
}

TEST_CASE("without a host the loopback is meant") {
  Pair pair;
  connect_pair(&pair, "");
  check_echo(pair);
}

TEST_CASE("a name is resolved within the deadline") {
  Pair pair;
  REQUIRE(tcp_listen(loopback(0), &pair.listener) == 0);
  CHECK(tcp_connect(loopback(socket_port(pair.listener), "localhost"), deadline_after_ms(10000),
                    &pair.client) == 0);
  Socket none;
  const int64_t start = monotonic_ns();
  const int error = tcp_connect(loopback(1, "no-such-host.invalid"), deadline_after_ms(500), &none);
  CHECK(error != 0);
  CHECK(monotonic_ns() - start < 20 * kNanosPerSecond);
  char text[128];
  CHECK(error_text(error, text, sizeof text) > 0);
}

TEST_CASE("a closed port is refused at once") {
  Socket socket;
  REQUIRE(tcp_listen(loopback(0), &socket) == 0);
  const int32_t port = socket_port(socket);
  socket_close(&socket);
  CHECK(tcp_connect(loopback(port), deadline_after_ms(10000), &socket) == ECONNREFUSED);
  CHECK_FALSE(socket.is_open());
}

TEST_CASE("a host that swallows packets costs no more than the deadline") {
  Socket listener;
  REQUIRE(tcp_listen(loopback(0), &listener) == 0);
  const int32_t port = socket_port(listener);
  // Nobody accepts: once the backlog is full the kernel drops what else arrives.
  std::vector<Socket> filling;
  int error = 0;
  int64_t deadline = 0;
  while (!error && filling.size() < 200) {
    Socket socket;
    deadline = deadline_after_ms(100);
    error = tcp_connect(loopback(port), deadline, &socket);
    if (!error) filling.push_back(socket);
  }
  CHECK(error == kErrorTimedOut);
  CHECK(monotonic_ns() >= deadline);
  for (Socket& socket : filling) socket_close(&socket);
  socket_close(&listener);
}

TEST_CASE("accepting and receiving end at their deadlines") {
  Pair pair;
  connect_pair(&pair, "127.0.0.1");
  Socket none;
  CHECK(socket_accept(pair.listener, deadline_after_ms(10), &none) == kErrorTimedOut);
  char text[8];
  CHECK(socket_receive(pair.server, text, sizeof text, deadline_after_ms(10)) == -kErrorTimedOut);
}

TEST_CASE("sending to a peer that reads nothing ends at the deadline") {
  Pair pair;
  connect_pair(&pair, "127.0.0.1");
  const std::string much(64 << 20, 'x');
  CHECK(socket_send_all(pair.client, much.data(), much.size(), deadline_after_ms(50)) == kErrorTimedOut);
}

TEST_CASE("a peer that went away is an end or an error, and no signal") {
  Pair pair;
  connect_pair(&pair, "127.0.0.1");
  socket_close(&pair.server);
  char text[8];
  CHECK(socket_receive(pair.client, text, sizeof text, deadline_after_ms(10000)) == 0);
  int error = 0;
  for (int i = 0; i < 1000 && !error; ++i) {
    error = socket_send_all(pair.client, "x", 1, deadline_after_ms(1000));
    sleep_ns(kNanosPerMilli);
  }
  CHECK(error == kErrorClosed);
}

TEST_CASE("shutdown wakes threads that wait without a deadline") {
  Pair pair;
  connect_pair(&pair, "127.0.0.1");
  int accepted = 0;
  int64_t received = -1;
  std::thread acceptor([&] {
    Socket none;
    accepted = socket_accept(pair.listener, kNoDeadline, &none);
  });
  std::thread receiver([&] {
    char text[8];
    received = socket_receive(pair.server, text, sizeof text, kNoDeadline);
  });
  socket_shutdown(pair.listener);
  socket_shutdown(pair.server);
  acceptor.join();
  receiver.join();
  CHECK(accepted != 0);
  CHECK(received == 0);
}

TEST_CASE("a port that is taken is in use") {
  Socket one, two;
  REQUIRE(tcp_listen(loopback(0), &one) == 0);
  CHECK(tcp_listen(loopback(socket_port(one)), &two) == kErrorInUse);
  CHECK((fcntl(static_cast<int>(one.handle), F_GETFD) & FD_CLOEXEC) != 0);
  socket_close(&one);
  CHECK(socket_port(Socket{}) < 0);
}
