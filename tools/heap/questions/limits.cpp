#include "tools/heap/questions/limits.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "core/base/text_tools.h"
#include "core/base/value.h"
#include "tools/heap/questions/find_objects.h"
#include "tools/heap/questions/heap_views.h"

namespace hprof::tool {

namespace {

struct MeasureRow {
  const char* name;
  bool of_class;
  CellKind kind;
};
// By Limit::Measure.
constexpr MeasureRow kMeasures[] = {{"instances", true, CellKind::kCount},
                                    {"shallow", true, CellKind::kBytes},
                                    {"retained", true, CellKind::kBytes},
                                    {"suspect", false, CellKind::kPercent},
                                    {"heap", false, CellKind::kBytes}};

bool parse_value(CellKind kind, std::string text, double* value) {
  uint64_t number = 0;
  if (kind == CellKind::kPercent) {
    if (!text.empty() && text.back() == '%') text.pop_back();
    return parse_real({text.data(), text.size()}, value) && *value >= 0 && *value <= 100;
  }
  const Str digits{text.data(), text.size()};
  if (!(kind == CellKind::kBytes ? parse_size(digits, &number) : parse_decimal(digits, &number)))
    return false;
  *value = static_cast<double>(number);
  return true;
}

Cell cell_of(CellKind kind, double value) {
  if (kind == CellKind::kPercent) return value;
  return static_cast<uint64_t>(value);
}

std::string value_of(CellKind kind, double value) {
  return cell_text({"", "", kind}, cell_of(kind, kind == CellKind::kPercent ? value / 100 : value));
}

bool holds(const Limit& limit, double value) {
  if (limit.or_equal && value == limit.limit) return true;
  return limit.above ? value > limit.limit : value < limit.limit;
}

}  // namespace

bool parse_limit(const std::string& text, Limit* limit, std::string* error) {
  size_t at = 0;
  auto wrong = [&](const std::string& what) {
    *error = '\'' + text + "', byte " + std::to_string(at + 1) + ": " + what +
             (at < text.size() ? " instead of '" + text.substr(at) + '\'' : " is missing");
    return false;
  };
  auto skip = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  limit->text = text;
  const size_t end = std::min(text.find_first_of("(<> "), text.size());
  const auto* row = std::find_if(std::begin(kMeasures), std::end(kMeasures), [&](const MeasureRow& each) {
    return text.compare(0, end, each.name) == 0;
  });
  if (row == std::end(kMeasures)) return wrong("instances, shallow, retained, suspect or heap");
  limit->measure = static_cast<Limit::Measure>(row - kMeasures);
  at = end;
  if (row->of_class) {
    if (at == text.size() || text[at] != '(') return wrong("(CLASS)");
    ++at;
    const size_t close = text.find(')', at);
    if (close == at) return wrong("a class");
    if (close == std::string::npos) {
      at = text.size();
      return wrong("')'");
    }
    limit->class_name = text.substr(at, close - at);
    at = close + 1;
  }
  skip();
  if (at == text.size() || (text[at] != '>' && text[at] != '<')) return wrong("> or <");
  limit->above = text[at++] == '>';
  limit->or_equal = at < text.size() && text[at] == '=';
  at += limit->or_equal;
  skip();
  if (parse_value(row->kind, text.substr(at), &limit->limit)) return true;
  return wrong(row->kind == CellKind::kPercent ? "a percentage from 0 to 100"
               : row->kind == CellKind::kBytes ? "a size such as 50m"
                                               : "a number");
}

LimitCheck::LimitCheck(const Snapshot& snapshot, const std::vector<Limit>& limits, bool subclasses)
    : snapshot_(snapshot), limits_(limits), subclasses_(subclasses), measured_(limits.size()) {}

bool LimitCheck::measure_graph(const ReferenceGraph& graph, MemoryBudget& budget, std::string* error) {
  std::unique_ptr<Reach> reach;
  for (size_t i = 0; i < limits_.size(); ++i) {
    const Limit& limit = limits_[i];
    if (!kMeasures[limit.measure].of_class) continue;
    Measured& to = measured_[i];
    NamedClasses classes;
    // A class that is not loaded has no instances; a short name of several classes says nothing.
    const FoundClasses found = find_classes(snapshot_, limit.class_name, subclasses_, &classes, &to.note);
    if (found == FoundClasses::kSeveral) {
      *error = "--fail-if=" + limit.text + ": " + to.note;
      return false;
    }
    if (found == FoundClasses::kNone) continue;
    to.wanted = classes.wanted;
    if (limit.measure != Limit::kRetained) continue;
    if (reach == nullptr) reach = std::make_unique<Reach>(snapshot_, graph, budget);
    std::vector<uint32_t> objects;
    for (uint32_t object = 0; object < snapshot_.numbers.size(); ++object) {
      if (to.wanted[snapshot_.class_of(object)] && reach->has(object)) objects.push_back(object);
    }
    if (objects.empty()) continue;
    for (const Group& each : retained_by_class(snapshot_, *reach, objects))
      to.value += static_cast<double>(each.shallow);
  }
  return true;
}

Section LimitCheck::finish(uint64_t largest, bool* exceeded) {
  Section section{"limits", "Limits"};
  Table table{"limits",
              "",
              {{"exceeded", "exceeded"},
               data_column("measure", CellKind::kText),
               data_column("class", CellKind::kText),
               data_column("value", CellKind::kNumber),
               data_column("limit", CellKind::kNumber),
               {"found", "found"},
               {"condition", "condition"},
               data_column("note", CellKind::kText)}};
  for (size_t i = 0; i < limits_.size(); ++i) {
    const Limit& limit = limits_[i];
    const MeasureRow& row = kMeasures[limit.measure];
    Measured& of = measured_[i];
    if (limit.measure == Limit::kSuspect)
      of.value = 100 * part_of(largest, snapshot_.total_bytes());
    else if (limit.measure == Limit::kHeap)
      of.value = static_cast<double>(snapshot_.total_bytes());
    for (size_t index = 0; limit.measure <= Limit::kShallow && index < of.wanted.size(); ++index) {
      const ClassTotals& totals = snapshot_.totals[index];
      if (of.wanted[index])
        of.value +=
            static_cast<double>(limit.measure == Limit::kShallow ? totals.reached_bytes : totals.reached);
    }
    const bool over = holds(limit, of.value);
    *exceeded = *exceeded || over;
    table.rows.push_back({std::string(over ? "yes" : "no"), std::string(row.name),
                          limit.class_name.empty() ? Cell() : Cell(limit.class_name),
                          cell_of(row.kind, of.value), cell_of(row.kind, limit.limit),
                          value_of(row.kind, of.value), limit.text,
                          of.note.empty() ? Cell() : Cell(of.note)});
    if (!of.note.empty()) section.text.push_back(of.note);
  }
  section.tables.push_back(table);
  return section;
}

}  // namespace hprof::tool
