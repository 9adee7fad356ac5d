// hprof listen and hprof ctl over real sockets of this machine.
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "core/protocol/peer_proof.h"
#include "tests/unit/support/hprof_builder.h"
#include "tools/hprof/agent/ctl_session.h"
#include "tools/hprof/command.h"
#include "tools/hprof/listen/stream_watch.h"
#include "tools/hprof/terminal.h"
#include "tools/os/os.h"

using namespace hprof;
using namespace hprof::tool;

namespace {

// A folder that goes away with the test.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/hprof-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() { REQUIRE(std::system(("rm -rf " + path).c_str()) == 0); }
};

// What is printed meanwhile is kept out of the test's own output.
struct Quiet {
  std::ostringstream out, err;
  std::streambuf* old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* old_err = std::cerr.rdbuf(err.rdbuf());
  ~Quiet() {
    std::cout.rdbuf(old_out);
    std::cerr.rdbuf(old_err);
  }
};

uint16_t free_port() {
  uint16_t port = 0;
  std::string error;
  int fd = os::listen_tcp("127.0.0.1", &port, &error);
  REQUIRE(fd >= 0);
  os::close_socket(fd);
  return port;
}

int connect_soon(uint16_t port) {
  std::string error;
  for (int i = 0; i < 500; ++i) {
    int fd = os::connect_tcp("127.0.0.1", std::to_string(port), 10, &error);
    if (fd >= 0) return fd;
    usleep(10000);
  }
  return -1;
}

