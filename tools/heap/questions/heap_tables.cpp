#include "tools/heap/questions/heap_tables.h"

#include <algorithm>
#include <map>
#include <queue>

#include "tools/format/value_text.h"
#include "tools/heap/questions/paths.h"

namespace hprof::tool {

namespace {

constexpr char kRetainedNote[] =
    "Retained: what would be free if these objects were gone. What one object of a row retains is counted "
    "once.";

const std::vector<Column> kSizes = {kObjectCount, kShallow, kRetained, kRetainedPart};

Table sizes_table(const std::string& key, const std::string& title, const Column& what) {
  Table table{key, title, kSizes};
  table.columns.push_back(what);
  return table;
}

// Adds the groups with objects to the table, by retained bytes.
void add_groups(const Snapshot& snapshot, const std::vector<Group>& groups,
                const std::function<Cell(size_t)>& name_of, size_t top, Table* table) {
  std::vector<uint32_t> order = largest_first(
      groups, [](const Group& each) { return each.objects != 0; },
      [](const Group& each) { return std::make_pair(each.retained, each.shallow); });
  table->left_out = cut(order, top);
  for (uint32_t i : order) {
    const Group& each = groups[i];
    table->rows.push_back({each.objects, each.shallow, each.retained,
                           part_of(each.retained, snapshot.total_bytes()), name_of(i)});
  }
}

// "A.b(A.java:1) < C.d(C.java:2)", innermost first; "" for a trace without frames.
std::string stack_text(const Definitions& names, uint32_t serial) {
  std::string text;
  auto trace = names.traces.find(serial);
  if (trace == names.traces.end()) return text;
  for (uint64_t id : trace->second.frames) {
    auto frame = names.frames.find(id);
    if (frame != names.frames.end()) text += (text.empty() ? "" : " < ") + names.frame_text(frame->second);
  }
  return text;
}

}  // namespace

HeapEntity class_entity(const Snapshot& snapshot, uint32_t index) {
  const HeapClass& of = snapshot.outline.classes.list[index];
  return {of.name, HeapEntity::kClass, of.id, ""};
}

HeapEntity entity_of(const Snapshot& snapshot, uint32_t node) {
  if (node == kNoObject) return {snapshot.describe(node)};
  if (snapshot.is_stack(node)) return {snapshot.describe(node), HeapEntity::kStack, 0, ""};
  const uint32_t mirror = snapshot.class_of_mirror(node);
  const uint64_t id = snapshot.numbers.id_of(node);
  if (mirror == kNoClass)
    return {snapshot.describe(node), HeapEntity::kObject, id, snapshot.class_name(snapshot.class_of(node))};
  return {snapshot.describe(node) + " @ " + value_text(HPROF_TYPE_OBJECT, id), HeapEntity::kClass, id,
          snapshot.class_name(mirror)};
}

HeapEntity referred_entity(const Snapshot& snapshot, uint64_t id) {
  if (id == 0) return {"null"};
  const uint32_t object = snapshot.numbers.number_of(id);
  if (object != kNoObject) return entity_of(snapshot, object);
  return {value_text(HPROF_TYPE_OBJECT, id) + " (not in the dump)", HeapEntity::kObject, id, ""};
}

std::vector<Group> group_places(const Snapshot& snapshot, size_t keys,
                                const std::function<uint32_t(uint32_t place)>& key_of) {
  std::vector<Group> groups(keys);
  // For each key the end of its last counted subtree: places before that are inside it.
  std::vector<uint32_t> ends(keys);
  for (uint32_t place = 1; place <= snapshot.tree.reached; ++place) {
    uint32_t key = key_of(place);
    if (key == kNoGroup) continue;
    Group& group = groups[key];
    ++group.objects;
    group.shallow += snapshot.shallow(place);
    if (place < ends[key]) continue;
    ends[key] = snapshot.end_of(place);
    group.retained += snapshot.retained(place);
  }
  return groups;
}

std::vector<Group> group_classes(const Snapshot& snapshot) {
  return group_places(snapshot, snapshot.outline.classes.list.size(), [&](uint32_t place) {
    auto index = static_cast<uint32_t>(snapshot.class_at.get(place));
    return index == Snapshot::kStackClass ? kNoGroup : index;
  });
}

std::string package_of(const std::string& class_name) {
  size_t dot = class_name.rfind('.', class_name.find('/'));
  if (dot != std::string::npos) return class_name.substr(0, dot);
  static constexpr const char* kBasic[] = {"boolean[", "char[",  "float[", "double[",
                                           "byte[",    "short[", "int[",   "long["};
  for (const char* basic : kBasic) {
    if (class_name.rfind(basic, 0) == 0) return "(arrays of basic types)";
  }
  return "(no package)";
}

Table class_table(const Snapshot& snapshot, size_t top) {
  Table table = sizes_table("classes", "Classes by retained bytes", kClass);
  add_groups(
      snapshot, group_classes(snapshot),
      [&](size_t i) { return class_entity(snapshot, static_cast<uint32_t>(i)); }, top, &table);
  table.note = kRetainedNote;
  return table;
}

Table histogram_table(const Snapshot& snapshot, size_t top) {
  Table table{"histogram", "", {kObjectCount, {"shallow_bytes", "bytes", CellKind::kExact}, kClass}};
  std::vector<size_t> order;
  for (size_t i = 0; i < snapshot.totals.size(); ++i) {
    if (snapshot.totals[i].reached != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    uint64_t x = snapshot.totals[a].reached_bytes, y = snapshot.totals[b].reached_bytes;
    return x != y ? x > y
                  : snapshot.class_name(static_cast<uint32_t>(a)) <
                        snapshot.class_name(static_cast<uint32_t>(b));
  });
  table.left_out = cut(order, top);
  for (size_t i : order) {
    table.rows.push_back({snapshot.totals[i].reached, snapshot.totals[i].reached_bytes,
                          class_entity(snapshot, static_cast<uint32_t>(i))});
  }
  return table;
}

std::vector<uint32_t> children_of(const Snapshot& snapshot, uint32_t place, size_t most, uint64_t* left_out) {
  using Entry = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> best;  // the smallest of the best on top
  uint64_t count = 0;
  for (uint32_t child = place + 1; child < snapshot.end_of(place); child = snapshot.end_of(child)) {
    ++count;
    best.push({snapshot.retained(child), UINT32_MAX - child});
    if (most != 0 && best.size() > most) best.pop();
  }
  std::vector<uint32_t> children(best.size());
  for (size_t i = children.size(); i-- > 0; best.pop()) children[i] = UINT32_MAX - best.top().second;
  if (left_out != nullptr) *left_out = count - children.size();
  return children;
}

Table biggest_table(const Snapshot& snapshot, size_t top) {
  Table table{"biggest",
              "Objects that retain most (and are not retained by another object)",
              {kShallow, kRetained, kRetainedPart, kObject}};
  std::vector<uint32_t> places = children_of(snapshot, 0, top, &table.left_out);
  std::vector<uint32_t> nodes = snapshot.nodes_at(places);
  for (size_t i = 0; i < places.size(); ++i) {
    uint64_t retained = snapshot.retained(places[i]);
    table.rows.push_back({snapshot.shallow(places[i]), retained, part_of(retained, snapshot.total_bytes()),
                          entity_of(snapshot, nodes[i])});
  }
  return table;
}

Table loader_table(const Snapshot& snapshot, size_t top) {
  const std::vector<HeapClass>& classes = snapshot.outline.classes.list;
  std::map<uint64_t, uint32_t> keys;
  std::vector<uint64_t> loaders;
  std::vector<uint32_t> key_of_class, counts;
  for (const HeapClass& each : classes) {
    auto [place, fresh] = keys.try_emplace(each.loader, static_cast<uint32_t>(loaders.size()));
    if (fresh) {
      loaders.push_back(each.loader);
      counts.push_back(0);
    }
    key_of_class.push_back(place->second);
    counts[place->second] += each.dumped && !each.is_array();
  }
  // A class object belongs to its class's loader, not to java.lang.Class's.
  std::vector<std::pair<uint32_t, uint32_t>> mirrors;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    uint32_t object = snapshot.mirror_of(i);
    if (object != kNoObject) mirrors.push_back({snapshot.tree.place_of[object], key_of_class[i]});
  }
  std::sort(mirrors.begin(), mirrors.end());
  auto next = mirrors.begin();
  std::vector<Group> groups = group_places(snapshot, loaders.size(), [&](uint32_t place) {
    while (next != mirrors.end() && next->first < place) ++next;
    if (next != mirrors.end() && next->first == place) return next->second;
    uint64_t index = snapshot.class_at.get(place);
    return index == Snapshot::kStackClass ? kNoGroup : key_of_class[index];
  });
  Table table =
      sizes_table("loaders", "Class loaders, by what their classes and the instances of these retain",
                  {"classes", "classes", CellKind::kCount});
  add_groups(
      snapshot, groups, [](size_t i) { return uint64_t{i}; }, top, &table);
  table.columns.push_back({"loader", "loader", CellKind::kObject});
  for (auto& row : table.rows) {
    const auto i = static_cast<size_t>(std::get<uint64_t>(row.back()));
    row.back() = uint64_t{counts[i]};
    uint32_t object = snapshot.numbers.number_of(loaders[i]);
    row.push_back(loaders[i] == 0       ? Cell(std::string("(the boot loader)"))
                  : object == kNoObject ? Cell(std::string("(a loader that is not in the dump)"))
                                        : Cell(entity_of(snapshot, object)));
  }
  return table;
}

