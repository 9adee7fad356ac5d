#include "tools/heap/heap_views.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/heap/heap_tables.h"
#include "tools/heap/object_values.h"

namespace hprof::tool {

namespace {

struct TreeRow {
  uint32_t place;
  unsigned depth;
  uint64_t left_out;  // children that are not shown
};

void collect_tree(const Snapshot& snapshot, uint32_t place, unsigned depth, const TreeShape& shape,
                  std::vector<TreeRow>* rows) {
  uint64_t left_out = 0;
  for (uint32_t child : children_of(snapshot, place, depth == 0 ? shape.top : shape.children, &left_out)) {
    bool small = depth > 0 && snapshot.retained(child) < snapshot.total_bytes() / shape.part;
    if (small || rows->size() >= shape.most) {
      ++left_out;
      continue;
    }
    rows->push_back({child, depth, 0});
    if (depth + 1 < shape.levels) collect_tree(snapshot, child, depth + 1, shape, rows);
  }
  if (left_out > 0) rows->push_back({DominatorTree::kUnreached, depth, left_out});
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

class ReachedWithout {
 public:
  ReachedWithout(const Snapshot& snapshot, MemoryBudget& budget) : snapshot_(snapshot), budget_(budget) {}

  // Finds the nodes that the roots reach without passing these.
  void search(const std::vector<uint32_t>& without, BitArray* reached) {
    uint32_t nodes = snapshot_.graph.nodes();
    BigArray<uint32_t> open;
    open.allocate(budget_, nodes, nodes / 16);
    reached->allocate(budget_, nodes);
    for (uint32_t node : without) reached->set(node);
    size_t count = 0;
    auto visit = [&](uint32_t node) {
      if (reached->get(node)) return;
      reached->set(node);
      open[count++] = node;
    };
    for (uint32_t root : snapshot_.root_nodes) {
      visit(root);
      while (count > 0) snapshot_.graph.for_each(open[--count], visit);
    }
  }

 private:
  const Snapshot& snapshot_;
  MemoryBudget& budget_;
};

std::string text_of_value(const Snapshot& snapshot, uint8_t type, uint64_t value, const std::string& text) {
  if (type != HPROF_TYPE_OBJECT) return value_text(type, value);
  if (value == 0) return "null";
  uint32_t object = snapshot.numbers.number_of(value);
  if (object == kNoObject) return value_text(type, value) + " (not in the dump)";
  return snapshot.describe(object) + (text.empty() ? "" : " \"" + printable(text) + "\"");
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
  auto value_at = [&](size_t offset, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) value = value << 8 | object.bytes[offset + i];
    return value;
  };
  if (mirror != kNoClass) {
    const HeapClass& of = snapshot.outline.classes.list[mirror];
    list.push_back({"superclass", HPROF_TYPE_OBJECT, of.super_id});
    list.push_back({"class loader", HPROF_TYPE_OBJECT, of.loader});
    for (const DumpedField& field : of.statics) {
      list.push_back({"static " + std::string(names.string(field.name)), field.type, field.value});
    }
  } else if (object.element != 0) {
    unsigned width = width_of(object.element, id_size);
    for (size_t i = 0; i < object.bytes.size() / width && (top == 0 || i < top); ++i) {
      list.push_back({"[" + std::to_string(i) + "]", object.element, value_at(i * width, width)});
    }
  } else {
    for (const FieldPlace& place : snapshot.outline.classes.places(object.class_index, object.bytes.size())) {
      list.push_back({"." + std::string(names.string(place.name)), place.type,
                      value_at(place.offset, width_of(place.type, id_size))});
    }
  }
  return list;
}

Table values_table(const Snapshot& snapshot, const ObjectValues& object, size_t top) {
  Table table{"values", "Values", {{"name", ""}, {"type", ""}, {"value", ""}}};
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
    table.rows.push_back({values[i].name, std::string(type_name(values[i].type)),
                          text_of_value(snapshot, values[i].type, values[i].value, texts[i])});
  }
  if (object.length > values.size()) table.left_out = object.length - values.size();
  return table;
}

}  // namespace

std::vector<uint32_t> find_objects(const Snapshot& snapshot, const std::string& what, std::string* error) {
  std::vector<uint32_t> found;
  if (what.rfind("0x", 0) == 0) {
    char* end = nullptr;
    uint64_t id = std::strtoull(what.c_str() + 2, &end, 16);
    uint32_t object = what.size() > 2 && *end == 0 ? snapshot.numbers.number_of(id) : kNoObject;
    if (object == kNoObject) {
      *error = "no object " + what;
    } else {
      found.push_back(object);
    }
    return found;
  }
  std::vector<bool> wanted(snapshot.outline.classes.list.size());
  bool known = false;
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = what == "*" || snapshot.outline.classes.list[i].name == what;
    known = known || wanted[i];
  }
  for (uint32_t object = 0; known && object < snapshot.numbers.size(); ++object) {
    if (wanted[snapshot.class_of(object)]) found.push_back(object);
  }
  if (found.empty()) *error = known ? "class " + what + " has no instances" : "no class " + what;
  return found;
}

