// Breadth-first search for paths, and their tables.
#include "tools/heap/questions/paths.h"

#include <algorithm>
#include <unordered_map>

#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/thread_locals.h"
#include "tools/heap/questions/thread_stacks.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

// Steps of a tree of classes; deeper paths end at their last one.
constexpr size_t kStepsMax = 1 << 20;

}  // namespace

ShortestPaths::ShortestPaths(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget)
    : snapshot_(snapshot), budget_(budget) {
  uint32_t nodes = graph.nodes();
  before_.allocate_cold(budget, nodes);
  order_.allocate(budget, nodes);
  for (uint32_t root : snapshot.root_nodes) {
    before_[root] = 1;
    order_[count_++] = root;
  }
  // One level of the search after the other, each in the order of nodes: that is mostly the order of the
  // graph in memory.
  BitArray level;
  level.allocate(budget, nodes);
  for (uint32_t begin = 0; begin < count_;) {
    const uint32_t end = count_;
    for (uint32_t at = begin; at < end; ++at) {
      uint32_t node = order_[at];
      budget_.step(&graph.first()[node]);
      budget_.step(graph.slots() + graph.first()[node]);
      graph.for_each(node, [&](uint32_t target) {
        budget_.step(&before_[target]);
        if (before_[target] != 0) return;
        before_[target] = node + 2;
        order_[count_++] = target;
      });
    }
    sort_nodes(end, level);
    begin = end;
  }
}

// Sorts the nodes from `begin` on. `bits` is clear before and after.
void ShortestPaths::sort_nodes(uint32_t begin, BitArray& bits) {
  if (count_ - begin < bits.words().size()) return std::sort(order_.data() + begin, order_.data() + count_);
  for (uint32_t at = begin; at < count_; ++at) bits.set(order_[at]);
  uint32_t at = begin;
  for (size_t i = 0; i < bits.words().size(); ++i) {
    for (uint64_t& word = bits.words()[i]; word != 0; word &= word - 1) {
      order_[at++] = static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(__builtin_ctzll(word));
    }
  }
}

