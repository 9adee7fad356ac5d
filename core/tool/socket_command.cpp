// The command table of the manual, with what the original does beyond it.
#include "core/tool/socket_command.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <hprof/record.h>

#include "core/control/command_table.h"
#include "core/tool/command.h"

namespace hprof::tool {

namespace {

constexpr char kCommands[] =
    "gc, dump heap, sites [incremental] [alloc] [gc] [cutoff=F], summary, exit, traces, samples [cutoff=F], "
    "control alloc on|off, control cpu on|off [thread=ID], control clear cpu|sites, control depth N, eof";

void append(std::string* body, uint64_t value, unsigned size) {
  while (size-- > 0) body->push_back(static_cast<char>(value >> (8 * size)));
}

void append_float(std::string* body, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  append(body, bits, 4);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

bool parse_cutoff(const std::string& text, float* cutoff) {
  char* end = nullptr;
  *cutoff = std::strtof(text.c_str(), &end);
  return !text.empty() && *end == 0 && *cutoff >= 0 && *cutoff <= 1;
}

bool parse_id(const std::string& text, unsigned id_size, uint64_t* id) {
  char* end = nullptr;
  errno = 0;
  *id = std::strtoull(text.c_str(), &end, 0);
  bool number = !text.empty() && text[0] != '-' && *end == 0 && errno == 0;
  return number && (id_size == 8 || *id <= UINT32_MAX);
}

bool table_command(const std::vector<std::string>& words, SocketCommand* command, std::string* error) {
  bool sites = words[0] == "sites";
  uint32_t flags = 0;
  float cutoff = 0.0001f;
  for (size_t i = 1; i < words.size(); ++i) {
    std::string value;
    if (option_value(words[i], "cutoff", &value)) {
      if (parse_cutoff(value, &cutoff)) continue;
      *error = "cutoff=" + value + ": a number from 0 to 1";
      return false;
    }
    uint32_t flag = words[i] == "incremental" ? HPROF_SITES_INCREMENTAL
                    : words[i] == "alloc"     ? HPROF_SITES_BY_ALLOCATION
                    : words[i] == "gc"        ? HPROF_SITES_FORCED_GC
                                              : 0;
    if (!sites || flag == 0) {
      *error = words[0] + ": unknown word '" + words[i] + "'";
      return false;
    }
    flags |= flag;
  }
  command->tag = sites ? kTagSites : kTagSamples;
  append(&command->body, flags, 2);
  append_float(&command->body, cutoff);
  return true;
}

bool control_command(const std::vector<std::string>& words, unsigned id_size, SocketCommand* command,
                     std::string* error) {
  command->tag = kTagControl;
  std::string what = words.size() > 2 ? words[1] + " " + words[2] : std::string();
  std::string thread;
  uint64_t number = 0;
  bool cpu = what == "cpu on" || what == "cpu off";
  if (words.size() == 3 && (what == "alloc on" || what == "alloc off")) {
    append(&command->body, what == "alloc on" ? kControlAllocOn : kControlAllocOff, 2);
  } else if (words.size() == 3 && (what == "clear cpu" || what == "clear sites")) {
    append(&command->body, what == "clear cpu" ? kControlClearCpu : kControlClearSites, 2);
  } else if (words.size() == 3 && words[1] == "depth" && parse_number(words[2], UINT16_MAX, &number)) {
    append(&command->body, kControlDepth, 2);
    append(&command->body, number, 2);
  } else if (cpu && (words.size() == 3 || (words.size() == 4 && option_value(words[3], "thread", &thread)))) {
    if (!thread.empty() && !parse_id(thread, id_size, &number)) {
      *error = "thread=" + thread + ": an object id";
      return false;
    }
    append(&command->body, what == "cpu on" ? kControlCpuOn : kControlCpuOff, 2);
    append(&command->body, number, id_size);
  } else {
    *error = "control: alloc on|off, cpu on|off [thread=ID], clear cpu|sites, or depth N up to 65535";
    return false;
  }
  return true;
}

}  // namespace

bool parse_socket_command(const std::string& text, unsigned id_size, SocketCommand* command,
                          std::string* error) {
  *command = SocketCommand{};
  std::vector<std::string> words = words_of(text);
  if (!words.empty() && (words[0] == "sites" || words[0] == "samples"))
    return table_command(words, command, error);
  if (!words.empty() && words[0] == "control") return control_command(words, id_size, command, error);
  struct Plain {
    const char* text;
    uint8_t tag;
  };
  static constexpr Plain kPlain[] = {{"gc", kTagForceGc},          {"dump heap", kTagDumpHeap},
                                     {"summary", kTagHeapSummary}, {"exit", kTagExit},
                                     {"traces", kTagDumpTraces},   {"eof", kTagEof}};
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  for (const Plain& plain : kPlain) {
    if (joined != plain.text) continue;
    command->tag = plain.tag;
    return true;
  }
  *error = "unknown command '" + text.substr(0, 80) + "'; one of: " + kCommands;
  return false;
}

std::string encode_socket_command(const SocketCommand& command, uint32_t serial) {
  std::string bytes(1, static_cast<char>(command.tag));
  append(&bytes, serial, 4);
  append(&bytes, command.body.size(), 4);
  return bytes + command.body;
}

}  // namespace hprof::tool
