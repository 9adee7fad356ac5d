// Accumulation points in the dominator tree, many equal objects at its top, class loaders that outlived a
// reload.
#include "tools/heap/questions/leaks.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/format/utf8.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/loaded_twice.h"

namespace hprof::tool {

namespace {

enum class SuspectKind { kObject, kCrowd, kLoaders };

struct Suspect {
  SuspectKind kind;
  uint64_t retained;
  std::vector<uint32_t> places;  // places of the object, the crowd or the loaders, largest first
  std::vector<uint32_t> tops;    // loaders: the topmost places that they retain
  uint32_t class_index = kNoClass;
  std::string repeated_class;  // loaders: a class that all have loaded
  std::string from;            // loaders: where they load from; "" = not known
};

std::string percent(uint64_t bytes, uint64_t all) {
  return cell_text({"", "", CellKind::kPercent}, part_of(bytes, all));
}

class LeakFinder {
 public:
  LeakFinder(const Snapshot& snapshot, const ShortestPaths& paths, const ThreadLocals& locals,
             const LeakOptions& options)
      : snapshot_(snapshot),
        paths_(paths),
        locals_(locals),
        options_(options),
        total_(snapshot.total_bytes()),
        least_(static_cast<uint64_t>(options.threshold * static_cast<double>(total_))) {}

  Section run(uint64_t* largest) {
    Section section{"leaks", "Leak suspects"};
    std::vector<Suspect> suspects = find();
    const uint64_t found = suspects.size();
    *largest = 0;
    for (const Suspect& each : suspects) *largest = std::max(*largest, each.retained);
    suspects.resize(std::min(suspects.size(), options_.most));
    section.tables.push_back(suspect_table(suspects, found));
    if (suspects.empty()) {
      section.text = {"Nothing retains " + percent(least_, total_) + " of the heap or more."};
    }
    add_thread_locals(&section);
    for (size_t i = 0; i < suspects.size(); ++i) {
      section.parts.push_back(describe(suspects[i], i + 1));
    }
    return section;
  }

 private:
  std::vector<Suspect> find() {
    std::vector<Suspect> suspects = find_loaders();
    size_t loaders = suspects.size();
    find_objects(&suspects);
    auto by_bytes = [](const Suspect& a, const Suspect& b) { return a.retained > b.retained; };
    const auto others = suspects.begin() + static_cast<std::ptrdiff_t>(loaders);
    std::stable_sort(suspects.begin(), others, by_bytes);
    std::stable_sort(others, suspects.end(), by_bytes);
    // Loaders that retain little come last, but are still a leak of classes.
    std::stable_partition(suspects.begin(), suspects.end(),
                          [&](const Suspect& each) { return each.retained >= least_; });
    return suspects;
  }

  void find_objects(std::vector<Suspect>* suspects) {
    std::map<uint32_t, Suspect> crowds;
    for (uint32_t place = 1; place <= snapshot_.tree.reached; place = snapshot_.end_of(place)) {
      uint64_t retained = snapshot_.retained(place);
      auto index = static_cast<uint32_t>(snapshot_.class_at.get(place));
      if (retained >= least_ && retained > 0) {
        suspects->push_back({SuspectKind::kObject, retained, {place}, {}, index, "", ""});
      } else if (index != snapshot_.outline.classes.class_class && index != Snapshot::kStackClass) {
        Suspect& crowd =
            crowds.try_emplace(index, Suspect{SuspectKind::kCrowd, 0, {}, {}, index, "", ""}).first->second;
        crowd.retained += retained;
        crowd.places.push_back(place);
      }
    }
    for (auto& [index, crowd] : crowds) {
      if (crowd.retained < least_ || crowd.retained == 0) continue;
      std::stable_sort(crowd.places.begin(), crowd.places.end(),
                       [&](uint32_t a, uint32_t b) { return snapshot_.retained(a) > snapshot_.retained(b); });
      suspects->push_back(std::move(crowd));
    }
  }

