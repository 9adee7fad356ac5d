// The control protocol against a scripted server.
#include "tools/hprof/agent/ctl_session.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include "tools/hprof/agent/socket_command.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

using namespace hprof;
using namespace hprof::tool;

namespace {

struct Server {
  std::string answer;  // all that it will say
  std::string heard;   // all that the client said
  std::string printed;
  std::string error;
  size_t piece = 3;

  int run(const std::string& command, const std::string* secret = nullptr) {
    size_t at = 0;
    Channel channel;
    channel.write = [this](const std::string& bytes, std::string*) {
      heard += bytes;
      return true;
    };
    channel.read = [this, &at](char* to, size_t size, std::string*) {
      size_t count = std::min({size, piece, answer.size() - at});
      std::copy_n(answer.data() + at, count, to);
      at += count;
      return static_cast<long>(count);
    };
    return control_session(
        channel, secret, command, [this](const std::string& line) { printed += line + "\n"; }, &error);
  }
};

}  // namespace

TEST_CASE("text lines are printed and OK ends the answer") {
  Server server;
  server.answer = " cpu=samples running\n  indented\n \nOK 3 samples\nnever read";
  CHECK(server.run("status now") == kDone);
  CHECK(server.heard == "status now\n");
  CHECK(server.printed == "cpu=samples running\n indented\n\n3 samples\n");
}

TEST_CASE("ERROR is status 1 and its text the reason") {
  Server server;
  server.answer = "ERROR no such command\n";
  CHECK(server.run("jump") == kFoundProblems);
  CHECK(server.error == "no such command");
}

TEST_CASE("ERROR without a reason has one, before and after the proof of the secret") {
  const std::string secret = "secret";
  for (const std::string* key : {static_cast<const std::string*>(nullptr), &secret}) {
    Server server;
    server.answer = "ERROR\n";
    CHECK(server.run("status", key) == kFoundProblems);
    CHECK(server.error == "the agent refused");
  }
}

TEST_CASE("a server that stops, babbles or never ends a line is status 2") {
  Server stops;
  stops.answer = " partly\n";
  CHECK(stops.run("report") == kFailed);
  Server babbles;
  babbles.answer = "HTTP/1.1 400 Bad Request\n";
  CHECK(babbles.run("report") == kFailed);
  Server endless;
  endless.answer = std::string(kControlLineMax + 10000, 'x');
  endless.piece = 4096;
  CHECK(endless.run("report") == kFailed);
}

TEST_CASE("a command that is no single line is not sent") {
  for (const char* command : {"", "a\nb", "a\x1b", "a\x7f"}) {
    Server server;
    server.answer = "OK\n";
    CHECK(server.run(command) == kFailed);
    CHECK(server.heard.empty());
  }
  Server server;
  CHECK(server.run(std::string(5000, 'a')) == kFailed);
  CHECK(server.heard.empty());
}

TEST_CASE("the challenge is answered with the HMAC of the nonce bytes") {
  Server server;
  std::string nonce(64, '0');
  server.answer = "HPROF 1 " + nonce + "\nOK\n";
  std::string secret = "Jefe";
  CHECK(server.run("start", &secret) == kDone);
  uint8_t zeros[hprof::kNonceSize] = {};
  CHECK(server.heard == authentication(secret, zeros) + "\nstart\n");
  CHECK(authentication(secret, zeros).size() == 5 + 64);
  CHECK(authentication("other", zeros) != authentication(secret, zeros));
}

TEST_CASE("without a proper greeting nothing is sent") {
  std::string secret = "s";
  std::string nonce(64, 'a');
  for (const std::string& greeting :
       {"HPROF 2 " + nonce, "HPROF 1 " + nonce + "0", "HPROF 1 " + nonce.substr(1),
        "HPROF 1 " + nonce.substr(1) + "g", std::string("SSH-2.0")}) {
    Server server;
    server.answer = greeting + "\nOK\n";
    CHECK(server.run("start", &secret) == kFailed);
    CHECK(server.heard.empty());
  }
}

