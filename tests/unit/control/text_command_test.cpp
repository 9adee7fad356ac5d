// Commands as text, lines out of pieces, and where they may come from.
#include "core/protocol/text_command.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/collector.h>

#include "core/protocol/command_table.h"
#include "core/protocol/control_address.h"

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
  CHECK(parse("samples cutoff=2").command.cutoff == 2);
  CHECK_FALSE(parse("samples cutoff=-1").good);
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
    CHECK(parse(before + "cpu on thread=0xffffffffffffffff").command.object == UINT64_MAX);
    CHECK_FALSE(parse(before + "cpu on thread=0x10000000000000001").good);
    CHECK_FALSE(parse(before + "cpu on thread=18446744073709551617").good);
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
  char help[4096];
  TextWriter out(help, sizeof(help));
  put_command_help(&out);
  CHECK_FALSE(out.cut());
  for (const CommandRow& row : kCommands) {
    CAPTURE(row.words);
    CHECK(std::string(help).find(std::string(row.words) + " ") != std::string::npos);
    Parsed parsed = parse(row.form == CommandForm::kDepth ? "depth 7" : row.words);
    REQUIRE(parsed.good);
    CHECK(parsed.command.kind == row.kind);
    if (row.form != CommandForm::kDepth) CHECK(parsed.command.value == row.value);
    CHECK_FALSE(parse(std::string(row.words) + " nonsense").good);
    CHECK(parse(std::string("control ") + row.words + (row.form == CommandForm::kDepth ? " 7" : "")).good ==
          (row.tag == kTagControl));
    if (row.tag != kTagNone) CHECK(find_command(row.tag, row.option) == &row);
  }
}

TEST_CASE("detach can leave out the last report") {
  CHECK(parse("detach").command.value == 0);
  CHECK(parse("detach nodump").command.value == 1);
  CHECK(parse("detach now").problem == "it is: detach [nodump]");
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