Section dominator_section(const Snapshot& snapshot, uint32_t node, const TreeShape& shape) {
  Section section{"dominators", "Dominator tree"};
  uint32_t place = node == kNoObject ? 0 : snapshot.tree.place_of[node];
  if (place == DominatorTree::kUnreached) {
    section.text = {snapshot.describe(node) + " is not reachable."};
    return section;
  }
  if (place != 0) section.title = "What " + snapshot.describe(node) + " retains";
  Table table{"tree", "", {{"depth", "", CellKind::kData}, kRetained, kRetainedPart, kObject}};
  table.note = "Each object retains those that are indented below it.";
  std::vector<TreeRow> rows;
  collect_tree(snapshot, place, 0, shape, &rows);
  std::vector<uint32_t> places;
  for (const TreeRow& row : rows) places.push_back(row.place == DominatorTree::kUnreached ? 0 : row.place);
  std::vector<uint32_t> nodes = snapshot.nodes_at(places);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string indent(2 * rows[i].depth, ' ');
    if (rows[i].left_out != 0) {
      table.rows.push_back({uint64_t{rows[i].depth}, std::string(), std::string(),
                            indent + "... " + count_text(rows[i].left_out) + " more"});
      continue;
    }
    uint64_t retained = snapshot.retained(rows[i].place);
    table.rows.push_back({uint64_t{rows[i].depth}, retained, part_of(retained, snapshot.total_bytes()),
                          indent + snapshot.describe(nodes[i])});
  }
  section.tables.push_back(table);
  return section;
}

Section list_section(const Snapshot& snapshot, const std::vector<uint32_t>& objects, const std::string& name,
                     size_t top) {
  Section section{"objects", "Objects of " + name + " by retained size"};
  Table table{"objects", "", {kShallow, kRetained, kObject}};
  std::vector<uint32_t> reached;
  for (uint32_t object : objects) {
    if (snapshot.tree.place_of[object] != DominatorTree::kUnreached) reached.push_back(object);
  }
  auto retained = [&](uint32_t object) { return snapshot.retained(snapshot.tree.place_of[object]); };
  size_t shown = top == 0 ? reached.size() : std::min(top, reached.size());
  std::partial_sort(
      reached.begin(), reached.begin() + static_cast<std::ptrdiff_t>(shown), reached.end(),
      [&](uint32_t a, uint32_t b) { return retained(a) != retained(b) ? retained(a) > retained(b) : a < b; });
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back({snapshot.shallow(snapshot.tree.place_of[reached[i]]), retained(reached[i]),
                          snapshot.describe(reached[i])});
  }
  table.left_out = reached.size() - shown;
  section.text = {count_text(objects.size()) + " objects, " + count_text(objects.size() - reached.size()) +
                  " of them unreachable and not shown"};
  section.tables.push_back(table);
  return section;
}

Section retained_section(const Snapshot& snapshot, MemoryBudget& budget, const std::vector<uint32_t>& objects,
                         const std::string& name, size_t top) {
  BitArray all, rest;
  ReachedWithout search(snapshot, budget);
  search.search({}, &all);
  search.search(objects, &rest);
  // Unreachable objects are in no subtree.
  for (uint32_t object : objects) {
    if (!all.get(object)) all.set(object);
  }
  std::vector<ClassSums> sums(snapshot.outline.classes.list.size());
  std::vector<bool> own(snapshot.numbers.size());
  for (uint32_t object : objects) own[object] = true;
  ClassSums total, shallow;
  for (uint32_t object = 0; object < snapshot.numbers.size(); ++object) {
    bool retained = own[object] || (all.get(object) && !rest.get(object));
    if (!retained) continue;
    uint64_t size = snapshot.size_of(object);
    ClassSums& of = sums[snapshot.class_of(object)];
    for (ClassSums* each : {&of, &total}) {
      ++each->objects;
      each->shallow += size;
    }
    if (own[object]) shallow.shallow += size;
  }
  Section section{"retained", "What " + name + " retains"};
  section.text = {count_text(objects.size()) + (objects.size() == 1 ? " object of " : " objects of ") +
                  bytes_text(shallow.shallow) + "; without " + (objects.size() == 1 ? "it " : "them ") +
                  count_text(total.objects) + " objects of " + bytes_text(total.shallow) + " would be free:"};
  Table table{
      "classes", "", {kObjectCount, {"shallow_bytes", "bytes", CellKind::kBytes}, {"class", "class"}}};
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].objects != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return sums[a].shallow > sums[b].shallow; });
  table.left_out = cut(order, top);
  for (uint32_t i : order) {
    table.rows.push_back({sums[i].objects, sums[i].shallow, snapshot.class_name(i)});
  }
  section.tables.push_back(table);
  return section;
}