Table package_table(const Snapshot& snapshot, size_t top) {
  std::map<std::string, uint32_t> keys;
  std::vector<std::string> names;
  std::vector<uint32_t> key_of_class;
  for (const HeapClass& each : snapshot.outline.classes.list) {
    auto [place, fresh] = keys.try_emplace(package_of(each.name), static_cast<uint32_t>(names.size()));
    if (fresh) names.push_back(place->first);
    key_of_class.push_back(place->second);
  }
  std::vector<Group> groups = group_places(snapshot, names.size(), [&](uint32_t place) {
    uint64_t index = snapshot.class_at.get(place);
    return index == Snapshot::kStackClass ? kNoGroup : key_of_class[index];
  });
  Table table = sizes_table("packages", "Packages by retained size of their objects", {"package", "package"});
  add_groups(
      snapshot, groups, [&](size_t i) { return names[i]; }, top, &table);
  return table;
}

Table thread_table(const Snapshot& snapshot, size_t top) {
  Table table{"threads",
              "Threads by retained size",
              {kRetained,
               {"stack_bytes", "by its stack", CellKind::kBytes},
               {"locals", "locals", CellKind::kCount},
               {"thread", "thread"},
               data_column("serial", CellKind::kNumber),
               data_column("object", CellKind::kObject)}};
  std::vector<uint64_t> locals(snapshot.threads.size());
  for (const HeapRoot& root : snapshot.roots) {
    if (is_stack_root(root.tag) && root.thread != kNoThread) ++locals[root.thread];
  }
  for (size_t i = 0; i < snapshot.threads.size(); ++i) {
    const HeapThread& thread = snapshot.threads[i];
    if (thread.object == kNoObject && thread.stack == kNoObject) continue;
    uint64_t stack = snapshot.retained_by(thread.stack);
    table.rows.push_back({std::max(snapshot.retained_by(thread.object), stack), stack, locals[i],
                          thread.label(), uint64_t{thread.serial},
                          thread.object == kNoObject ? Cell() : entity_of(snapshot, thread.object)});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<uint64_t>(a[0]) > std::get<uint64_t>(b[0]);
  });
  table.left_out = cut(table.rows, top);
  table.note = "By its stack: what only local variables of its frames keep alive.";
  return table;
}

