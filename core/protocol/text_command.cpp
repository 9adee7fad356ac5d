#include "core/protocol/text_command.h"

#include <hprof/collector.h>

#include "core/base/value.h"
#include "core/protocol/command_table.h"

namespace hprof {

namespace {

constexpr uint32_t kMostWords = 6;
constexpr int64_t kMostDepth = 65535;  // as in the binary form

struct Words {
  Str word[kMostWords];
  uint32_t count = 0;
};

// False: more words than any command has.
bool split(Str line, Words* words) {
  Str rest = line, part;
  while (next_part(&rest, ' ', &part)) {
    if (part.empty()) continue;
    if (words->count == kMostWords) return false;
    words->word[words->count++] = part;
  }
  return true;
}

// Splits "cutoff=0.5" into `name` and value.
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

// Parses the flags and the cutoff of sites and samples.
bool parse_table(const Words& words, uint32_t at, bool sites, Command* command, TextWriter* problem) {
  for (uint32_t i = at; i < words.count; i++) {
    Str word = words.word[i], value;
    if (value_of(word, "cutoff", &value)) {
      if (parse_real(value, &command->cutoff) && command->cutoff >= 0 && command->cutoff <= 1e9) continue;
      return refuse(problem, "a number of 0 or more is wanted: ", word);
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

// How many words from `at` on match the row; 0: they do not.
uint32_t match(const CommandRow& row, const Words& words, uint32_t at) {
  Str rest(row.words), part;
  uint32_t count = 0;
  while (next_part(&rest, ' ', &part)) {
    if (at + count == words.count || words.word[at + count] != part) return 0;
    count++;
  }
  return count;
}

// Parses the parameters after the row's words, from `at` on.
bool parse_parameters(const CommandRow& row, const Words& words, uint32_t at, Command* command,
                      TextWriter* problem) {
  command->kind = row.kind;
  command->value = row.value;
  const uint32_t count = words.count - at;
  Str value;
  int64_t number = 0;
  bool good = count == 0;
  switch (row.form) {
    case CommandForm::kSites:
    case CommandForm::kSamples:
      return parse_table(words, at, row.form == CommandForm::kSites, command, problem);
    case CommandForm::kThread:
      good = good ||
             (count == 1 && value_of(words.word[at], "thread", &value) && parse_id(value, &command->object));
      break;
    case CommandForm::kDepth:
      good = count == 1 && parse_decimal(words.word[at], &number) && number >= 0 && number <= kMostDepth;
      command->value = static_cast<uint32_t>(number);
      break;
    case CommandForm::kDetach:
      good = good || (count == 1 && words.word[at] == "nodump");
      command->value = count;
      break;
    case CommandForm::kPlain:
      break;
  }
  if (good) return true;
  problem->put("it is: ");
  put_usage(row, problem);
  return false;
}

}  // namespace

bool parse_text_command(Str line, Command* command, TextWriter* problem) {
  *command = Command();
  for (size_t i = 0; i < line.size; i++) {
    auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte == 0x7f) return refuse(problem, "a command has no control characters", "");
  }
  Words words;
  if (!split(line, &words)) return refuse(problem, "too many words: ", line);
  if (words.count == 0) return refuse(problem, "no command", "");
  const bool control = words.word[0] == "control";
  const uint32_t at = control ? 1 : 0;
  for (const CommandRow& row : kCommands) {
    const uint32_t count = control && row.tag != kTagControl ? 0 : match(row, words, at);
    if (count != 0) return parse_parameters(row, words, at + count, command, problem);
  }
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
