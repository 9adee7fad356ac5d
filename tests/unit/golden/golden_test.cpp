// What each encoder writes for the recorded session, against files that people read in diffs.
//
// HPROF_REGENERATE=1 in the environment writes the files anew instead of comparing; look at the diff before
// committing.
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

#include <hprof/encoder.h>

#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/pprof_reader.h"

using namespace hprof;

namespace {

std::string encode_all(Recording& recording, hprof_module_entry entry, const char* id) {
  return encode_recording(recording, mock_unit(entry, id));
}

template <typename Play>
std::string encode(Recording& recording, hprof_module_entry entry, const char* id, const Play& play) {
  EncoderRun run(recording.host, mock_unit(entry, id));
  play([&](const hprof_record* record) { CHECK(run.encode(record) == HPROF_OK); });
  return run.bytes();
}

// Sixteen bytes a line: offset, hexadecimal, printable characters.
std::string hex_dump(const std::string& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    char word[16];
    std::snprintf(word, sizeof word, "%06zx ", at);
    text += word;
    std::string shown;
    for (size_t i = at; i < at + 16; i++) {
      if (i >= bytes.size()) {
        text += "   ";
        continue;
      }
      const auto c = static_cast<unsigned char>(bytes[i]);
      std::snprintf(word, sizeof word, " %02x", c);
      text += word;
      shown += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
    }
    text += "  " + shown + "\n";
  }
  return text;
}

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(HPROF_GOLDEN_DIR) + "/" + name;
  const char* regenerate = std::getenv("HPROF_REGENERATE");
  if (regenerate != nullptr && std::string(regenerate) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  std::stringstream wanted;
  wanted << file.rdbuf();
  std::istringstream want(wanted.str()), got(text);
  std::string want_line, got_line;
  for (int line = 1; std::getline(want, want_line); line++) {
    REQUIRE_MESSAGE(std::getline(got, got_line), name << " ends before line " << line << ": " << want_line);
    REQUIRE_MESSAGE(want_line == got_line,
                    name << ":" << line << ": want <" << want_line << "> got <" << got_line << ">");
  }
  CHECK(wanted.str() == text);
}

}  // namespace

TEST_CASE("ascii: the recorded session") {
  Recording recording;
  check_golden("ascii.txt", encode(recording, hprof_module_encoder_ascii, "encoder_ascii",
                                   [&](const auto& player) { recording.play(player); }));
}

TEST_CASE("ascii: the recorded session with thread=y and lineno=n") {
  Recording recording;
  recording.host.settings.thread_in_traces = 1;
  recording.host.settings.line_numbers = 0;
  check_golden("ascii_thread_y_lineno_n.txt", encode(recording, hprof_module_encoder_ascii, "encoder_ascii",
                                                     [&](const auto& player) { recording.play(player); }));
}

TEST_CASE("ascii: cpu=old") {
  Recording recording;
  check_golden("ascii_cpu_old.txt", encode(recording, hprof_module_encoder_ascii, "encoder_ascii",
                                           [&](const auto& player) { recording.play_old(player); }));
}

TEST_CASE("binary: the recorded session") {
  Recording recording;
  recording.created_ms = 1700000000123;
  check_golden("binary.hex", hex_dump(encode(recording, hprof_module_encoder_binary, "encoder_binary",
                                             [&](const auto& player) { recording.play(player); })));
}

TEST_CASE("collapsed: the recorded session") {
  Recording recording;
  check_golden("collapsed.txt", encode_all(recording, hprof_module_encoder_collapsed, "encoder_collapsed"));
}

TEST_CASE("json: the recorded session") {
  Recording recording;
  check_golden("json.txt", encode_all(recording, hprof_module_encoder_json, "encoder_json"));
}

TEST_CASE("pprof: the recorded session") {
  Recording recording;
  recording.created_ms = 1700000000123;
  const std::string bytes = encode_all(recording, hprof_module_encoder_pprof, "encoder_pprof");
  check_golden("pprof.hex", hex_dump(bytes));
  PprofProfile profile;
  REQUIRE(profile.read(bytes) == "");
  check_golden("pprof.txt", profile.text());
}

TEST_CASE("flamegraph: the data of the recorded session") {
  Recording recording;
  const std::string page = encode_all(recording, hprof_module_encoder_flamegraph, "encoder_flamegraph");
  const std::string begin = "id=\"data\">", end = "</script></body></html>\n";
  const size_t at = page.rfind(begin);
  REQUIRE(at != std::string::npos);
  REQUIRE(page.substr(page.size() - end.size()) == end);
  check_golden("flamegraph.txt",
               page.substr(at + begin.size(), page.size() - end.size() - at - begin.size()));
}