  // Finds loaders that have loaded the same application, left over from reloading.
  std::vector<Suspect> find_loaders() {
    std::vector<Suspect> suspects;
    for (const LoadedTwice& each : loaded_twice(snapshot_)) {
      Suspect suspect{SuspectKind::kLoaders, 0, {}, {}, each.loader_class, each.repeated_class,
                      printable(each.place)};
      const std::set<uint64_t> loaders(each.loaders.begin(), each.loaders.end());
      for (uint64_t id : loaders)
        suspect.places.push_back(snapshot_.tree.place_of[snapshot_.numbers.number_of(id)]);
      suspect.tops = tops_of(loaders);
      for (uint32_t place : suspect.tops) suspect.retained += snapshot_.retained(place);
      if (suspect.retained >= least_ || suspect.places.size() > 2) suspects.push_back(std::move(suspect));
    }
    return suspects;
  }

  // The loaders, their classes and instances, without those that others of them retain.
  std::vector<uint32_t> tops_of(const std::set<uint64_t>& loaders) {
    const std::vector<HeapClass>& classes = snapshot_.outline.classes.list;
    std::vector<bool> of_class(classes.size());
    std::vector<uint32_t> own, tops;
    for (uint64_t id : loaders) own.push_back(snapshot_.tree.place_of[snapshot_.numbers.number_of(id)]);
    for (uint32_t i = 0; i < classes.size(); ++i) {
      of_class[i] = loaders.count(classes[i].loader) != 0;
      uint32_t object = of_class[i] ? snapshot_.mirror_of(i) : kNoObject;
      if (object != kNoObject) own.push_back(snapshot_.tree.place_of[object]);
    }
    std::sort(own.begin(), own.end());
    auto next = own.begin();
    for (uint32_t place = 1; place <= snapshot_.tree.reached;) {
      while (next != own.end() && *next < place) ++next;
      uint64_t index = snapshot_.class_at.get(place);
      bool member =
          (next != own.end() && *next == place) || (index != Snapshot::kStackClass && of_class[index]);
      if (member) tops.push_back(place);
      place = member ? snapshot_.end_of(place) : place + 1;
    }
    return tops;
  }

  // Names ThreadLocals whose values retain as much as a suspect, which no single thread may.
  void add_thread_locals(Section* section) const {
    for (const ThreadLocalValues& each : locals_.sums()) {
      if (each.retained < least_ || each.retained == 0) break;
      section->text.push_back("thread-local " + each.name + ", " + bytes_text(each.retained) + " in " +
                              count_text(each.threads) + (each.threads == 1 ? " thread" : " threads") + ": " +
                              each.values);
    }
  }

  // The suspects as rows for JSON and CSV; the parts describe them.
  Table suspect_table(const std::vector<Suspect>& suspects, uint64_t found) {
    static constexpr const char* kKinds[] = {"object", "crowd", "loaders"};
    Table table{"suspects",
                "",
                {{"kind", ""},
                 kObjectCount,
                 kRetained,
                 kRetainedPart,
                 kClass,
                 kObject,
                 {"below", "", CellKind::kObject},
                 {"below_bytes", "", CellKind::kBytes},
                 {"static", ""},
                 {"static_class", "", CellKind::kClass},
                 {"held", "", CellKind::kObject},
                 {"held_bytes", "", CellKind::kBytes}}};
    table.data_only = true;
    table.left_out = found - suspects.size();
    for (const Suspect& suspect : suspects) {
      const uint32_t place = suspect.places[0], point = accumulation(place);
      const std::vector<uint32_t> nodes = snapshot_.nodes_at({place, point});
      const bool stack = suspect.class_index == Snapshot::kStackClass;
      const bool one = suspect.kind == SuspectKind::kObject;
      std::vector<Cell> row = {std::string(kKinds[static_cast<int>(suspect.kind)]),
                               uint64_t{suspect.places.size()},
                               suspect.retained,
                               part_of(suspect.retained, total_),
                               stack ? Cell() : class_entity(snapshot_, suspect.class_index),
                               entity_of(snapshot_, nodes[0]),
                               one ? Cell(entity_of(snapshot_, nodes[1])) : Cell(),
                               one ? Cell(snapshot_.retained(point)) : Cell()};
      const StaticHolder holder = static_holder(snapshot_, paths_.to(one ? nodes[1] : nodes[0]));
      if (!holder.name.empty()) {
        row.push_back(holder.name);
        row.push_back(class_entity(snapshot_, snapshot_.class_of_mirror(holder.mirror)));
        row.push_back(entity_of(snapshot_, holder.held));
        row.push_back(snapshot_.retained(snapshot_.tree.place_of[holder.held]));
      }
      table.rows.push_back(row);
    }
    return table;
  }