std::string read_exactly(int fd, size_t size) {
  std::string text(size, '\0'), error;
  size_t got = 0;
  while (got < size) {
    long more = os::receive_some(fd, &text[got], size - got, 10, &error);
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  text.resize(got);
  return text;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a stream arrives in a private file and commands arrive at the peer") {
  Folder folder;
  std::string file = folder.path + "/out.hprof", stream = test::DumpRecipe().build(), heard, error;
  uint16_t port = free_port();
  int status = -1;
  Quiet quiet;
  std::thread listener([&] {
    status = run_command_line({"listen", "--port=" + std::to_string(port), "-o", file, "--no-input",
                               "--cmd=dump heap", "--cmd", "control depth 9"});
  });
  int fd = connect_soon(port);
  if (fd >= 0) {
    heard = read_exactly(fd, 9 + 13);
    os::send_all(fd, stream.data(), stream.size(), 10, &error);
    os::close_socket(fd);
  }
  listener.join();
  CHECK(fd >= 0);
  CHECK(status == kDone);
  CHECK(heard == std::string("\x02\0\0\0\1\0\0\0\0\x08\0\0\0\2\0\0\0\4\0\7\0\x09", 22));
  CHECK(file_text(file) == stream);
  struct stat info {};
  CHECK(stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a stream that breaks off within a record is status 1") {
  Folder folder;
  std::string stream = test::DumpRecipe().build(), error;
  uint16_t port = free_port();
  int status = -1;
  Quiet quiet;
  std::thread listener([&] {
    status = run_command_line(
        {"listen", "--port=" + std::to_string(port), "-o", folder.path + "/cut", "--no-input", "--quiet"});
  });
  int fd = connect_soon(port);
  if (fd >= 0) os::send_all(fd, stream.data(), stream.size() - 5, 10, &error);
  os::close_socket(fd);
  listener.join();
  CHECK(status == kFoundProblems);
}

TEST_CASE("an existing file is kept without --force, and a symbolic link is never followed") {
  Folder folder;
  std::string file = folder.path + "/kept.hprof", link = folder.path + "/link";
  std::string stream = test::DumpRecipe().build(), error;
  std::ofstream(file) << "precious";
  REQUIRE(symlink(file.c_str(), link.c_str()) == 0);
  uint16_t port = free_port();
  int status = -1;
  Quiet quiet;
  CHECK(run_command_line({"listen", "-o", link, "--no-input", "--force"}) == kFailed);
  std::thread listener([&] {
    status =
        run_command_line({"listen", "--port=" + std::to_string(port), "-o", file, "--no-input", "--quiet"});
  });
  int fd = connect_soon(port);
  if (fd >= 0) os::send_all(fd, stream.data(), stream.size(), 10, &error);
  os::close_socket(fd);
  listener.join();
  CHECK(status == kDone);
  CHECK(file_text(file) == "precious");
  CHECK(file_text(folder.path + "/kept.2.hprof") == stream);
}

TEST_CASE("listen refuses commands that it does not know before anyone connects") {
  Quiet quiet;
  CHECK(run_command_line({"listen", "--cmd=dump everything"}) == kFailed);
  CHECK(quiet.err.str().find("dump everything") != std::string::npos);
}

TEST_CASE("with a secret the first who proves it is the agent, what was said before proves nothing") {
  Folder folder;
  const std::string secret = "correct horse battery staple", path = folder.path + "/secret";
  const std::string stream = test::DumpRecipe().build(), file = folder.path + "/got";
  std::ofstream(path) << secret << '\n';
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  uint16_t port = free_port();
  int status = -1;
  Quiet quiet;
  std::thread listener([&] {
    status = run_command_line({"listen", "--port=" + std::to_string(port), "--secret-file=" + path, "-o",
                               file, "--no-input", "--quiet"});
  });
  std::string greeting, heard, proof, error;
  PeerNonces nonces = {};
  const Str key(secret.data(), secret.size());
  char room[kPeerLineMost];
  TextWriter words(room, sizeof room);
  put_peer_greeting(nonces, &words);
  greeting = room;
  auto talk = [&](int fd, const std::string& first, const std::string* second) {
    os::send_all(fd, first.data(), first.size(), 10, &error);
    heard = read_exactly(fd, 5 + 64 + 1 + 64 + 1);
    if (second != nullptr) os::send_all(fd, second->data(), second->size(), 10, &error);
  };
  int fd = connect_soon(port);
  os::send_all(fd, stream.data(), stream.size(), 10, &error);
  CHECK(read_exactly(fd, 1).empty());
  os::close_socket(fd);
  fd = connect_soon(port);
  const std::string wrong = "AUTH " + std::string(64, '0') + "\n";
  talk(fd, greeting, &wrong);
  CHECK(read_exactly(fd, 1).empty());
  os::close_socket(fd);
  fd = connect_soon(port);
  talk(fd, greeting, nullptr);
  REQUIRE(heard.size() == 135);
  CHECK(take_peer_proof(PeerPart::kListener, Str(heard.data(), heard.size() - 1), key, &nonces));
  TextWriter last(room, sizeof room);
  put_peer_proof(PeerPart::kAgent, key, nonces, &last);
  proof = room;
  const std::string all = proof + stream;
  os::send_all(fd, all.data(), all.size(), 10, &error);
  os::close_socket(fd);
  listener.join();
  CHECK(status == kDone);
  CHECK(file_text(file) == stream);
  // The words of that conversation, said again.
  port = free_port();
  std::thread again([&] {
    status = run_command_line({"listen", "--port=" + std::to_string(port), "--secret-file=" + path, "-o",
                               file, "--no-input", "--quiet", "--force"});
  });
  fd = connect_soon(port);
  talk(fd, greeting, &all);
  CHECK(read_exactly(fd, 1).empty());
  os::close_socket(fd);
  // The right one ends that listener.
  fd = connect_soon(port);
  talk(fd, greeting, nullptr);
  CHECK(take_peer_proof(PeerPart::kListener, Str(heard.data(), heard.size() - 1), key, &nonces));
  TextWriter fresh(room, sizeof room);
  put_peer_proof(PeerPart::kAgent, key, nonces, &fresh);
  os::send_all(fd, room, fresh.size(), 10, &error);
  os::close_socket(fd);
  again.join();
  CHECK(file_text(file).empty());
  CHECK(run_command_line({"listen", "--secret-file=" + folder.path + "/nowhere"}) == kFailed);
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(run_command_line({"listen", "--secret-file=" + path}) == kFailed);
}

namespace {

// What `ctl PATH dump heap` prints when the agent answers so. *heard: what the agent got.
std::string printed_by_ctl(const std::string& answer, int wanted, std::string* heard) {
  Folder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = folder.path + "/ctl.sock";
  REQUIRE(path.copy(address.sun_path, sizeof address.sun_path - 1) == path.size());
  int server = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(server, 1) == 0);
  std::thread agent([&] {
    int fd = accept(server, nullptr, nullptr);
    std::string error;
    *heard = read_exactly(fd, 10);
    os::send_all(fd, answer.data(), answer.size(), 10, &error);
    os::close_socket(fd);
  });
  int status = -1;
  std::string printed;
  {
    Quiet quiet;
    const PrintableStreams streams;
    status = run_command_line({"ctl", path, "dump", "heap"});
    printed = quiet.out.str() + quiet.err.str();
  }
  agent.join();
  os::close_socket(server);
  CHECK(status == wanted);
  return printed;
}

}  // namespace

TEST_CASE("ctl speaks to a unix socket") {
  std::string heard;
  CHECK(printed_by_ctl(" running\x1b[2J\nOK\n", kDone, &heard) == "running\\x1b[2J\n");
  CHECK(heard == "dump heap\n");
}

TEST_CASE("ctl completes the command of a refusal") {
  std::string heard;
  const std::string said = printed_by_ctl(
      "ERROR no collector was chosen that has heap dumps; `hprof profile` runs one beside this session\n",
      kFoundProblems, &heard);
  CHECK_MESSAGE(
      said.find("; `hprof profile PID heap=dump` runs one beside this session") != std::string::npos, said);
}

TEST_CASE("ctl over TCP proves the secret first") {
  Folder folder;
  std::string secret = folder.path + "/secret", heard, error;
  std::ofstream(secret) << "what do ya want for nothing?\n";
  REQUIRE(chmod(secret.c_str(), 0600) == 0);
  uint16_t port = 0;
  int server = os::listen_tcp("127.0.0.1", &port, &error);
  REQUIRE(server >= 0);
  std::thread agent([&] {
    std::string why;
    int fd = os::accept_peer(server, &why);
    std::string greeting = "HPROF 1 " + std::string(64, '0') + "\n", answer = "ERROR busy\n";
    os::send_all(fd, greeting.data(), greeting.size(), 10, &why);
    heard = read_exactly(fd, 70 + 6);
    os::send_all(fd, answer.data(), answer.size(), 10, &why);
    os::close_socket(fd);
  });
  int status = -1;
  {
    Quiet quiet;
    status =
        run_command_line({"ctl", "--secret-file=" + secret, "127.0.0.1:" + std::to_string(port), "start"});
  }
  agent.join();
  os::close_socket(server);
  uint8_t zeros[kNonceSize] = {};
  CHECK(status == kFoundProblems);
  CHECK(heard == authentication("what do ya want for nothing?", zeros) + "\nstart\n");
  Quiet quiet;
  CHECK(run_command_line({"ctl", "127.0.0.1:1", "start"}) == kFailed);
  CHECK(run_command_line({"ctl", folder.path + "/nobody", "status"}) == kFailed);
}

using hprof::test::DumpRecipe;
using hprof::test::HprofBuilder;

TEST_CASE("records are counted however the stream is cut") {
  HprofBuilder b(8);
  b.string(1, "text").begin(0x2c).end();
  b.begin(0x0d).u4(1).u4(0).end();
  const std::string& bytes = b.bytes();
  for (size_t piece : {size_t{1}, size_t{2}, size_t{7}, bytes.size()}) {
    StreamWatch watch;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      watch.add(bytes.data() + at, bytes.size() - at < piece ? bytes.size() - at : piece);
    }
    CHECK(watch.records() == 3);
    CHECK(watch.id_size() == 8);
    CHECK(watch.bytes() == bytes.size());
    CHECK(watch.last_tag() == 0x0d);
    CHECK(watch.complete());
    CHECK_FALSE(watch.is_text());
  }
}

