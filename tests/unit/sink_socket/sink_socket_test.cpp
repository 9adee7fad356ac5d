// The socket sink: connecting, both directions, peers that go away.
#include <cstdio>
#include <doctest/doctest.h>

#include <hprof/cpp/service.hpp>

#include "core/agent/services/service_tables.h"
#include "platform/platform.h"
#include "tools/mock/sink_run.h"

extern "C" const hprof_module* hprof_module_sink_socket(const hprof_offer*, const char**);

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_sink_socket, "sink_socket"); }

std::string read_some(SinkRun& sink, uint64_t timeout_ns = 0) {
  uint8_t bytes[64];
  const int64_t got = sink.ops->read(sink.self, bytes, sizeof bytes, timeout_ns);
  if (got < 0) return "gone";
  return std::string(reinterpret_cast<char*>(bytes), static_cast<size_t>(got));
}

// A listening socket of this machine.
struct Listener {
  platform::Socket socket;
  std::string address;
  Listener() {
    REQUIRE(platform::tcp_listen({"127.0.0.1", "0"}, &socket) == 0);
    address = "127.0.0.1:" + std::to_string(platform::socket_port(socket));
  }
  ~Listener() { platform::socket_close(&socket); }
};

}  // namespace

TEST_CASE("it connects within the time given, ten seconds by default") {
  MockHost host;
  SinkRun sink(host, unit(), "localhost:7000");
  REQUIRE(sink.opened == HPROF_OK);
  CHECK(sink.name() == "localhost:7000");
  CHECK(host.last_connect_timeout_ns == 10000000000);
  SinkRun quick(host, unit(), "localhost:7000", {{"net-timeout", "0.5"}});
  CHECK(host.last_connect_timeout_ns == 500000000);
}

TEST_CASE("a peer that does not answer is an error with its address and the reason") {
  MockHost host;
  host.connect_error = "Connection refused";
  SinkRun sink(host, unit(), "localhost:1");
  CHECK(sink.opened == HPROF_FAILED);
  CHECK(std::string(sink.error) == "can't connect to localhost:1: Connection refused");
  CHECK(SinkRun(host, unit(), std::string(600, 'x')).opened == HPROF_FAILED);
  CHECK(host.memory_used == 0);
}

TEST_CASE("bytes go out in parts, and a lost peer is an error") {
  MockHost host;
  host.write_most = 5;
  SinkRun sink(host, unit(), "localhost:7000");
  CHECK(sink.write_all("hello, world") == 12);
  host.space_left = 0;
  CHECK(sink.write("x") == -1);
  CHECK(std::string(sink.error).find("the connection is lost: ") == 0);
  CHECK(sink.close(0) == HPROF_OK);
  REQUIRE(host.connections.size() == 1);
  CHECK(host.connections[0].bytes == "hello, world");
  CHECK(host.memory_used == 0);
}

TEST_CASE("a connection that cannot be closed is an error") {
  MockHost host;
  host.close_error = "Connection reset by peer";
  SinkRun sink(host, unit(), "localhost:7000");
  CHECK(sink.close() == HPROF_FAILED);
  CHECK(std::string(sink.error) == "the connection can't be closed: Connection reset by peer");
}

TEST_CASE("what the peer sends is handed back, and its going away is told from silence") {
  MockHost host;
  host.incoming = {"\x01", "abc", ""};
  SinkRun sink(host, unit(), "localhost:7000");
  CHECK(read_some(sink) == "\x01");
  CHECK(read_some(sink) == "abc");
  CHECK(read_some(sink) == "gone");
  host.incoming.clear();
  CHECK(read_some(sink) == "");
}

TEST_CASE("without memory for it no connection is made") {
  MockHost host;
  host.memory_limit = 0;
  SinkRun sink(host, unit(), "localhost:7000");
  CHECK(sink.opened == HPROF_NO_MEMORY);
  CHECK(host.connections.empty());
}

