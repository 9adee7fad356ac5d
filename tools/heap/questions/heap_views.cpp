#include "tools/heap/questions/heap_views.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/heap/questions/collections.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

struct TreeRow {
  uint32_t place;
  unsigned depth;
  uint64_t left_out;  // children that are not shown
  uint64_t bytes;     // that these retain
};

void collect_tree(const Snapshot& snapshot, uint32_t place, unsigned depth, const TreeShape& shape,
                  std::vector<TreeRow>* rows) {
  uint64_t left_out = 0, bytes = snapshot.retained(place) - snapshot.shallow(place);
  for (uint32_t child : children_of(snapshot, place, depth == 0 ? shape.top : shape.children, &left_out)) {
    bool small = depth > 0 && snapshot.retained(child) < snapshot.total_bytes() / shape.part;
    if (small || rows->size() >= shape.most) {
      ++left_out;
      continue;
    }
    bytes -= snapshot.retained(child);
    rows->push_back({child, depth, 0, 0});
    if (depth + 1 < shape.levels) collect_tree(snapshot, child, depth + 1, shape, rows);
  }
  if (left_out > 0) rows->push_back({DominatorTree::kUnreached, depth, left_out, bytes});
}

// The immediate dominator of a place; the walk down visits each place at most once.
uint32_t dominator_of(const Snapshot& snapshot, uint32_t place) {
  uint32_t above = 0;
  for (uint32_t child = 1; child != place;) {
    if (place < snapshot.end_of(child)) {
      above = child;
      ++child;
    } else {
      child = snapshot.end_of(child);
    }
  }
  return above;
}

Cell cell_of_value(const Snapshot& snapshot, uint8_t type, uint64_t value, const std::string& text) {
  if (type != HPROF_TYPE_OBJECT) return value_text(type, value);
  HeapEntity entity = referred_entity(snapshot, value);
  if (!text.empty()) entity.text += " \"" + printable(text) + "\"";
  return entity;
}

// The number in the low bytes of `value`; references have none.
Cell number_of_value(uint8_t type, uint64_t value) {
  switch (type) {
    case HPROF_TYPE_FLOAT:
    case HPROF_TYPE_DOUBLE:
      return real_value(type, value);
    case HPROF_TYPE_BYTE:
      return int64_t{static_cast<int8_t>(value)};
    case HPROF_TYPE_SHORT:
      return int64_t{static_cast<int16_t>(value)};
    case HPROF_TYPE_INT:
      return int64_t{static_cast<int32_t>(value)};
    case HPROF_TYPE_LONG:
      return static_cast<int64_t>(value);
    case HPROF_TYPE_BOOLEAN:
    case HPROF_TYPE_CHAR:
      return value;
    default:
      return {};
  }
}

struct ShownValue {
  std::string name;
  uint8_t type;
  uint64_t value;
};

std::vector<ShownValue> values_of(const Snapshot& snapshot, const ObjectValues& object, size_t top) {
  std::vector<ShownValue> list;
  const Definitions& names = snapshot.outline.names;
  unsigned id_size = snapshot.outline.header.id_size;
  uint32_t mirror = snapshot.class_of_mirror(object.object);
  auto value_at = [&](size_t offset, unsigned width) { return big_endian(&object.bytes[offset], width); };
  if (mirror != kNoClass) {
    const HeapClass& of = snapshot.outline.classes.list[mirror];
    list.push_back({"superclass", HPROF_TYPE_OBJECT, of.super_id});
    list.push_back({"class loader", HPROF_TYPE_OBJECT, of.loader});
    for (const DumpedField& field : of.statics) {
      list.push_back({"static " + std::string(names.string(field.name)), field.type, field.value});
    }
  } else if (object.element != 0) {
    unsigned width = width_of(object.element, id_size);
    const size_t count = width != 0 ? object.bytes.size() / width : 0;
    for (size_t i = 0; i < count && (top == 0 || i < top); ++i) {
      list.push_back({"[" + std::to_string(i) + "]", object.element, value_at(i * width, width)});
    }
  } else {
    for (const InstanceField& field :
         snapshot.outline.classes.instance_fields(object.class_index, object.bytes.size())) {
      list.push_back({"." + std::string(names.string(field.name)), field.type,
                      value_at(field.offset, width_of(field.type, id_size))});
    }
  }
  return list;
}

