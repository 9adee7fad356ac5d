// The binary commands: every form of the table, in pieces of every size, and what is none of them.
#include "core/protocol/command_parser.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/collector.h>

using namespace hprof;

namespace {

std::string be(uint64_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
  return text;
}

std::string command(uint8_t tag, uint32_t serial, const std::string& body) {
  return be(tag, 1) + be(serial, 4) + be(body.size(), 4) + body;
}

std::string f4(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return be(bits, 4);
}

std::vector<ParsedCommand> parse(const std::string& stream, size_t piece = SIZE_MAX) {
  CommandParser parser;
  std::vector<ParsedCommand> found;
  for (size_t at = 0; at < stream.size();) {
    size_t size = stream.size() - at < piece ? stream.size() - at : piece;
    // A copy of exactly that size, so that a sanitizer sees reads beyond it.
    std::vector<uint8_t> bytes(stream.begin() + static_cast<long>(at),
                               stream.begin() + static_cast<long>(at + size));
    const uint8_t* next = bytes.data();
    size_t left = size;
    ParsedCommand one;
    while (parser.next(&next, &left, &one)) found.push_back(one);
    CHECK(left == 0);
    at += size;
  }
  return found;
}

ParsedCommand only(const std::string& stream) {
  auto found = parse(stream);
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("commands without a body") {
  const std::pair<uint8_t, CommandKind> kRows[] = {
      {0x01, CommandKind::kForceGc}, {0x02, CommandKind::kDumpHeap},   {0x04, CommandKind::kHeapSummary},
      {0x05, CommandKind::kExit},    {0x06, CommandKind::kDumpTraces}, {0xFF, CommandKind::kEof}};
  for (auto [tag, kind] : kRows) {
    ParsedCommand parsed = only(command(tag, 0x01020304, ""));
    CHECK(parsed.outcome == CommandOutcome::kCommand);
    CHECK(parsed.command.kind == kind);
    CHECK(parsed.command.serial == 0x01020304);
  }
}

TEST_CASE("alloc sites has flags and a cutoff") {
  ParsedCommand parsed = only(command(0x03, 7, be(0x3, 2) + f4(0.25f)));
  CHECK(parsed.outcome == CommandOutcome::kCommand);
  CHECK(parsed.command.kind == CommandKind::kSites);
  CHECK(parsed.command.flags == (HPROF_SITES_INCREMENTAL | HPROF_SITES_BY_ALLOCATION));
  CHECK(parsed.command.cutoff == 0.25);
}

TEST_CASE("the flags of cpu samples are ignored") {
  ParsedCommand parsed = only(command(0x07, 7, be(0xffff, 2) + f4(0.5f)));
  CHECK(parsed.command.kind == CommandKind::kSamples);
  CHECK(parsed.command.flags == 0);
  CHECK(parsed.command.cutoff == 0.5);
}

TEST_CASE("a table without a body uses the option's cutoff") {
  ParsedCommand parsed = only(command(0x07, 7, ""));
  CHECK(parsed.outcome == CommandOutcome::kCommand);
  CHECK(parsed.command.cutoff < 0);
}

TEST_CASE("a cutoff that is no share is malformed") {
  for (float cutoff : {-0.1f, std::nanf(""), INFINITY}) {
    CHECK(only(command(0x03, 1, be(0, 2) + f4(cutoff))).outcome == CommandOutcome::kMalformed);
  }
  CHECK(only(command(0x03, 1, be(0, 2))).outcome == CommandOutcome::kMalformed);
  CHECK(only(command(0x03, 1, be(0, 2) + "abc")).outcome == CommandOutcome::kMalformed);
}

TEST_CASE("the length tells the forms of control apart") {
  Command alloc = only(command(0x08, 1, be(1, 2))).command;
  CHECK(alloc.kind == CommandKind::kAllocTraces);
  CHECK(alloc.value == 1);
  CHECK(only(command(0x08, 1, be(2, 2))).command.value == 0);
  CHECK(only(command(0x08, 1, be(5, 2))).command.kind == CommandKind::kClearCpu);
  CHECK(only(command(0x08, 1, be(6, 2))).command.kind == CommandKind::kClearSites);
  Command manual = only(command(0x08, 1, be(6, 2) + be(12, 2))).command;
  CHECK(manual.kind == CommandKind::kDepth);
  CHECK(manual.value == 12);
  Command original = only(command(0x08, 1, be(7, 2) + be(65535, 2))).command;
  CHECK(original.kind == CommandKind::kDepth);
  CHECK(original.value == 65535);
}

TEST_CASE("cpu sampling takes object ids of 4 and of 8 bytes, or none for all threads") {
  Command all = only(command(0x08, 1, be(3, 2))).command;
  CHECK(all.kind == CommandKind::kCpuSampling);
  CHECK(all.value == 1);
  CHECK(all.object == 0);
  Command small = only(command(0x08, 1, be(4, 2) + be(0x50000001, 4))).command;
  CHECK(small.value == 0);
  CHECK(small.object == 0x50000001);
  CHECK(only(command(0x08, 1, be(3, 2) + be(0x1122334455667788, 8))).command.object == 0x1122334455667788);
  CHECK(only(command(0x08, 1, be(3, 2) + be(1, 3))).outcome == CommandOutcome::kMalformed);
}

TEST_CASE("control with a body that is too short or too long is malformed, with another option unknown") {
  CHECK(only(command(0x08, 1, "")).outcome == CommandOutcome::kMalformed);
  CHECK(only(command(0x08, 1, "x")).outcome == CommandOutcome::kMalformed);
  CHECK(only(command(0x08, 1, be(6, 2) + "x")).outcome == CommandOutcome::kMalformed);
  CHECK(only(command(0x08, 1, be(7, 2))).outcome == CommandOutcome::kMalformed);
  CHECK(only(command(0x08, 1, be(99, 2))).outcome == CommandOutcome::kUnknown);
}

TEST_CASE("unknown commands are skipped by their length") {
  auto found = parse(command(0x77, 3, std::string(100000, '\x01')) + command(0x01, 4, ""));
  REQUIRE(found.size() == 2);
  CHECK(found[0].outcome == CommandOutcome::kUnknown);
  CHECK(found[0].tag == 0x77);
  CHECK(found[0].length == 100000);
  CHECK(found[1].outcome == CommandOutcome::kCommand);
  CHECK(found[1].command.serial == 4);
}

TEST_CASE("a known command with a body that nobody needs is malformed and skipped") {
  auto found = parse(command(0x01, 3, std::string(65, 'x')) + command(0x04, 4, ""));
  REQUIRE(found.size() == 2);
  CHECK(found[0].outcome == CommandOutcome::kMalformed);
  CHECK(found[1].command.kind == CommandKind::kHeapSummary);
}

TEST_CASE("a body of 2^32-1 bytes is told at its head and then passes by") {
  CommandParser parser;
  std::string head = be(0x02, 1) + be(1, 4) + be(0xffffffff, 4);
  auto* next = reinterpret_cast<const uint8_t*>(head.data());
  size_t left = head.size();
  ParsedCommand parsed;
  CHECK(parser.next(&next, &left, &parsed));
  CHECK(parsed.outcome == CommandOutcome::kMalformed);
  CHECK(parsed.length == 0xffffffff);
  std::vector<uint8_t> rest(1 << 20, 0x01);
  uint64_t sent = 0;
  while (sent + rest.size() <= 0xffffffffu) {
    next = rest.data();
    left = rest.size();
    REQUIRE_FALSE(parser.next(&next, &left, &parsed));
    sent += rest.size();
  }
  CHECK_FALSE(parser.between_commands());
  next = rest.data();
  left = static_cast<size_t>(0xffffffffu - sent);
  CHECK_FALSE(parser.next(&next, &left, &parsed));
  CHECK(parser.between_commands());
}

TEST_CASE("pieces of any size give the same commands") {
  std::string stream = command(0x01, 1, "") + command(0x03, 2, be(4, 2) + f4(0.125f)) +
                       command(0x42, 3, "garbage") + command(0x08, 4, be(3, 2) + be(5, 8)) +
                       command(0x08, 5, be(6, 2) + be(9, 2)) + command(0xff, 6, "");
  auto whole = parse(stream);
  REQUIRE(whole.size() == 6);
  for (size_t piece = 1; piece < 20; piece++) {
    auto found = parse(stream, piece);
    REQUIRE(found.size() == whole.size());
    for (size_t i = 0; i < found.size(); i++) {
      CHECK(found[i].outcome == whole[i].outcome);
      CHECK(found[i].command.kind == whole[i].command.kind);
      CHECK(found[i].command.serial == i + 1);
      CHECK(found[i].command.value == whole[i].command.value);
      CHECK(found[i].command.object == whole[i].command.object);
      CHECK(found[i].command.cutoff == whole[i].command.cutoff);
    }
  }
}

TEST_CASE("a command that is cut off is none") {
  std::string stream = command(0x08, 4, be(3, 2) + be(5, 8));
  for (size_t size = 1; size < stream.size(); size++) CHECK(parse(stream.substr(0, size)).empty());
}