TEST_CASE("a peer that does not prove the secret gets nothing") {
  MockHost host;
  const std::map<std::string, std::string> options = {{"secret-file", "/secret"}};
  {
    SinkRun sink(host, unit(), "localhost:7000", options);
    REQUIRE(sink.opened == HPROF_OK);
    CHECK(host.secrets_looked_at == 1);
    CHECK(host.proofs == 1);
  }
  host.prove_error = "/secret: others can read it";
  SinkRun sink(host, unit(), "localhost:7000", options);
  // The file is looked at first, and one that will not do is not tried again.
  CHECK(sink.opened == HPROF_UNSUPPORTED);
  CHECK(std::string(sink.error) ==
        "can't connect to localhost:7000: secret-file=/secret: others can read it");
  REQUIRE(host.connections.size() == 1);
  CHECK(host.memory_used == 0);
}

TEST_CASE("a connection whose peer proves nothing is closed") {
  MockHost host;
  hprof_io_service io = *find_service<hprof_io_service>(host.host(), HPROF_SERVICE_IO);
  io.prove = [](const hprof_host*, int64_t handle, const char*, uint64_t, char* error,
                uint32_t size) -> int64_t {
    if (handle < 0) return 0;
    std::snprintf(error, size, "it proves nothing");
    return -1;
  };
  host.set_service(HPROF_SERVICE_IO, &io);
  SinkRun sink(host, unit(), "localhost:7000", {{"secret-file", "/secret"}});
  CHECK(sink.opened == HPROF_FAILED);
  CHECK(std::string(sink.error) == "nothing was sent to localhost:7000: it proves nothing");
  // The mock lists connections that have been closed.
  REQUIRE(host.connections.size() == 1);
  CHECK(host.connections[0].bytes.empty());
}

TEST_CASE("at start-up nothing is connected, but a secret that will not do is an error") {
  MockHost host;
  hprof_sink_target target = {sizeof(target), 1, "localhost:7000", 1, 0, "", 1, 0};
  for (const char* error : {"", "others can read it"}) {
    host.prove_error = error;
    MockConfig config(unit(), {{"secret-file", "/secret"}});
    void* self = nullptr;
    char text[200] = "";
    const auto* ops = static_cast<const hprof_sink_ops*>(unit().ops);
    const hprof_status status = ops->open(host.host(), config.data(), &target, &self, text, sizeof text);
    CHECK(status == (error[0] == '\0' ? HPROF_OK : HPROF_UNSUPPORTED));
    CHECK(self == nullptr);
  }
  CHECK(host.last_connect_timeout_ns == 0);
}

TEST_CASE("real sockets: both directions, and a peer that closes") {
  Listener listener;
  MockHost host;
  host.set_service(HPROF_SERVICE_IO, &kIoService);
  SinkRun sink(host, unit(), listener.address);
  REQUIRE(sink.opened == HPROF_OK);
  const int64_t deadline = platform::deadline_after_ms(10000);
  platform::Socket peer;
  REQUIRE(platform::socket_accept(listener.socket, deadline, &peer) == 0);
  CHECK(sink.write_all("JAVA PROFILE") == 12);
  char got[12];
  CHECK(platform::socket_receive(peer, got, sizeof got, deadline) == 12);
  CHECK(std::string(got, 12) == "JAVA PROFILE");
  CHECK(read_some(sink) == "");
  CHECK(platform::socket_send_all(peer, "\x02", 1, deadline) == 0);
  CHECK(read_some(sink, 5000000000) == "\x02");
  platform::socket_close(&peer);
  CHECK(read_some(sink, 5000000000) == "gone");
  // The first write after that may still be taken by the system; one of the next is not.
  int64_t wrote = 0;
  for (int i = 0; i < 100 && wrote >= 0; i++) wrote = sink.write(std::string(1000, 'x'));
  CHECK(wrote == -1);
  CHECK(sink.close(0) == HPROF_OK);
}