Table values_table(const Snapshot& snapshot, const ObjectValues& object, size_t top) {
  Table table{"values",
              "Values",
              {{"name", ""},
               {"type", ""},
               {"value", "", CellKind::kObject},
               data_column("number", CellKind::kNumber),
               data_column("text", CellKind::kQuote)}};
  std::vector<ShownValue> values = values_of(snapshot, object, top);
  // Strings are shown with their text.
  std::vector<uint32_t> strings;
  for (const ShownValue& each : values) {
    uint32_t target = each.type == HPROF_TYPE_OBJECT && each.value != 0
                          ? snapshot.numbers.number_of(each.value)
                          : kNoObject;
    bool string = target != kNoObject && snapshot.class_of(target) == snapshot.outline.classes.string_class;
    strings.push_back(string ? target : kNoObject);
  }
  std::vector<std::string> texts = ObjectFetcher(snapshot).texts(strings, 60);
  for (size_t i = 0; i < values.size(); ++i) {
    Cell value = cell_of_value(snapshot, values[i].type, values[i].value, texts[i]);
    Cell text = strings[i] == kNoObject ? Cell() : texts[i];
    table.rows.push_back({values[i].name, std::string(type_name(values[i].type)), value,
                          number_of_value(values[i].type, values[i].value), text});
  }
  if (object.length > values.size()) table.left_out = object.length - values.size();
  return table;
}

Table entries_table(const Snapshot& snapshot, const CollectionEntries& entries) {
  Table table{"entries", "Entries", {}};
  std::vector<std::string> names = {"element"};
  if (entries.map) names = {"key", "value"};
  for (const std::string& name : names) {
    table.columns.push_back({name, name, CellKind::kObject});
    table.columns.push_back({name + "_text", "", CellKind::kQuote, true});
  }
  std::vector<uint64_t> ids;
  for (const auto& [key, value] : entries.list) {
    ids.push_back(key);
    if (entries.map) ids.push_back(value);
  }
  const std::vector<ShownObject> shown = shown_objects(snapshot, ids);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (i % names.size() == 0) table.rows.emplace_back();
    table.rows.back().push_back(shown[i].entity);
    table.rows.back().push_back(shown[i].text);
  }
  if (entries.sized && entries.size > entries.list.size())
    table.left_out = entries.size - entries.list.size();
  if (!entries.sized) table.note = "There may be more.";
  return table;
}

// The places of those objects that are reachable.
std::vector<uint32_t> reached_places(const Snapshot& snapshot, const std::vector<uint32_t>& objects) {
  std::vector<uint32_t> places;
  for (uint32_t object : objects) {
    if (snapshot.is_reached(object)) places.push_back(snapshot.place_of(object));
  }
  return places;
}

// Keeps the `top` places that retain most, 0 = all, and sorts them. Returns how many are left out.
uint64_t keep_largest(const Snapshot& snapshot, size_t top, std::vector<uint32_t>* places) {
  const size_t kept = top == 0 ? places->size() : std::min(top, places->size());
  std::partial_sort(places->begin(), places->begin() + static_cast<std::ptrdiff_t>(kept), places->end(),
                    [&](uint32_t a, uint32_t b) {
                      const uint64_t x = snapshot.retained(a), y = snapshot.retained(b);
                      return x != y ? x > y : a < b;
                    });
  return cut(*places, top);
}

}  // namespace

