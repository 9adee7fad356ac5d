#include "tools/heap/questions/conditions.h"

#include <algorithm>

#include "core/base/text_tools.h"
#include "core/base/value.h"

namespace hprof::tool {

namespace {

// "instances, shallow or heap"
std::string names_of(const Measures& measures) {
  std::string text;
  for (size_t i = 0; i < measures.count; ++i)
    text += std::string(i == 0 ? "" : i + 1 == measures.count ? " or " : ", ") + measures[i].name;
  return text;
}

bool parse_percent(std::string text, double* value) {
  if (!text.empty() && text.back() == '%') text.pop_back();
  return parse_real({text.data(), text.size()}, value) && *value >= 0;
}

// The limit; only one with a sign may be a share.
bool parse_value(Measure::Unit unit, std::string text, Condition* condition) {
  constexpr double kAll = 100;
  if (unit == Measure::kPercent)
    return parse_percent(std::move(text), &condition->limit) && condition->limit <= kAll;
  if (condition->kind != Condition::kValue && !text.empty() && text.back() == '%') {
    condition->kind = Condition::kShare;
    return parse_percent(std::move(text), &condition->limit);
  }
  uint64_t number = 0;
  const Str digits{text.data(), text.size()};
  if (!(unit == Measure::kBytes ? parse_size(digits, &number) : parse_decimal(digits, &number))) return false;
  condition->limit = static_cast<double>(number);
  return true;
}

const char* expected_limit(const Measure& measure) {
  switch (measure.unit) {
    case Measure::kPercent:
      return "a percentage from 0 to 100";
    case Measure::kBytes:
      return measure.changes ? "a size such as 64k, +64k or +5%" : "a size such as 50m";
    case Measure::kCount:
      break;
  }
  return measure.changes ? "a number such as 100, +100 or +0.5%" : "a number";
}

}  // namespace

bool parse_condition(const std::string& text, const Measures& measures, Condition* condition,
                     std::string* error) {
  size_t at = 0;
  auto wrong = [&](const std::string& what) {
    *error = '\'' + text + "', byte " + std::to_string(at + 1) + ": " + what +
             (at < text.size() ? " instead of '" + text.substr(at) + '\'' : " is missing");
    return false;
  };
  auto skip = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  *condition = {};
  condition->text = text;
  const size_t end = std::min(text.find_first_of("(<> "), text.size());
  const Measure* const last = measures.first + measures.count;
  const Measure* row = std::find_if(
      measures.first, last, [&](const Measure& each) { return text.compare(0, end, each.name) == 0; });
  if (row == last) return wrong(names_of(measures));
  condition->measure = static_cast<size_t>(row - measures.first);
  at = end;
  const bool is_named = at < text.size() && text[at] == '(';
  if (row->of == Measure::kNamed && !is_named) {
    std::string word = measures.named;
    for (char& letter : word) letter = static_cast<char>(letter - 'a' + 'A');
    return wrong('(' + word + ')');
  }
  if (row->of != Measure::kAll && is_named) {
    ++at;
    const size_t close = text.find(')', at);
    if (close == at) return wrong(std::string("a ") + measures.named);
    if (close == std::string::npos) {
      at = text.size();
      return wrong("')'");
    }
    condition->name = text.substr(at, close - at);
    at = close + 1;
  }
  skip();
  if (at == text.size() || (text[at] != '>' && text[at] != '<')) return wrong("> or <");
  condition->above = text[at++] == '>';
  condition->or_equal = at < text.size() && text[at] == '=';
  at += condition->or_equal;
  skip();
  const bool has_sign = row->changes && at < text.size() && (text[at] == '+' || text[at] == '-');
  if (has_sign) condition->kind = Condition::kChange;
  if (!parse_value(row->unit, text.substr(at + (has_sign ? 1 : 0)), condition))
    return wrong(expected_limit(*row));
  if (has_sign && text[at] == '-') condition->limit = -condition->limit;
  return true;
}

}  // namespace hprof::tool
