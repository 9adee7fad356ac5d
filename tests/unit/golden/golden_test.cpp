// What each encoder writes for the recorded session, against files that people read in diffs.
#include <cstdio>
#include <doctest/doctest.h>

#include <hprof/encoder.h>

#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/golden_file.h"
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