Section dominator_section(const Snapshot& snapshot, const NamedObjects& of, const TreeShape& shape) {
  Section section{"dominators", "Dominator tree"};
  const std::vector<uint32_t>& objects = of.objects;
  if (objects.size() == 1) section.title = "What " + snapshot.describe(objects[0]) + " retains";
  if (objects.size() > 1)
    section.title = "What each of the " + count_text(objects.size()) + " objects of " + of.name + " retains";
  Table table{"tree", "", {{"depth", "", CellKind::kDepth}, kRetained, kRetainedPart, kObject, kLeftOut}};
  table.note = "Each object retains those that are indented below it.";
  std::vector<TreeRow> rows;
  std::vector<uint32_t> reached = reached_places(snapshot, objects);
  if (reached.size() < objects.size()) {
    section.text = {objects.size() == 1 ? snapshot.describe(objects[0]) + " is not reachable."
                                        : count_text(objects.size() - reached.size()) +
                                              " of them are not reachable, and not shown."};
    if (reached.empty()) return section;
  }
  if (objects.size() > 1) {
    table.left_out = keep_largest(snapshot, shape.top, &reached);
    for (uint32_t place : reached) {
      rows.push_back({place, 0, 0, 0});
      collect_tree(snapshot, place, 1, shape, &rows);
    }
  } else {
    collect_tree(snapshot, objects.empty() ? 0 : reached[0], 0, shape, &rows);
  }
  std::vector<uint32_t> places;
  for (const TreeRow& row : rows) places.push_back(row.place == DominatorTree::kUnreached ? 0 : row.place);
  std::vector<uint32_t> nodes = snapshot.nodes_at(places);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].left_out != 0) {
      table.rows.push_back({uint64_t{rows[i].depth}, rows[i].bytes,
                            part_of(rows[i].bytes, snapshot.total_bytes()),
                            HeapEntity{"... " + count_text(rows[i].left_out) + " more"}, rows[i].left_out});
      continue;
    }
    uint64_t retained = snapshot.retained(rows[i].place);
    table.rows.push_back({uint64_t{rows[i].depth}, retained, part_of(retained, snapshot.total_bytes()),
                          entity_of(snapshot, nodes[i])});
  }
  section.tables.push_back(table);
  return section;
}

Section list_section(const Snapshot& snapshot, const NamedObjects& of, size_t top) {
  Section section{"objects", "Objects of " + of.name + " by retained size"};
  Table table{"objects", "", {kShallow, kRetained, kObject}};
  std::vector<uint32_t> places = reached_places(snapshot, of.objects);
  const uint64_t reached = places.size();
  table.left_out = keep_largest(snapshot, top, &places);
  std::vector<uint32_t> nodes = snapshot.nodes_at(places);
  for (size_t i = 0; i < places.size(); ++i) {
    table.rows.push_back(
        {snapshot.shallow(places[i]), snapshot.retained(places[i]), entity_of(snapshot, nodes[i])});
  }
  section.facts = {{data_column("objects", CellKind::kCount), uint64_t{of.objects.size()}},
                   {data_column("reachable", CellKind::kCount), reached}};
  section.text = {count_text(of.objects.size()) + " objects, " + count_text(of.objects.size() - reached) +
                  " of them unreachable and not shown"};
  section.tables.push_back(table);
  return section;
}

std::vector<Group> retained_by_class(const Snapshot& snapshot, const Reach& reach,
                                     const std::vector<uint32_t>& objects) {
  const BitArray rest = reach.around(objects);
  std::vector<bool> own(snapshot.numbers.size());
  for (uint32_t object : objects) own[object] = true;
  std::vector<Group> sums(snapshot.outline.classes.list.size());
  for (uint32_t object = 0; object < snapshot.numbers.size(); ++object) {
    if (!reach.has(object) || (!own[object] && rest.get(object))) continue;
    Group& sum = sums[snapshot.class_of(object)];
    ++sum.objects;
    sum.shallow += snapshot.size_of(object);
  }
  return sums;
}