Section site_section(const Snapshot& snapshot, size_t top) {
  Section section{"sites", "Allocation sites by retained bytes"};
  if (snapshot.trace_at.empty()) {
    section.text = {"The dump does not say where objects were allocated."};
    return section;
  }
  const Definitions& names = snapshot.outline.names;
  std::map<uint32_t, uint32_t> keys;
  std::vector<uint32_t> serials;
  uint32_t last_serial = 0, last_key = kNoGroup;
  std::vector<Group> groups = group_places(snapshot, names.traces.size() + 1, [&](uint32_t place) {
    uint32_t serial = snapshot.trace_at[place];
    if (serial != last_serial || last_key == kNoGroup) {
      auto trace = names.traces.find(serial);
      bool empty = trace == names.traces.end() || trace->second.frames.empty();
      auto [entry, fresh] = keys.try_emplace(empty ? 0 : serial, static_cast<uint32_t>(serials.size()));
      if (fresh) serials.push_back(entry->first);
      last_serial = serial;
      last_key = entry->second;
    }
    return last_key;
  });
  Table table = sizes_table("sites", "", {"site", "allocated at"});
  add_groups(
      snapshot, groups,
      [&](size_t i) { return serials[i] == 0 ? std::string("(not known)") : stack_text(names, serials[i]); },
      top, &table);
  section.tables.push_back(table);
  return section;
}

Table site_table(const Snapshot& snapshot, const std::map<uint32_t, Group>& by_trace) {
  constexpr size_t kShown = 5;
  Table table{"sites", "Allocated at", {kObjectCount, kShallow, {"site", "allocated at"}}};
  std::vector<std::pair<uint32_t, Group>> sorted(by_trace.begin(), by_trace.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.shallow > b.second.shallow; });
  for (const auto& [serial, group] : sorted) {
    std::string stack = stack_text(snapshot.outline.names, serial);
    if (stack.empty()) continue;
    if (table.rows.size() == kShown) {
      ++table.left_out;
    } else {
      table.rows.push_back({group.objects, group.shallow, stack});
    }
  }
  return table;
}

}  // namespace hprof::tool