TEST_CASE("an answer has a bound, and ends at the deadline however much data flows") {
  Server server;
  server.piece = 4096;
  for (size_t i = 0; i <= kControlAnswerMax / 64; ++i) server.answer += " " + std::string(62, 'x') + "\n";
  CHECK(server.run("status") == kFailed);
  CHECK(server.error.find("more than 1 MB") != std::string::npos);
  CHECK(server.printed.size() <= kControlAnswerMax);

  uint16_t port = 0;
  std::string error;
  char byte = 0;
  const int listener = os::listen_tcp("127.0.0.1", &port, &error);
  const int client = os::connect_tcp("127.0.0.1", std::to_string(port), 10, &error);
  const int peer = os::accept_peer(listener, &error);
  REQUIRE(os::send_all(peer, "xy", 2, 10, &error));
  CHECK(socket_channel(client, os::monotonic_seconds() + 60).read(&byte, 1, &error) == 1);
  CHECK(socket_channel(client, os::monotonic_seconds()).read(&byte, 1, &error) == -1);
  CHECK(error == "timed out before the end of the answer");
  for (int socket : {peer, client, listener}) os::close_socket(socket);
}

namespace {

std::string wire(const std::string& text, unsigned id_size = 4) {
  SocketCommand command;
  std::string error;
  REQUIRE_MESSAGE(parse_socket_command(text, id_size, &command, &error), error);
  return encode_socket_command(command, 1);
}

std::string bytes(std::initializer_list<int> list) {
  std::string text;
  for (int value : list) text.push_back(static_cast<char>(value));
  return text;
}

bool refused(const std::string& text) {
  SocketCommand command;
  std::string error;
  bool good = parse_socket_command(text, 4, &command, &error);
  return !good && !error.empty();
}

}  // namespace

TEST_CASE("plain commands have a tag, a serial number and no body") {
  CHECK(wire("gc") == bytes({1, 0, 0, 0, 1, 0, 0, 0, 0}));
  CHECK(wire("  dump   heap ") == bytes({2, 0, 0, 0, 1, 0, 0, 0, 0}));
  CHECK(wire("summary")[0] == 4);
  CHECK(wire("exit")[0] == 5);
  CHECK(wire("traces")[0] == 6);
  CHECK(wire("eof")[0] == '\xff');
}

TEST_CASE("tables carry flags and a float cutoff") {
  CHECK(wire("sites cutoff=0.5") == bytes({3, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0x3f, 0, 0, 0}));
  CHECK(wire("sites incremental alloc gc cutoff=1") ==
        bytes({3, 0, 0, 0, 1, 0, 0, 0, 6, 0, 7, 0x3f, 0x80, 0, 0}));
  CHECK(wire("samples") == bytes({7, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0x38, 0xd1, 0xb7, 0x17}));
}

TEST_CASE("control commands have the lengths that tell them apart") {
  CHECK(wire("control alloc on") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1}));
  CHECK(wire("control alloc off") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 2}));
  CHECK(wire("control cpu on") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 6, 0, 3, 0, 0, 0, 0}));
  CHECK(wire("control cpu off thread=0x1234", 8) ==
        bytes({8, 0, 0, 0, 1, 0, 0, 0, 10, 0, 4, 0, 0, 0, 0, 0, 0, 0x12, 0x34}));
  CHECK(wire("control clear cpu") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5}));
  CHECK(wire("control clear sites") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 6}));
  CHECK(wire("control depth 300") == bytes({8, 0, 0, 0, 1, 0, 0, 0, 4, 0, 7, 1, 44}));
}

TEST_CASE("what is no command is refused with a reason") {
  for (const char* text :
       {"", "dump", "heap dump", "sites cutoff=-2", "sites cutoff=x", "sites cutoff=nan", "samples alloc",
        "control", "control depth", "control depth 70000", "control cpu on thread=x",
        "control cpu on thread=0x100000000", "control alloc on now", "exit now"}) {
    CAPTURE(text);
    CHECK(refused(text));
  }
}