  // Goes down from a place while one object retains nearly everything. A list of equal objects ends the walk.
  uint32_t accumulation(uint32_t place) {
    uint64_t enough = snapshot_.retained(place) / 5 * 4;
    for (unsigned depth = 0; depth < 1000; ++depth) {
      uint32_t best = place;
      for (uint32_t child = place + 1; child < snapshot_.end_of(place); child = snapshot_.end_of(child)) {
        if (best == place || snapshot_.retained(child) > snapshot_.retained(best)) best = child;
      }
      if (best == place || snapshot_.retained(best) < enough) break;
      if (snapshot_.class_at.get(best) == snapshot_.class_at.get(place) && depth > 0) break;
      place = best;
    }
    return place;
  }

  Section describe(const Suspect& suspect, size_t number) {
    Section part{"suspect", ""};
    std::vector<uint32_t> nodes = snapshot_.nodes_at(suspect.places);
    std::string share =
        bytes_text(suspect.retained) + ", " + percent(suspect.retained, total_) + " of the heap";
    std::string start = std::to_string(number) + ". ";
    switch (suspect.kind) {
      case SuspectKind::kObject:
        part.title = start + snapshot_.describe(nodes[0]) + " retains " + share;
        describe_object(suspect.places[0], &part);
        break;
      case SuspectKind::kCrowd:
        part.title = start + count_text(nodes.size()) + " objects of " +
                     snapshot_.class_name(suspect.class_index) + " retain " + share;
        part.text = {"The one that retains most, " + bytes_text(snapshot_.retained(suspect.places[0])) + ":"};
        add_path(nodes[0], &part);
        add_kept(suspect.places, &part);
        add_sites(suspect.places, &part);
        break;
      case SuspectKind::kLoaders:
        part.title = start + count_text(nodes.size()) + " class loaders " +
                     snapshot_.class_name(suspect.class_index) + " are alive and retain " + share;
        describe_loaders(suspect, nodes, &part);
        break;
    }
    return part;
  }

  void describe_object(uint32_t place, Section* part) {
    uint32_t point = accumulation(place);
    uint32_t node = snapshot_.nodes_at({point})[0];
    if (point != place) {
      part->text = {"Most of it is below " + snapshot_.describe(node) + ", which retains " +
                    bytes_text(snapshot_.retained(point)) + ". It is kept alive by"};
    } else {
      part->text = {"It is kept alive by"};
    }
    add_path(node, part);
    add_children(point, part);
    add_kept({point}, part);
    add_sites({point}, part);
  }

  void describe_loaders(const Suspect& suspect, const std::vector<uint32_t>& nodes, Section* part) {
    part->text = {"Each has loaded its own class " + suspect.repeated_class +
                      (suspect.from.empty() ? "" : " from " + suspect.from) +
                      ". A program that reloads code has one such loader; the others should be gone.",
                  "One of them is kept alive by"};
    // The oldest object would say most, but the dump has no ages: takes the one with the shortest path.
    uint32_t shown = nodes[0];
    size_t least = SIZE_MAX;
    for (uint32_t node : nodes) {
      size_t length = paths_.to(node).size();
      if (length != 0 && length < least) {
        least = length;
        shown = node;
      }
    }
    add_path(shown, part);
    Table table{"loaders",
                "The loaders",
                {kRetained, {"loader", "loader", CellKind::kObject}, {"held_by", "held by"}}};
    for (size_t i = 0; i < nodes.size() && i < 10; ++i) {
      table.rows.push_back(
          {snapshot_.retained(suspect.places[i]), entity_of(snapshot_, nodes[i]), holder_of(nodes[i])});
    }
    table.left_out = nodes.size() - table.rows.size();
    part->tables.push_back(table);
    add_kept(suspect.tops, part);
    add_sites(suspect.tops, part);
  }