std::vector<uint32_t> ShortestPaths::to(uint32_t node) const {
  std::vector<uint32_t> path;
  if (!reaches(node)) return path;
  path.push_back(node);
  while (before_[node] > 1) {
    node = before_[node] - 2;
    path.push_back(node);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<ShortestPaths::Step> ShortestPaths::merge(const std::vector<uint32_t>& nodes) const {
  BigArray<uint32_t> steps;
  steps.allocate(budget_, before_.size());
  std::vector<bool> wanted(before_.size());
  for (uint32_t node : nodes) {
    if (reaches(node)) wanted[node] = true;
  }
  // Those and all on their paths, from the last node reached to the first.
  std::vector<bool> on_path = wanted;
  for (uint32_t at = count_; at-- > 0;) {
    uint32_t node = order_[at];
    budget_.step(&before_[node]);
    if (on_path[node] && before_[node] > 1) on_path[before_[node] - 2] = true;
  }
  std::vector<Step> list = {{0, 0, kNoObject, 0}};
  std::unordered_map<uint64_t, uint32_t, IdHash> known;  // by parent step and class
  for (uint32_t at = 0; at < count_; ++at) {
    uint32_t node = order_[at];
    if (!on_path[node]) continue;
    budget_.step(&before_[node]);
    budget_.step(&steps[node]);
    uint32_t parent = before_[node] > 1 ? steps[before_[node] - 2] : 0;
    uint32_t index = snapshot_.is_stack(node) ? Snapshot::kStackClass : snapshot_.class_of(node);
    // Each class object is a step of its own, with its own statics.
    uint32_t mirror = snapshot_.class_of_mirror(node);
    uint32_t key = mirror != kNoClass ? mirror | 0x80000000u : index;
    uint32_t step = parent;
    bool same = parent != 0 && list[parent].class_index == key;
    if (!same && list.size() < kStepsMax) {
      auto [known_step, fresh] =
          known.try_emplace(uint64_t{parent} << 32 | key, static_cast<uint32_t>(list.size()));
      if (fresh) list.push_back({parent, key, node, 0});
      step = known_step->second;
    }
    list[step].ends += wanted[node];
    steps[node] = step;
  }
  return list;
}

namespace {

const char* root_kind(uint8_t tag) {
  static constexpr NamedTag kNames[] = {{kRootStickyClass, "system class"},
                                        {kRootJniGlobal, "JNI global reference"},
                                        {kRootThreadObject, "running thread"},
                                        {kRootMonitorUsed, "locked monitor"},
                                        {kRootUnknown, "root of the VM"}};
  return name_in(kNames, tag, "local of a thread");
}

// ` "http-1"`, or nothing.
std::string name_of_thread(const Snapshot& snapshot, uint32_t object) {
  for (const HeapThread& each : snapshot.threads) {
    if (each.object == object && !each.name.empty()) return " \"" + each.name + '"';
  }
  return "";
}

}  // namespace

std::string root_text(const Snapshot& snapshot, uint32_t node) {
  if (snapshot.is_stack(node)) return "a running thread";
  std::string text;
  for (const HeapRoot& root : snapshot.roots) {
    if (root.object != node) continue;
    const std::string kind = root_kind(root.tag);
    if (text.find(kind) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + kind;
    if (root.tag == kRootThreadObject) text += name_of_thread(snapshot, node);
  }
  return text.empty() ? "nothing refers to it" : text;
}

StaticHolder static_holder(const Snapshot& snapshot, const std::vector<uint32_t>& path) {
  static const std::string kStatic = "static ";
  ObjectFetcher fetcher(snapshot);
  for (size_t i = path.size(); i-- > 1;) {
    const uint32_t mirror = snapshot.class_of_mirror(path[i - 1]);
    if (mirror == kNoClass || snapshot.is_stack(path[i])) continue;
    ObjectValues from;
    from.object = path[i - 1];
    from.class_index = mirror;
    const std::string how = fetcher.how(from, snapshot.numbers.id_of(path[i]));
    if (how.rfind(kStatic, 0) == 0)
      return {snapshot.class_name(mirror) + '.' + how.substr(kStatic.size()), path[i - 1], path[i]};
  }
  return {};
}

Table path_table(const Snapshot& snapshot, const ShortestPaths& paths, const std::vector<uint32_t>& path,
                 size_t steps) {
  Table table{"path", "", {{"reference", ""}, {"object", "", CellKind::kObject}, kLeftOut}};
  std::vector<uint32_t> shown = path;
  size_t hidden = 0;
  if (steps != 0 && path.size() / 2 > steps) {
    hidden = path.size() - 2 * steps;
    const auto end = static_cast<std::ptrdiff_t>(steps);
    shown.erase(shown.begin() + end, shown.end() - end);
  }
  ObjectFetcher fetcher(snapshot);
  std::vector<ObjectValues> values = fetcher.fetch(shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    std::string how;
    if (i == 0) {
      how = "(" + root_text(snapshot, shown[i]) + ")";
    } else if (hidden != 0 && i == steps) {
      table.rows.push_back(
          {HeapEntity{"..."}, HeapEntity{count_text(hidden) + " steps are left out"}, uint64_t{hidden}});
      how = "...";
    } else if (snapshot.is_stack(shown[i])) {
      how = "its stack";
    } else if (snapshot.is_stack(shown[i - 1])) {
      const HeapThread& thread = snapshot.threads[shown[i - 1] - snapshot.numbers.size()];
      how = "local";
      for (const HeapRoot& root : snapshot.roots) {
        if (root.object != shown[i] || !is_stack_root(root.tag) || root.frame == UINT32_MAX) continue;
        std::string frame = frame_of(snapshot, thread, root.frame);
        if (!frame.empty()) how += " of " + frame;
        break;
      }
    } else {
      how = fetcher.how(values[i - 1], snapshot.numbers.id_of(shown[i]));
      const std::string name = how == ".value" ? thread_local_of(snapshot, paths, values[i - 1]) : "";
      if (!name.empty()) how += " of thread-local " + name;
    }
    table.rows.push_back({how, entity_of(snapshot, shown[i])});
  }
  return table;
}

}  // namespace hprof::tool
