// Fuzz target: what a hostile peer may send, as binary commands and as lines of text. The first byte says in
// pieces of which size; whole and in pieces must give the same commands.
#include <cfloat>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/protocol/command_parser.h"
#include "core/protocol/text_command.h"

using namespace hprof;

namespace {

void expect(bool holds) {
  if (!holds) abort();
}

std::vector<ParsedCommand> parse(const uint8_t* data, size_t size, size_t piece) {
  CommandParser parser;
  std::vector<ParsedCommand> found;
  for (size_t at = 0; at < size; at += piece) {
    std::vector<uint8_t> bytes(data + at, data + (size - at < piece ? size : at + piece));
    const uint8_t* next = bytes.data();
    size_t left = bytes.size();
    ParsedCommand parsed;
    while (parser.next(&next, &left, &parsed)) {
      // Above 1 nothing is left of a table; no infinity, and no NaN.
      expect(parsed.command.cutoff <= static_cast<double>(FLT_MAX) ||
             parsed.outcome != CommandOutcome::kCommand);
      expect(parsed.outcome != CommandOutcome::kCommand || parsed.length <= CommandParser::kBodyMost);
      found.push_back(parsed);
    }
    expect(left == 0);
  }
  expect(found.size() <= size / 9);
  return found;
}

std::vector<std::string> lines(const uint8_t* data, size_t size, size_t piece) {
  LineReader reader;
  std::vector<std::string> found;
  for (size_t at = 0; at < size; at += piece) {
    const uint8_t* next = data + at;
    size_t left = size - at < piece ? size - at : piece;
    Str line;
    LineReader::Found what;
    while ((what = reader.next(&next, &left, &line)) == LineReader::Found::kLine) {
      expect(line.size <= kCommandLineMost);
      char text[128];
      TextWriter problem(text, sizeof(text));
      Command command;
      bool good = parse_text_command(line, &command, &problem);
      expect(good == (problem.size() == 0));
      for (const char* c = text; *c != '\0'; ++c) expect(static_cast<unsigned char>(*c) >= 0x20);
      found.emplace_back(line.data, line.size);
    }
    if (what == LineReader::Found::kTooLong) break;
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = 1 + data[0] % 32;
  const uint8_t* rest = data + 1;
  size--;
  auto whole = parse(rest, size, size + 1), cut = parse(rest, size, piece);
  expect(whole.size() == cut.size());
  for (size_t i = 0; i < whole.size(); i++) {
    expect(whole[i].outcome == cut[i].outcome && whole[i].tag == cut[i].tag);
    expect(whole[i].command.serial == cut[i].command.serial);
  }
  expect(lines(rest, size, size + 1) == lines(rest, size, piece));
  return 0;
}