  // The last static field on the path to a node, or else the GC root.
  std::string holder_of(uint32_t node) const {
    const std::vector<uint32_t> path = paths_.to(node);
    const StaticHolder holder = static_holder(snapshot_, path);
    if (!holder.name.empty()) return "static " + holder.name;
    if (path.empty()) return "";
    std::string root = snapshot_.describe(path[0]) + " (" + root_text(snapshot_, path[0]) + ')';
    const ObjectFetcher fetcher(snapshot_);
    for (const ObjectValues& each : fetcher.fetch(path)) {
      const std::string name = thread_local_of(snapshot_, paths_, each);
      if (!name.empty()) return root + ", thread-local " + name;
    }
    return root;
  }

  void add_path(uint32_t node, Section* part) {
    std::vector<uint32_t> path = paths_.to(node);
    if (path.empty()) return;
    const StaticHolder holder = static_holder(snapshot_, path);
    if (!holder.name.empty()) {
      part->text.insert(part->text.begin(),
                        "The static field " + holder.name + " holds " + snapshot_.describe(holder.held) +
                            ", which retains " +
                            bytes_text(snapshot_.retained(snapshot_.tree.place_of[holder.held])) + '.');
    }
    part->tables.push_back(path_table(snapshot_, paths_, path, options_.steps));
  }

  // Adds the direct children of a place, by class.
  void add_children(uint32_t place, Section* part) {
    std::map<uint32_t, Group> groups;
    for (uint32_t child = place + 1; child < snapshot_.end_of(place); child = snapshot_.end_of(child)) {
      auto index = static_cast<uint32_t>(snapshot_.class_at.get(child));
      if (index == Snapshot::kStackClass) continue;
      Group& group = groups[index];
      ++group.objects;
      group.shallow += snapshot_.shallow(child);
      group.retained += snapshot_.retained(child);
    }
    add_classes("children", "Directly below it", groups, true, part);
  }

  // Adds everything that the places retain, by class.
  void add_kept(const std::vector<uint32_t>& places, Section* part) {
    std::map<uint32_t, Group> groups;
    for (uint32_t top : places) {
      for (uint32_t place = top; place < snapshot_.end_of(top); ++place) {
        auto index = static_cast<uint32_t>(snapshot_.class_at.get(place));
        if (index == Snapshot::kStackClass) continue;
        Group& group = groups[index];
        ++group.objects;
        group.shallow += snapshot_.shallow(place);
      }
    }
    add_classes("kept", "All that is retained", groups, false, part);
  }

  void add_classes(const char* key, const char* title, const std::map<uint32_t, Group>& groups, bool retained,
                   Section* part) {
    constexpr size_t kShown = 8;
    std::vector<std::pair<uint32_t, Group>> sorted(groups.begin(), groups.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return retained ? a.second.retained > b.second.retained : a.second.shallow > b.second.shallow;
    });
    Table table{
        key,
        title,
        {kObjectCount,
         {retained ? "retained_bytes" : "shallow_bytes", retained ? "retained" : "shallow", CellKind::kBytes},
         kClass}};
    for (const auto& [index, group] : sorted) {
      if (table.rows.size() == kShown) break;
      table.rows.push_back(
          {group.objects, retained ? group.retained : group.shallow, class_entity(snapshot_, index)});
    }
    table.left_out = sorted.size() - table.rows.size();
    if (!table.rows.empty()) part->tables.push_back(table);
  }

  // Adds the code that allocated what the places retain.
  void add_sites(const std::vector<uint32_t>& places, Section* part) {
    if (snapshot_.trace_at.empty()) return;
    std::map<uint32_t, Group> groups;
    for (uint32_t top : places) {
      for (uint32_t place = top; place < snapshot_.end_of(top); ++place) {
        Group& group = groups[snapshot_.trace_at[place]];
        ++group.objects;
        group.shallow += snapshot_.shallow(place);
      }
    }
    Table table = site_table(snapshot_, groups);
    if (!table.rows.empty()) part->tables.push_back(table);
  }

  const Snapshot& snapshot_;
  const ShortestPaths& paths_;
  const ThreadLocals& locals_;
  const LeakOptions& options_;
  uint64_t total_, least_;
};

}  // namespace

Section leak_section(const Snapshot& snapshot, const ShortestPaths& paths, const ThreadLocals& locals,
                     const LeakOptions& options, uint64_t* largest) {
  return LeakFinder(snapshot, paths, locals, options).run(largest);
}

}  // namespace hprof::tool