Section retained_section(const Snapshot& snapshot, const Reach& reach, const NamedObjects& of, size_t top) {
  const std::vector<uint32_t>& objects = of.objects;
  const std::vector<Group> sums = retained_by_class(snapshot, reach, objects);
  Group total;
  uint64_t shallow = 0;
  for (const Group& each : sums) {
    total.objects += each.objects;
    total.shallow += each.shallow;
  }
  for (uint32_t object : objects) shallow += snapshot.size_of(object);
  Section section{"retained", "What " + of.name + " retains"};
  section.facts = {{data_column("objects", CellKind::kCount), uint64_t{objects.size()}},
                   {data_column("shallow_bytes", CellKind::kBytes), shallow},
                   {data_column("retained_objects", CellKind::kCount), total.objects},
                   {data_column("retained_bytes", CellKind::kBytes), total.shallow}};
  section.text = {count_text(objects.size()) + (objects.size() == 1 ? " object of " : " objects of ") +
                  bytes_text(shallow) + "; without " + (objects.size() == 1 ? "it " : "them ") +
                  count_text(total.objects) + " objects of " + bytes_text(total.shallow) + " would be free:"};
  if (of.unreached != 0) {
    section.facts.push_back({data_column("unreachable", CellKind::kCount), of.unreached});
    section.text.push_back("No GC root reaches " + count_text(of.unreached) +
                           " others (--unreachable takes them in).");
  }
  Table table{"classes", "", {kObjectCount, {"shallow_bytes", "bytes", CellKind::kBytes}, kClass}};
  std::vector<uint32_t> order = largest_first(
      sums, [](const Group& each) { return each.objects != 0; },
      [](const Group& each) { return each.shallow; });
  table.left_out = cut(order, top);
  for (uint32_t i : order) {
    table.rows.push_back({sums[i].objects, sums[i].shallow, class_entity(snapshot, i)});
  }
  section.tables.push_back(table);
  return section;
}

std::vector<uint32_t> referrers_of(const ReferenceGraph& graph, uint32_t object) {
  std::vector<uint32_t> referrers;
  graph.for_all([&](uint32_t source, uint32_t target) {
    if (target == object) referrers.push_back(source);
  });
  sort_numbers(&referrers);
  return referrers;
}

namespace {

// A node whose values were read; after the search for dominators only they tell the class of an unreachable
// object.
HeapEntity entity_of(const Snapshot& snapshot, uint32_t node, const ObjectValues& values) {
  HeapEntity entity = entity_of(snapshot, node);
  if (entity.kind != HeapEntity::kObject || values.class_index == kNoClass) return entity;
  entity.class_name = snapshot.class_name(values.class_index);
  entity.text = entity.class_name + " @ " + value_text(HPROF_TYPE_OBJECT, entity.id);
  return entity;
}

}  // namespace

