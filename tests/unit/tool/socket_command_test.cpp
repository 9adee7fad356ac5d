// Commands on the wire.
#include "tools/hprof/ctl/socket_command.h"

#include <doctest/doctest.h>

using namespace hprof::tool;

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
