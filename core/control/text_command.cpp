#include "core/control/text_command.h"

#include <hprof/record.h>

#include "core/option/value.h"

namespace hprof {

namespace {

constexpr uint32_t kMostWords = 6;
constexpr int64_t kMostDepth = 65535;  // as in the binary form

struct Words {
  Str word[kMostWords];
  uint32_t count = 0;
};

// False: more than any command has.
bool split(Str line, Words* words) {
  Str rest = line, part;
  while (next_part(&rest, ' ', &part)) {
    if (part.empty()) continue;
    if (words->count == kMostWords) return false;
    words->word[words->count++] = part;
  }
  return true;
}

// "cutoff=0.5": the part after `name` and '='.
bool value_of(Str word, Str name, Str* value) {
  if (word.part(0, name.size) != name || word.size <= name.size || word[name.size] != '=') return false;
  *value = word.part(name.size + 1);
  return true;
}

bool parse_id(Str text, uint64_t* id) {
  bool hex = text.part(0, 2) == "0x";
  if (hex) text = text.part(2);
  if (text.empty() || text.size > (hex ? 16 : 19)) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < text.size; i++) {
    char c = text[i];
    bool digit = c >= '0' && c <= '9', letter = hex && ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    if (!digit && !letter) return false;
    sum = sum * (hex ? 16 : 10) + static_cast<uint64_t>(digit ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  *id = sum;
  return true;
}

bool refuse(TextWriter* problem, Str what, Str word) {
  problem->put(what).put_printable(word, 60);
  return false;
}

// sites and samples: flags and a cutoff.
bool parse_table(const Words& words, bool sites, Command* command, TextWriter* problem) {
  command->kind = sites ? CommandKind::kSites : CommandKind::kSamples;
  for (uint32_t i = 1; i < words.count; i++) {
    Str word = words.word[i], value;
    if (value_of(word, "cutoff", &value)) {
      if (parse_real(value, &command->cutoff) && command->cutoff >= 0 && command->cutoff <= 1) continue;
      return refuse(problem, "a number from 0 to 1 is wanted: ", word);
    }
    uint32_t flag = word == "incremental" ? HPROF_SITES_INCREMENTAL
                    : word == "alloc"     ? HPROF_SITES_BY_ALLOCATION
                    : word == "gc"        ? HPROF_SITES_FORCED_GC
                                          : 0;
    if (!sites || flag == 0) return refuse(problem, "unknown word: ", word);
    command->flags |= flag;
  }
  return true;
}

bool is_switch(Str word) { return word == "on" || word == "off"; }

// alloc on|off, cpu on|off [thread=ID], clear cpu|sites, depth N; `at` is the position of the first word.
bool parse_control(const Words& words, uint32_t at, Command* command) {
  uint32_t count = words.count - at;
  Str first = words.word[at], second = count > 1 ? words.word[at + 1] : Str(), value;
  int64_t number = 0;
  if (count == 2 && first == "alloc" && is_switch(second)) {
    command->kind = CommandKind::kAllocTraces;
    command->value = second == "on" ? 1 : 0;
    return true;
  }
  if ((count == 2 || count == 3) && first == "cpu" && is_switch(second)) {
    command->kind = CommandKind::kCpuSampling;
    command->value = second == "on" ? 1 : 0;
    return count == 2 ||
           (value_of(words.word[at + 2], "thread", &value) && parse_id(value, &command->object));
  }
  if (count == 2 && first == "clear" && (second == "cpu" || second == "sites")) {
    command->kind = second == "cpu" ? CommandKind::kClearCpu : CommandKind::kClearSites;
    return true;
  }
  if (count == 2 && first == "depth" && parse_decimal(second, &number) && number >= 0 &&
      number <= kMostDepth) {
    command->kind = CommandKind::kDepth;
    command->value = static_cast<uint32_t>(number);
    return true;
  }
  return false;
}

struct Plain {
  const char* first;
  const char* second;
  CommandKind kind;
};
constexpr Plain kPlain[] = {
    {"start", "", CommandKind::kStart},       {"stop", "", CommandKind::kStop},
    {"report", "", CommandKind::kReport},     {"reset", "", CommandKind::kReset},
    {"status", "", CommandKind::kStatus},     {"help", "", CommandKind::kHelp},
    {"detach", "", CommandKind::kDetach},     {"gc", "", CommandKind::kForceGc},
    {"dump", "heap", CommandKind::kDumpHeap}, {"summary", "", CommandKind::kHeapSummary},
    {"traces", "", CommandKind::kDumpTraces}, {"exit", "", CommandKind::kExit},
    {"eof", "", CommandKind::kEof},
};

}  // namespace

const char* const kCommandHelp =
    "start                  the collectors collect\n"
    "stop                   they stop; what they saw is kept\n"
    "report                 every collector writes its report\n"
    "reset                  forget what was seen\n"
    "status                 what runs, and where the output goes\n"
    "dump heap              write a heap dump\n"
    "sites [incremental] [alloc] [gc] [cutoff=F]  write the allocation sites\n"
    "samples [cutoff=F]     write the CPU samples\n"
    "summary                write the size of the heap\n"
    "traces                 write all traces that were not written yet\n"
    "gc                     force a garbage collection\n"
    "alloc on|off           record allocation sites or not\n"
    "cpu on|off [thread=ID] sample threads or not\n"
    "clear cpu|sites        forget the samples, the sites\n"
    "depth N                frames kept of a stack\n"
    "detach                 write the report, give everything back\n"
    "exit                   end the VM; needs the option allow=exit\n";

bool parse_text_command(Str line, Command* command, TextWriter* problem) {
  *command = Command();
  for (size_t i = 0; i < line.size; i++) {
    auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte == 0x7f) return refuse(problem, "a command has no control characters", "");
  }
  Words words;
  if (!split(line, &words)) return refuse(problem, "too many words: ", line);
  if (words.count == 0) return refuse(problem, "no command", "");
  Str first = words.word[0];
  if (first == "sites" || first == "samples") {
    return parse_table(words, first == "sites", command, problem);
  }
  if (words.count <= 2) {
    Str second = words.count == 2 ? words.word[1] : Str();
    for (const Plain& plain : kPlain) {
      if (first != plain.first || second != plain.second) continue;
      command->kind = plain.kind;
      return true;
    }
  }
  uint32_t at = first == "control" ? 1 : 0;
  if (words.count > at && parse_control(words, at, command)) return true;
  return refuse(problem, "unknown command (help lists them): ", line);
}

LineReader::Found LineReader::next(const uint8_t** bytes, size_t* size, Str* line) {
  if (ended_) used_ = 0;
  ended_ = false;
  while (*size != 0) {
    char c = static_cast<char>(**bytes);
    ++*bytes;
    --*size;
    if (c == '\n') {
      size_t length = used_ != 0 && bytes_[used_ - 1] == '\r' ? used_ - 1 : used_;
      *line = Str(bytes_, length);
      ended_ = true;
      return Found::kLine;
    }
    if (used_ == kCommandLineMost) return Found::kTooLong;
    bytes_[used_++] = c;
  }
  return Found::kNone;
}

}  // namespace hprof
