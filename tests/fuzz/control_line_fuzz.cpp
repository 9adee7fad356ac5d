// Typed commands, and what the peer of a control socket says.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "tools/hprof/agent/ctl_session.h"
#include "tools/hprof/agent/socket_command.h"

using namespace hprof::tool;

std::vector<std::string> fuzz_seeds() {
  return {"sites incremental alloc gc cutoff=0.5",
          "control cpu on thread=0x1234",
          "control depth 300",
          "HPROF 1 " + std::string(64, 'a') + "\n text\nOK done\n",
          " a\n b\nERROR no\n",
          "OK\n",
          "ERROR\n",
          "dump heap"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size), error;
  for (unsigned id_size : {4u, 8u}) {
    SocketCommand command;
    bool good = parse_socket_command(text, id_size, &command, &error);
    if (good && (command.tag == 0 || command.body.size() > 10)) __builtin_trap();
    if (good && encode_socket_command(command, 1).size() != 9 + command.body.size()) __builtin_trap();
    if (!good && error.empty()) __builtin_trap();
  }
  std::string secret = "secret";
  for (const std::string* key :
       {static_cast<const std::string*>(nullptr), static_cast<const std::string*>(&secret)}) {
    size_t at = 0;
    Channel channel;
    channel.write = [](const std::string& bytes, std::string*) { return bytes.back() == '\n'; };
    channel.read = [&](char* to, size_t room, std::string*) {
      size_t count = std::min({room, size_t{7}, size - at});
      std::copy_n(data + at, count, to);
      at += count;
      return static_cast<long>(count);
    };
    size_t printed = 0;
    error.clear();
    int status = control_session(
        channel, key, "status", [&](const std::string& line) { printed += line.size(); }, &error);
    if (printed > size || (status != 0 && error.empty())) __builtin_trap();
  }
  return 0;
}