Section object_section(const Snapshot& snapshot, const NamedObjects& of,
                       const std::vector<uint32_t>& referrers, size_t top) {
  const uint32_t object = of.objects[0];
  ObjectFetcher fetcher(snapshot);
  ObjectValues values = fetcher.fetch({object})[0];
  const HeapEntity entity = entity_of(snapshot, object, values);
  Section section{"object", entity.kind == HeapEntity::kClass ? snapshot.describe(object) : entity.text};
  uint32_t place = snapshot.tree.place_of[object];
  auto fact = [&](const Column& column, const Cell& value, const std::string& as = "") {
    section.facts.push_back({column, value, as});
  };
  if (of.objects.size() > 1) {
    section.text = {"The first of " + count_text(of.objects.size()) + " objects of " + of.name +
                    ". hprof heap objects shows which of them retain most."};
  }
  fact(data_column("of", CellKind::kCount), uint64_t{of.objects.size()});
  fact({"object", "object", CellKind::kObject}, entity);
  if (values.class_index != kNoClass) {
    const HeapEntity of_class = class_entity(snapshot, values.class_index);
    fact(kClass, of_class,
         of_class.id == 0 ? "" : of_class.text + " (" + value_text(HPROF_TYPE_OBJECT, of_class.id) + ")");
  }
  const uint32_t mirror = snapshot.class_of_mirror(object);
  if (mirror != kNoClass) {
    const ClassTotals& totals = snapshot.totals[mirror];
    fact({"instances", "instances", CellKind::kCount}, totals.reached,
         count_text(totals.reached) + " of " + bytes_text(totals.reached_bytes));
    fact(data_column("instance_bytes", CellKind::kBytes), totals.reached_bytes);
  }
  if (values.element != 0) fact({"length", "length", CellKind::kCount}, uint64_t{values.length});
  if (place != DominatorTree::kUnreached) {
    const uint64_t shallow = snapshot.shallow(place), retained = snapshot.retained(place),
                   objects = snapshot.tree.subtree[place];
    fact(kShallow, shallow, count_text(shallow) + " bytes");
    fact(kRetained, retained, count_text(retained) + " bytes in " + count_text(objects) + " objects");
    fact(data_column("retained_objects", CellKind::kCount), objects);
    uint32_t above = dominator_of(snapshot, place);
    fact({"retained_by", "retained by", CellKind::kObject},
         above == 0 ? HeapEntity{"GC roots alone"} : entity_of(snapshot, snapshot.nodes_at({above})[0]));
  } else {
    fact({"reachable", "reachable"}, std::string("no"));
  }
  std::string text = fetcher.texts({object}, 200)[0];
  if (!text.empty()) fact({"text", "text", CellKind::kQuote}, text);
  const CollectionEntries entries = entries_of(snapshot, values, top);
  if (entries.known && entries.sized) fact({"entries", "entries", CellKind::kCount}, entries.size);
  if (entries.known) section.tables.push_back(entries_table(snapshot, entries));
  section.tables.push_back(values_table(snapshot, values, top));
  Table table{"referrers", "Referred to by", {{"reference", ""}, {"object", "", CellKind::kObject}}};
  std::vector<uint32_t> shown = referrers;
  table.left_out = cut(shown, top);
  std::vector<ObjectValues> sources = fetcher.fetch(shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    std::string how =
        snapshot.is_stack(shown[i]) ? "local" : fetcher.how(sources[i], snapshot.numbers.id_of(object));
    table.rows.push_back({how, entity_of(snapshot, shown[i], sources[i])});
  }
  section.tables.push_back(table);
  return section;
}

GroupsByName class_sums(const Snapshot& snapshot) {
  std::vector<Group> groups = group_classes(snapshot);
  GroupsByName by_name;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (groups[i].objects == 0) continue;
    Group& sums = by_name[snapshot.class_name(i)];
    sums.objects += groups[i].objects;
    sums.shallow += groups[i].shallow;
    sums.retained += groups[i].retained;
  }
  return by_name;
}

RetainedByName class_objects(const Snapshot& snapshot) {
  std::vector<uint32_t> places;
  for (uint32_t place = 1; place <= snapshot.tree.reached; ++place) {
    if (snapshot.class_at.get(place) == snapshot.outline.classes.class_class) places.push_back(place);
  }
  const std::vector<uint32_t> nodes = snapshot.nodes_at(places);
  RetainedByName by_name;
  for (size_t i = 0; i < places.size(); ++i) {
    if (snapshot.class_of_mirror(nodes[i]) != kNoClass)
      by_name[snapshot.describe(nodes[i])] += snapshot.retained(places[i]);
  }
  return by_name;
}

