#include "tools/heap/questions/limits.h"

#include <memory>

#include "tools/heap/questions/find_objects.h"
#include "tools/heap/questions/heap_views.h"

namespace hprof::tool {

namespace {

// By HeapMeasure.
constexpr Measure kRows[] = {{"instances", Measure::kNamed, Measure::kCount},
                             {"shallow", Measure::kNamed, Measure::kBytes},
                             {"retained", Measure::kNamed, Measure::kBytes},
                             {"suspect", Measure::kAll, Measure::kPercent},
                             {"heap", Measure::kAll, Measure::kBytes}};
constexpr Measures kMeasures(kRows, "class");

CellKind kind_of(const Condition& limit) {
  switch (kMeasures[limit.measure].unit) {
    case Measure::kPercent:
      return CellKind::kPercent;
    case Measure::kBytes:
      return CellKind::kBytes;
    case Measure::kCount:
      break;
  }
  return CellKind::kCount;
}

Cell cell_of(CellKind kind, double value) {
  if (kind == CellKind::kPercent) return value;
  return static_cast<uint64_t>(value);
}

std::string value_of(CellKind kind, double value) {
  return cell_text({"", "", kind}, cell_of(kind, kind == CellKind::kPercent ? value / 100 : value));
}

}  // namespace

bool parse_limit(const std::string& text, Condition* limit, std::string* error) {
  return parse_condition(text, kMeasures, limit, error);
}

LimitCheck::LimitCheck(const Snapshot& snapshot, const std::vector<Condition>& limits, bool subclasses)
    : snapshot_(snapshot), limits_(limits), subclasses_(subclasses), measured_(limits.size()) {}

bool LimitCheck::measure_graph(const ReferenceGraph& graph, MemoryBudget& budget, std::string* error) {
  std::unique_ptr<Reach> reach;
  for (size_t i = 0; i < limits_.size(); ++i) {
    const Condition& limit = limits_[i];
    if (kMeasures[limit.measure].of != Measure::kNamed) continue;
    Measured& to = measured_[i];
    NamedClasses classes;
    // A class that is not loaded has no instances; a short name of several classes says nothing.
    const FoundClasses found = find_classes(snapshot_, limit.name, subclasses_, &classes, &to.note);
    if (found == FoundClasses::kSeveral) {
      *error = "--fail-if=" + limit.text + ": " + to.note;
      return false;
    }
    if (found == FoundClasses::kNone) continue;
    to.wanted = classes.wanted;
    if (limit.measure != HeapMeasure::kRetained) continue;
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
    const Condition& limit = limits_[i];
    const CellKind kind = kind_of(limit);
    Measured& of = measured_[i];
    if (limit.measure == HeapMeasure::kSuspect)
      of.value = 100 * part_of(largest, snapshot_.total_bytes());
    else if (limit.measure == HeapMeasure::kHeap)
      of.value = static_cast<double>(snapshot_.total_bytes());
    for (size_t index = 0; limit.measure <= HeapMeasure::kShallow && index < of.wanted.size(); ++index) {
      const ClassTotals& totals = snapshot_.totals[index];
      if (of.wanted[index])
        of.value += static_cast<double>(limit.measure == HeapMeasure::kShallow ? totals.reached_bytes
                                                                               : totals.reached);
    }
    const bool over = limit.holds(of.value);
    *exceeded = *exceeded || over;
    table.rows.push_back({std::string(over ? "yes" : "no"), std::string(kMeasures[limit.measure].name),
                          text_or_null(limit.name), cell_of(kind, of.value), cell_of(kind, limit.limit),
                          value_of(kind, of.value), limit.text, text_or_null(of.note)});
    if (!of.note.empty()) section.text.push_back(of.note);
  }
  section.tables.push_back(table);
  return section;
}

}  // namespace hprof::tool
