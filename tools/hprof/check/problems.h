// The rules of `hprof check`, and the log of violations.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "tools/heap/output/document.h"

namespace hprof::tool {

// Readers of hprof files, as a mask.
enum Reader : unsigned {
  kNobody = 0,
  kGprof2dot = 1 << 0,
  kHprof2flamegraph = 1 << 1,
  kMat = 1 << 2,
  kVisualvm = 1 << 3,
  kJhat = 1 << 4,
  kIntellij = 1 << 5,
  kShark = 1 << 6,
  kSlurp = 1 << 7,
  kEverybody = (1 << 8) - 1,
};

enum class Severity { kSilent, kWarning, kError };

enum class Rule : unsigned {
#define X(id, name, severity, readers, demand) id,
#include "tools/hprof/check/rules.def"
#undef X
  kCount
};
constexpr unsigned kRuleCount = static_cast<unsigned>(Rule::kCount);

struct RuleInfo {
  const char* name;
  Severity severity;
  unsigned readers;
  const char* demand;
};
const RuleInfo& rule_info(Rule rule);

// Converts comma-separated reader names or "all" to a mask. False: *bad is unknown.
bool parse_readers(const std::string& text, unsigned* readers, std::string* bad);
// "mat, shark"
std::string reader_names(unsigned readers);

// Prints or keeps problems, at most `per_rule` of a rule and `most` in all, and counts the rest.
class ProblemLog {
 public:
  struct Options {
    unsigned readers = kNobody;  // whose demands are errors
    uint64_t per_rule = 10;
    uint64_t most = 100;
    bool warnings = true;  // print them
    bool strict = false;   // every warning is an error
    bool keep = false;     // for section(), in place of printing them
  };
  enum class Unit { kByte, kLine };

  ProblemLog(std::ostream& out, std::string file, Options options);

  void set_unit(Unit unit) { unit_ = unit; }
  // From now on violations of the rule count as warnings only. False: there is no such rule.
  bool allow(const std::string& rule_name);

  // where: a byte offset or a line number. The text says what was found and what was expected.
  void report(Rule rule, uint64_t where, const char* format, ...) __attribute__((format(printf, 4, 5)));

  // The severity of a rule for the selected readers.
  Severity severity(Rule rule) const;
  uint64_t count(Rule rule) const { return counts_[static_cast<unsigned>(rule)]; }
  uint64_t errors() const { return errors_; }
  uint64_t warnings() const { return warnings_; }
  // Prints the numbers of problems not printed, by rule, and the totals.
  void summarize();
  // The same in JSON, with the problems that were kept.
  Section section() const;

 private:
  // Violations of a rule that report() neither printed nor kept, but for warnings that nobody wants.
  uint64_t hidden(unsigned rule) const;

  std::ostream& out_;
  std::string file_;
  Options options_;
  Unit unit_ = Unit::kByte;
  bool allowed_[kRuleCount] = {};
  uint64_t counts_[kRuleCount] = {};
  uint64_t printed_of_[kRuleCount] = {};
  uint64_t printed_ = 0;
  Table kept_ = {
      "problems",
      "",
      {{"where", "", CellKind::kNumber}, {"severity", ""}, {"rule", ""}, {"text", ""}, {"readers", ""}}};
  uint64_t errors_ = 0;
  uint64_t warnings_ = 0;
};

}  // namespace hprof::tool