namespace {

struct ClassChange {
  std::string name;
  int64_t objects, shallow, retained;
  Group now;
};

std::vector<ClassChange> changes_of(const Growth& growth) {
  std::map<std::string, std::pair<Group, Group>> both;
  for (const auto& [name, sums] : growth.before) both[name].first = sums;
  for (const auto& [name, sums] : growth.after) both[name].second = sums;
  auto change = [](uint64_t from, uint64_t to) { return static_cast<int64_t>(to - from); };
  std::vector<ClassChange> changes;
  for (const auto& [name, pair] : both) {
    const auto& [from, to] = pair;
    if (from.objects == to.objects && from.shallow == to.shallow && from.retained == to.retained) continue;
    changes.push_back({name, change(from.objects, to.objects), change(from.shallow, to.shallow),
                       change(from.retained, to.retained), to});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const ClassChange& a, const ClassChange& b) {
    return std::abs(a.retained) > std::abs(b.retained);
  });
  return changes;
}

// ", of which class com.acme.Cache +1.0 MiB": the class object that retains most more; "": none.
std::string grown_class(const Growth& growth) {
  const std::string* name = nullptr;
  int64_t most = 0;
  for (const auto& [each, after] : growth.classes_after) {
    const auto before = growth.classes_before.find(each);
    const auto more =
        static_cast<int64_t>(after - (before == growth.classes_before.end() ? 0 : before->second));
    if (more <= most) continue;
    most = more;
    name = &each;
  }
  if (name == nullptr) return "";
  return ", of which " + *name + " " + cell_text(Column{"", "", CellKind::kChange}, most);
}

}  // namespace

Section diff_section(const Growth& growth, size_t top) {
  Section section{"diff", "What changed from the first to the second"};
  std::vector<ClassChange> changes = changes_of(growth);
  const auto change = static_cast<int64_t>(growth.bytes_after - growth.bytes_before);
  const Column count{"", "", CellKind::kCount}, size{"", "", CellKind::kChange};
  section.text = {"Reachable: " + bytes_text(growth.bytes_before) + ", then " +
                  bytes_text(growth.bytes_after) + " (" + cell_text(size, change) + ")"};
  // The class with most new bytes of its own, and the one that retains most more.
  auto most_by = [&](int64_t ClassChange::*sum) {
    auto found = std::max_element(changes.begin(), changes.end(),
                                  [&](const auto& a, const auto& b) { return a.*sum < b.*sum; });
    return found != changes.end() && *found.*sum > 0 ? &*found : nullptr;
  };
  const ClassChange *retaining = most_by(&ClassChange::retained), *own = most_by(&ClassChange::shallow);
  auto grown = [&](const char* how, const ClassChange& each, int64_t bytes) {
    section.text.push_back(how + each.name + ", " + cell_text(size, bytes) + ", " +
                           (each.objects == 0 ? "0" : cell_text(count, each.objects)) + " objects" +
                           (each.name == "java.lang.Class" ? grown_class(growth) : ""));
  };
  if (retaining != nullptr) grown("Grew most by retained bytes: ", *retaining, retaining->retained);
  if (own != nullptr) grown("Grew most by shallow bytes: ", *own, own->shallow);
  if (retaining == nullptr && own == nullptr) section.text.push_back("No class grew.");
  section.facts = {{data_column("before_bytes", CellKind::kBytes), growth.bytes_before},
                   {data_column("after_bytes", CellKind::kBytes), growth.bytes_after},
                   {data_column("change_bytes", CellKind::kChange), change}};
  auto fact = [&](const char* key, const ClassChange* each) {
    section.facts.push_back({data_column(key, CellKind::kText), each == nullptr ? Cell() : Cell(each->name)});
  };
  fact("grew_most_retained", retaining);
  fact("grew_most_shallow", own);
  Table table{"classes",
              "",
              {{"objects_change", "objects", CellKind::kCount},
               {"shallow_change", "shallow", CellKind::kChange},
               {"retained_change", "retained", CellKind::kChange},
               {"objects", "now", CellKind::kCount},
               {"retained_bytes", "retained now", CellKind::kBytes},
               kClass}};
  table.left_out = cut(changes, top);
  for (const ClassChange& each : changes)
    table.rows.push_back(
        {each.objects, each.shallow, each.retained, each.now.objects, each.now.retained, each.name});
  section.tables.push_back(table);
  return section;
}

}  // namespace hprof::tool