std::vector<uint32_t> referrers_of(const Snapshot& snapshot, uint32_t object) {
  std::vector<uint32_t> referrers;
  snapshot.graph.for_all([&](uint32_t source, uint32_t target) {
    if (target == object && (referrers.empty() || referrers.back() != source)) referrers.push_back(source);
  });
  return referrers;
}

Section object_section(const Snapshot& snapshot, uint32_t object, const std::vector<uint32_t>& referrers,
                       size_t top) {
  ObjectFetcher fetcher(snapshot);
  ObjectValues values = fetcher.fetch({object})[0];
  Section section{"object", snapshot.describe(object)};
  uint32_t place = snapshot.tree.place_of[object];
  Table facts{"facts",
              "",
              {{"fact", ""}, {"value", ""}, {"count", "", CellKind::kData}, {"bytes", "", CellKind::kData}}};
  auto fact = [&](const char* name, const std::string& text) {
    facts.rows.push_back({std::string(name), text});
  };
  if (values.class_index != kNoClass) fact("class", snapshot.class_name(values.class_index));
  if (values.element != 0)
    facts.rows.push_back({std::string("length"), count_text(values.length), uint64_t{values.length}});
  if (place != DominatorTree::kUnreached) {
    const uint64_t shallow = snapshot.shallow(place), retained = snapshot.retained(place),
                   objects = snapshot.tree.subtree[place];
    facts.rows.push_back({std::string("shallow"), count_text(shallow) + " bytes", uint64_t{1}, shallow});
    facts.rows.push_back({std::string("retained"),
                          count_text(retained) + " bytes in " + count_text(objects) + " objects", objects,
                          retained});
    uint32_t above = dominator_of(snapshot, place);
    fact("retained by", above == 0 ? "GC roots alone" : snapshot.describe(snapshot.nodes_at({above})[0]));
  } else {
    fact("reachable", "no");
  }
  std::string text = fetcher.texts({object}, 200)[0];
  if (!text.empty()) fact("text", "\"" + printable(text) + "\"");
  section.tables.push_back(facts);
  section.tables.push_back(values_table(snapshot, values, top));
  Table table{"referrers", "Referred to by", {{"reference", ""}, {"object", ""}}};
  std::vector<uint32_t> shown = referrers;
  table.left_out = cut(shown, top);
  std::vector<ObjectValues> sources = fetcher.fetch(shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    std::string how =
        snapshot.is_stack(shown[i]) ? "local" : fetcher.how(sources[i], snapshot.numbers.id_of(object));
    table.rows.push_back({how, snapshot.describe(shown[i])});
  }
  section.tables.push_back(table);
  return section;
}

std::vector<std::pair<std::string, ClassSums>> class_sums(const Snapshot& snapshot) {
  std::vector<Group> groups = group_classes(snapshot);
  std::map<std::string, ClassSums> by_name;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (groups[i].objects == 0) continue;
    ClassSums& sums = by_name[snapshot.class_name(i)];
    sums.objects += groups[i].objects;
    sums.shallow += groups[i].shallow;
    sums.retained += groups[i].retained;
  }
  return {by_name.begin(), by_name.end()};
}

Table diff_table(const std::vector<std::pair<std::string, ClassSums>>& before,
                 const std::vector<std::pair<std::string, ClassSums>>& after, size_t top) {
  std::map<std::string, std::pair<ClassSums, ClassSums>> both;
  for (const auto& [name, sums] : before) both[name].first = sums;
  for (const auto& [name, sums] : after) both[name].second = sums;
  auto change = [](uint64_t from, uint64_t to) { return static_cast<int64_t>(to - from); };
  std::vector<std::vector<Cell>> rows;
  for (const auto& [name, pair] : both) {
    const auto& [from, to] = pair;
    if (from.objects == to.objects && from.shallow == to.shallow && from.retained == to.retained) continue;
    rows.push_back({change(from.objects, to.objects), change(from.shallow, to.shallow),
                    change(from.retained, to.retained), to.objects, to.retained, name});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::abs(std::get<int64_t>(a[2])) > std::abs(std::get<int64_t>(b[2]));
  });
  Table table{"classes",
              "",
              {{"objects_change", "objects", CellKind::kCount},
               {"shallow_change", "shallow", CellKind::kChange},
               {"retained_change", "retained", CellKind::kChange},
               {"objects", "now", CellKind::kCount},
               {"retained_bytes", "retained now", CellKind::kBytes},
               {"class", "class"}}};
  table.left_out = cut(rows, top);
  table.rows = std::move(rows);
  return table;
}

}  // namespace hprof::tool