TEST_CASE("a stream that stops within a head or body is not complete") {
  std::string bytes = HprofBuilder().string(1, "text").bytes();
  size_t header = HprofBuilder().bytes().size();
  for (size_t size = 0; size < bytes.size(); ++size) {
    StreamWatch watch;
    watch.add(bytes.data(), size);
    CAPTURE(size);
    CHECK(watch.complete() == (size == header));
  }
}

TEST_CASE("text is told from binary and its lines are counted") {
  std::string text = "JAVA PROFILE 1.0.1, created Sat Nov 21 05:00:02 2026\n\nTRACE 1:\n";
  StreamWatch watch;
  for (char c : text) watch.add(&c, 1);
  CHECK(watch.is_text());
  CHECK(watch.complete());
  CHECK(watch.id_size() == 0);
  CHECK(watch.records() == 3);
  watch.add("x", 1);
  CHECK_FALSE(watch.complete());
}

TEST_CASE("answers to commands are picked out of the stream, in pieces of any size") {
  const std::string binary =
      HprofBuilder().string(1, "hprof command 7 ok: eof").string(2, "java/lang/hprof command 8 ok").bytes();
  const std::string text =
      "JAVA PROFILE 1.0.1, created today\n\nHPROF NOTE: hprof command 7 ok: eof\nhprof command 8 ok\n" +
      std::string(9000, 'x') + "\nHPROF NOTE: lost 3 records\n";
  for (const std::string& bytes : {binary, text}) {
    for (size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
      StreamWatch watch;
      std::vector<std::string> answers;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        watch.add(bytes.data() + at, bytes.size() - at < piece ? bytes.size() - at : piece);
        for (const std::string& answer : watch.take_answers()) answers.push_back(answer);
      }
      CHECK(answers == std::vector<std::string>{"7 ok: eof"});
    }
  }
}
