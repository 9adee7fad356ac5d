// The table of rules, and the log.
#include "tools/hprof/check/problems.h"

#include <cstdarg>
#include <cstdio>
#include <ostream>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

constexpr auto kSilent = Severity::kSilent;
constexpr auto kWarning = Severity::kWarning;
constexpr auto kError = Severity::kError;

constexpr RuleInfo kRules[] = {
#define X(id, name, severity, readers, demand) {name, severity, static_cast<unsigned>(readers), demand},
#include "tools/hprof/check/rules.def"
#undef X
};
static_assert(sizeof kRules / sizeof kRules[0] == kRuleCount, "a row per rule");

constexpr const char* kReaderNames[] = {"gprof2dot", "hprof2flamegraph", "mat",   "visualvm",
                                        "jhat",      "intellij",         "shark", "hprof-slurp"};
static_assert(1u << (sizeof kReaderNames / sizeof kReaderNames[0]) == kEverybody + 1u, "a name per reader");

}  // namespace

const RuleInfo& rule_info(Rule rule) { return kRules[static_cast<unsigned>(rule)]; }

bool parse_readers(const std::string& text, unsigned* readers, std::string* bad) {
  size_t start = 0;
  while (start <= text.size()) {
    size_t comma = text.find(',', start);
    std::string word = text.substr(start, comma == std::string::npos ? comma : comma - start);
    unsigned mask = word == "all" ? unsigned{kEverybody} : 0;
    for (unsigned i = 0; i < sizeof kReaderNames / sizeof kReaderNames[0]; ++i) {
      if (word == kReaderNames[i]) mask = 1u << i;
    }
    if (mask == 0) {
      *bad = word;
      return false;
    }
    *readers |= mask;
    if (comma == std::string::npos) break;
    start = comma + 1;
  }
  return true;
}

std::string reader_names(unsigned readers) {
  std::string names;
  for (unsigned i = 0; i < sizeof kReaderNames / sizeof kReaderNames[0]; ++i) {
    if ((readers >> i & 1) == 0) continue;
    if (!names.empty()) names += ", ";
    names += kReaderNames[i];
  }
  return names;
}

ProblemLog::ProblemLog(std::ostream& out, std::string file, Options options)
    : out_(out), file_(std::move(file)), options_(options) {}

bool ProblemLog::allow(const std::string& rule_name) {
  for (unsigned i = 0; i < kRuleCount; ++i) {
    if (rule_name == kRules[i].name) return allowed_[i] = true;
  }
  return false;
}

Severity ProblemLog::severity(Rule rule) const {
  const RuleInfo& info = rule_info(rule);
  bool demanded = (info.readers & options_.readers) != 0;
  bool strict = options_.strict && info.severity == kWarning;
  Severity severity = demanded || strict ? kError : info.severity;
  bool allowed = allowed_[static_cast<unsigned>(rule)];
  return allowed && severity == kError ? kWarning : severity;
}

void ProblemLog::report(Rule rule, uint64_t where, const char* format, ...) {
  Severity level = severity(rule);
  if (level == kSilent) return;
  unsigned index = static_cast<unsigned>(rule);
  ++counts_[index];
  ++(level == kError ? errors_ : warnings_);
  if (level == kWarning && !options_.warnings) return;
  if (printed_ >= options_.most || printed_of_[index] >= options_.per_rule) return;
  ++printed_;
  ++printed_of_[index];
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const unsigned readers = kRules[index].readers;
  if (options_.keep) {
    kept_.rows.push_back({where, std::string(level == kError ? "error" : "warning"),
                          std::string(kRules[index].name), std::string(text),
                          readers == kNobody ? Cell() : Cell(reader_names(readers))});
    return;
  }
  out_ << file_ << (unit_ == Unit::kByte ? ": byte " : ": line ") << where
       << (level == kError ? ": error: " : ": warning: ") << kRules[index].name << ": " << printable(text);
  if (readers != kNobody) out_ << " [" << reader_names(readers) << "]";
  out_ << '\n';
}

uint64_t ProblemLog::hidden(unsigned rule) const {
  const bool is_unwanted = severity(static_cast<Rule>(rule)) == kWarning && !options_.warnings;
  return is_unwanted ? 0 : counts_[rule] - printed_of_[rule];
}

Section ProblemLog::section() const {
  Section section{"", file_};
  section.facts = {data_fact("file", file_), data_fact("errors", errors_), data_fact("warnings", warnings_),
                   data_fact("unit", std::string(unit_ == Unit::kByte ? "byte" : "line"))};
  section.tables.push_back(kept_);
  Table more{"more", "", {{"count", "", CellKind::kNumber}, {"rule", ""}, {"demand", ""}}};
  for (unsigned i = 0; i < kRuleCount; ++i) {
    if (hidden(i) == 0) continue;
    more.rows.push_back({hidden(i), std::string(kRules[i].name), std::string(kRules[i].demand)});
    section.tables[0].left_out += hidden(i);
  }
  section.tables.push_back(std::move(more));
  return section;
}

void ProblemLog::summarize() {
  for (unsigned i = 0; i < kRuleCount; ++i) {
    if (hidden(i) == 0) continue;
    out_ << file_ << ": " << hidden(i) << " more: " << kRules[i].name << ": " << kRules[i].demand << '\n';
  }
  out_ << file_ << ": " << errors_ << (errors_ == 1 ? " error, " : " errors, ") << warnings_
       << (warnings_ == 1 ? " warning\n" : " warnings\n");
}

}  // namespace hprof::tool
