// Commands as text, lines out of pieces, and where they may come from.
#include "core/control/text_command.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/record.h>

#include "core/control/control_address.h"

using namespace hprof;

namespace {

struct Parsed {
  bool good;
  Command command;
  std::string problem;
};

Parsed parse(const std::string& line) {
  char text[200];
  TextWriter problem(text, sizeof(text));
  Parsed parsed = {};
  parsed.good = parse_text_command(Str(line.data(), line.size()), &parsed.command, &problem);
  parsed.problem = text;
  return parsed;
}

CommandKind kind_of(const std::string& line) {
  Parsed parsed = parse(line);
  CAPTURE(parsed.problem);
  REQUIRE(parsed.good);
  return parsed.command.kind;
}

std::vector<std::string> lines_of(const std::string& stream, size_t piece) {
  LineReader reader;
  std::vector<std::string> lines;
  for (size_t at = 0; at < stream.size(); at += piece) {
    auto* next = reinterpret_cast<const uint8_t*>(stream.data()) + at;
    size_t left = stream.size() - at < piece ? stream.size() - at : piece;
    Str line;
    for (;;) {
      LineReader::Found found = reader.next(&next, &left, &line);
      if (found == LineReader::Found::kTooLong) lines.push_back("(too long)");
      if (found != LineReader::Found::kLine) break;
      lines.emplace_back(line.data, line.size);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("plain commands") {
  CHECK(kind_of("start") == CommandKind::kStart);
  CHECK(kind_of("  stop ") == CommandKind::kStop);
  CHECK(kind_of("dump  heap") == CommandKind::kDumpHeap);
  CHECK(kind_of("gc") == CommandKind::kForceGc);
  CHECK(kind_of("detach") == CommandKind::kDetach);
}

TEST_CASE("tables have flags and a cutoff") {
  Parsed parsed = parse("sites incremental gc cutoff=0.01");
  REQUIRE(parsed.good);
  CHECK(parsed.command.flags == (HPROF_SITES_INCREMENTAL | HPROF_SITES_FORCED_GC));
  CHECK(parsed.command.cutoff == 0.01);
  CHECK(parse("samples").command.cutoff < 0);
  CHECK_FALSE(parse("samples alloc").good);
  CHECK_FALSE(parse("samples cutoff=2").good);
  CHECK_FALSE(parse("samples cutoff=").good);
}

TEST_CASE("changes, with and without the word control") {
  for (std::string before : {"", "control "}) {
    CHECK(parse(before + "alloc off").command.kind == CommandKind::kAllocTraces);
    Parsed cpu = parse(before + "cpu on thread=0x50000002");
    REQUIRE(cpu.good);
    CHECK(cpu.command.value == 1);
    CHECK(cpu.command.object == 0x50000002);
    CHECK(parse(before + "cpu off thread=12").command.object == 12);
    CHECK(kind_of(before + "clear sites") == CommandKind::kClearSites);
    CHECK(parse(before + "depth 17").command.value == 17);
    CHECK_FALSE(parse(before + "depth 65536").good);
    CHECK_FALSE(parse(before + "depth -1").good);
    CHECK_FALSE(parse(before + "cpu on thread=x").good);
    CHECK_FALSE(parse(before + "cpu").good);
  }
  CHECK_FALSE(parse("control").good);
}

TEST_CASE("what is no command is said without control characters") {
  CHECK_FALSE(parse("").good);
  CHECK_FALSE(parse("start now").good);
  CHECK_FALSE(parse("a b c d e f g").good);
  CHECK_FALSE(parse("start\x1b[2J").good);
  Parsed parsed = parse("frobnicate");
  CHECK(parsed.problem.find("frobnicate") != std::string::npos);
  for (char c : parse(std::string("st\0rt", 5)).problem) CHECK(static_cast<unsigned char>(c) >= 0x20);
}

TEST_CASE("help names commands that exist") {
  std::string help = kCommandHelp;
  for (const char* line : {"start", "stop", "report", "reset", "status", "dump heap", "summary", "traces",
                           "gc", "detach", "exit"}) {
    CHECK(help.find(std::string(line) + " ") != std::string::npos);
    CHECK(parse(line).good);
  }
}

TEST_CASE("lines come out of pieces of any size") {
  std::string stream = "start\nstop\r\n\nstatus\nunfinished";
  for (size_t piece = 1; piece <= stream.size(); piece++) {
    CHECK(lines_of(stream, piece) == std::vector<std::string>{"start", "stop", "", "status"});
  }
}

TEST_CASE("a line that does not end is given up") {
  CHECK(lines_of(std::string(kCommandLineMost, 'x') + "\n", 100000).size() == 1);
  auto lines = lines_of(std::string(kCommandLineMost + 1, 'x') + "\n", 100000);
  CHECK(lines.at(0) == "(too long)");
}

TEST_CASE("the path of control= names the process") {
  char path[kControlPathMost];
  CHECK(control_path("y", 1000, 4711, path));
  CHECK(std::string(path) == "/tmp/hprof-1000-4711.sock");
  CHECK(control_path("/run/app-%p%%.sock", 0, 12, path));
  CHECK(std::string(path) == "/run/app-12%.sock");
  CHECK_FALSE(control_path("/run/%t", 0, 12, path));
  CHECK_FALSE(control_path("/run/%", 0, 12, path));
  CHECK_FALSE(control_path(std::string(108, 'x').c_str(), 0, 12, path));
  CHECK(is_control_off("n"));
  CHECK(is_control_off(""));
  CHECK_FALSE(is_control_off("y"));
}

TEST_CASE("only the loopback is the loopback") {
  for (const char* host : {"", "localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"})
    CHECK(is_loopback(host));
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "127.example.com", "localhost.example.com"}) {
    CHECK_FALSE(is_loopback(host));
  }
}
