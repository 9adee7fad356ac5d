#include "tools/heap/read/snapshot.h"

#include <algorithm>

#include "tools/format/value_text.h"
#include "tools/heap/graph/in_parallel.h"
#include "tools/heap/read/object_reader.h"

namespace hprof::tool {

void OwnSizes::add(std::vector<Large>& large) {
  large_.insert(large_.end(), large.begin(), large.end());
  std::vector<Large>().swap(large);
}

void OwnSizes::finish() {
  std::sort(large_.begin(), large_.end(), [](const Large& a, const Large& b) { return a.object < b.object; });
}

uint64_t OwnSizes::get(uint32_t object) const {
  uint8_t units = units_[object];
  if (units != kElsewhere) return uint64_t{units} * kUnit;
  auto found = std::lower_bound(large_.begin(), large_.end(), object,
                                [](const Large& each, uint32_t wanted) { return each.object < wanted; });
  return found == large_.end() || found->object != object ? 0 : found->size;
}

Snapshot::Snapshot(DumpOpener& open, const SnapshotOptions& chosen, MemoryBudget& memory)
    : opener(open), options(chosen), budget(memory) {}

std::optional<ReferenceGraph> Snapshot::read(std::string* error) {
  if (!read_outline(error)) return {};
  return read_objects();
}

bool Snapshot::read_outline(std::string* error) {
  if (!tool::read_outline(opener, options.dump, &outline, error)) return false;
  outline.classes.finish(outline.names, outline.header.id_size, options.follow);
  if (outline.ids.size() >= ReferenceGraph::kMostNodes) {
    *error = "more than 2^31 objects";
    return false;
  }
  numbers.build(outline.ids, budget);
  layout = detect_layout(outline, numbers);
  if (options.layout.given) {
    bool fills = layout.fills_super_gaps;
    layout = options.layout;
    layout.fills_super_gaps = fills;
    layout.gap_before_elements = layout.header == 16;
  }
  std::vector<ArraySample>().swap(outline.samples);
  // The shift of UTF-16 bytes: 8 where the high one is first.
  uint32_t utf16 = outline.classes.named("java.lang.StringUTF16");
  for (const DumpedField& field :
       utf16 == kNoClass ? std::vector<DumpedField>() : outline.classes.list[utf16].statics) {
    if (outline.names.string(field.name) == "HI_BYTE_SHIFT") big_endian = field.value == 8;
  }
  take_threads();
  take_roots();
  return true;
}

void Snapshot::take_threads() {
  const auto before = [](const HeapThread& a, const HeapThread& b) { return a.serial < b.serial; };
  for (const auto& [serial, thread] : outline.names.threads) {
    uint32_t object = numbers.number_of(thread.object);
    threads.push_back({static_cast<uint32_t>(serial), object, thread.trace,
                       std::string(outline.names.string(thread.name))});
  }
  std::sort(threads.begin(), threads.end(), before);
  const size_t named = threads.size();
  for (const DumpedRoot& root : outline.roots) {
    if (root.tag != kRootThreadObject) continue;
    HeapThread taken{root.thread, numbers.number_of(root.object), root.frame, ""};
    HeapThread* known = std::lower_bound(threads.data(), threads.data() + named, taken, before);
    if (known != threads.data() + named && known->serial == root.thread) {
      known->object = taken.object;
      known->trace = taken.trace;
    } else {
      threads.push_back(taken);
    }
  }
  std::sort(threads.begin(), threads.end(), before);
  threads.erase(std::unique(threads.begin(), threads.end(),
                            [](const auto& a, const auto& b) { return a.serial == b.serial; }),
                threads.end());
}

void Snapshot::take_roots() {
  for (const DumpedRoot& root : outline.roots) {
    uint32_t object = numbers.number_of(root.object);
    if (object == kNoObject) {
      ++dangling;
      continue;
    }
    HeapRoot taken{object, kNoThread, root.frame, root.tag};
    if (is_stack_root(root.tag) || root.tag == kRootThreadObject) {
      auto found =
          std::lower_bound(threads.begin(), threads.end(), root.thread,
                           [](const HeapThread& each, uint32_t serial) { return each.serial < serial; });
      if (found != threads.end() && found->serial == root.thread) {
        taken.thread = static_cast<uint32_t>(found - threads.begin());
      }
    }
    roots.push_back(taken);
  }
  std::vector<DumpedRoot>().swap(outline.roots);
}

namespace {

// The most slots that runs of references can take, with null references.
uint64_t most_slots(const Snapshot& snapshot) {
  const HeapClasses& classes = snapshot.outline.classes;
  uint64_t slots = snapshot.outline.array_references;
  for (const HeapClass& each : classes.list) {
    slots += each.instances * 2;
    if (!each.is_array()) {
      slots += std::min<uint64_t>(each.instances * each.references.size(), each.values / classes.id_size);
    }
    if (each.dumped) slots += 5 + each.statics.size() + each.constants.size();
  }
  slots += snapshot.roots.size() + 2 * snapshot.threads.size();
  for (const HeapThread& thread : snapshot.threads) {
    if (thread.object != kNoObject) slots += 1 << 10;  // its run moves; longer ones get no stack
  }
  return slots;
}

}  // namespace

ReferenceGraph Snapshot::read_objects() {
  uint32_t count = numbers.size();
  objects.class_of.allocate(budget, count, true);
  objects.sizes.allocate(budget, count);
  if (options.strings) {
    objects.string_arrays.allocate(budget, count);
    objects.wide_arrays.allocate(budget, count);
  }
  if (outline.traced) objects.trace_of.allocate(budget, count);
  const uint64_t slots = most_slots(*this);
  ReferenceGraph graph;
  graph.allocate(budget, count + static_cast<uint32_t>(threads.size()), slots, slots);
  ObjectFindings found = tool::read_objects(*this, graph);
  references = found.references;
  dangling += found.dangling;
  size_objects(found.gaps, found.large);
  count_classes();
  hang_up_stacks(graph);
  return graph;
}

void Snapshot::size_objects(const std::vector<ClassGap>& gaps, std::vector<OwnSizes::Large>& large) {
  HeapClasses& classes = outline.classes;
  bool measured = layout.addresses && !options.layout.given;
  size_instances(layout, outline.names, measured ? gaps : std::vector<ClassGap>(), classes);
  if (classes.class_class != kNoClass) {
    uint64_t base = classes.list[classes.class_class].size;
    // Class objects without static fields show which fields the VM adds to java.lang.Class.
    ClassGap plain;
    for (const HeapClass& each : classes.list) {
      if (!measured || !each.dumped || !each.statics.empty()) continue;
      uint64_t distance = distance_to_next(layout, numbers, each.id);
      if (distance != 0) plain.add(distance);
    }
    if (plain.times > 1) base = plain.least;
    classes.list[classes.class_class].size = base;
    for (uint32_t i = 0; i < classes.list.size(); ++i) {
      const HeapClass& each = classes.list[i];
      uint32_t number = mirror_of(i);
      if (number == kNoObject) continue;
      uint64_t size = mirror_size(layout, each, base);
      uint64_t distance = measured ? distance_to_next(layout, numbers, each.id) : 0;
      if (distance != 0) size = std::min(size, distance);
      objects.sizes.set(number, size, large);
    }
  }
  objects.sizes.add(large);
  objects.sizes.finish();
}

uint64_t Snapshot::size_of(uint32_t object) const {
  uint64_t own = objects.sizes.get(object);
  return own != 0 ? own : outline.classes.list[objects.class_of.get(object)].size;
}

uint32_t Snapshot::class_of(uint32_t object) const {
  if (!objects.class_of.empty()) return static_cast<uint32_t>(objects.class_of.get(object));
  uint32_t place = tree.place_of[object];
  return place == DominatorTree::kUnreached ? 0 : static_cast<uint32_t>(class_at.get(place));
}

void Snapshot::add_totals(const std::vector<std::vector<ClassTotals>>& sums) {
  for (const std::vector<ClassTotals>& each : sums) {
    for (size_t i = 0; i < each.size(); ++i) {
      totals[i].objects += each[i].objects;
      totals[i].bytes += each[i].bytes;
      totals[i].reached += each[i].reached;
      totals[i].reached_bytes += each[i].reached_bytes;
    }
  }
}

void Snapshot::count_classes() {
  totals.assign(outline.classes.list.size(), {});
  std::vector<std::vector<ClassTotals>> sums(std::max(1u, options.threads));
  in_parallel(options.threads, numbers.size(), [&](size_t begin, size_t end, unsigned thread) {
    sums[thread].resize(totals.size());
    for (size_t i = begin; i < end; ++i) {
      ClassTotals& each = sums[thread][objects.class_of.get(i)];
      ++each.objects;
      each.bytes += size_of(static_cast<uint32_t>(i));
    }
  });
  add_totals(sums);
}

// Adds thread object -> stack -> locals to the graph, so that a thread's retained size includes what only its
// stack holds, and the stack has a retained size of its own.
void Snapshot::hang_up_stacks(ReferenceGraph& graph) {
  constexpr size_t kLongest = 1000;
  std::vector<std::vector<uint32_t>> locals(threads.size());
  for (const HeapRoot& root : roots) {
    if (is_stack_root(root.tag) && root.thread != kNoThread) {
      locals[root.thread].push_back(root.object);
    } else {
      root_nodes.push_back(root.object);
    }
  }
  for (size_t i = 0; i < threads.size(); ++i) {
    std::vector<uint32_t>& held = locals[i];
    sort_numbers(&held);
    if (held.empty()) continue;
    HeapThread& thread = threads[i];
    thread.stack = numbers.size() + static_cast<uint32_t>(i);
    graph.add(thread.stack, held);
    size_t own = 0;
    if (thread.object != kNoObject) graph.for_each(thread.object, [&](uint32_t) { ++own; });
    if (thread.object != kNoObject && own < kLongest) {
      graph.add(thread.object, {thread.stack});
    } else {
      root_nodes.push_back(thread.stack);
    }
  }
  sort_numbers(&root_nodes);
}

void Snapshot::find_dominators(ReferenceGraph graph) {
  if (loaded) return;
  if (root_nodes.empty()) {
    outline.problems.push_back("no GC roots: objects that no other one refers to are taken as roots");
  }
  tool::find_dominators(std::move(graph), root_nodes, takes_unreached(), budget, &tree, options.threads);
  fill_tree();
}

void Snapshot::fill_tree() {
  size_t places = size_t{tree.reached} + 1;
  class_at.allocate(budget, places);
  prefix.allocate(budget, places + 1);
  if (!objects.trace_of.empty()) trace_at.allocate(budget, places);
  std::vector<std::vector<ClassTotals>> sums(std::max(1u, options.threads));
  in_parallel(options.threads, tree.place_of.size(), [&](size_t begin, size_t end, unsigned thread) {
    sums[thread].resize(totals.size());
    for (auto node = static_cast<uint32_t>(begin); node < end; ++node) {
      uint32_t place = tree.place_of[node];
      if (place == DominatorTree::kUnreached) continue;
      budget.step(class_at.bytes().data() + 3 * size_t{place});
      budget.step(prefix.bytes().data() + 5 * size_t{place});
      if (is_stack(node)) {
        class_at.set(place, kStackClass);
        continue;
      }
      uint64_t size = size_of(node), index = objects.class_of.get(node);
      class_at.set(place, index);
      prefix.set(place + 1, size);
      if (!trace_at.empty()) trace_at[place] = objects.trace_of[node];
      ++sums[thread][index].reached;
      sums[thread][index].reached_bytes += size;
    }
  });
  add_totals(sums);
  class_at.set(0, kStackClass);
  uint64_t sum = 0;
  for (size_t i = 1; i <= places; ++i) {
    sum = std::min(sum + prefix.get(i), PackedArray<5>::kMax);
    prefix.set(i, sum);
  }
  objects.class_of.reset();
  objects.sizes.reset();
  objects.trace_of.reset();
}

std::vector<uint32_t> Snapshot::nodes_at(const std::vector<uint32_t>& places) const {
  std::vector<std::pair<uint32_t, size_t>> sorted;
  for (size_t i = 0; i < places.size(); ++i) sorted.push_back({places[i], i});
  std::sort(sorted.begin(), sorted.end());
  std::vector<bool> wanted(size_t{tree.reached} + 1);
  for (uint32_t place : places) wanted[place] = true;
  std::vector<uint32_t> nodes(places.size(), kNoObject);
  for (uint32_t node = 0; node < tree.place_of.size(); ++node) {
    uint32_t place = tree.place_of[node];
    if (place == DominatorTree::kUnreached || !wanted[place]) continue;
    auto at = std::lower_bound(sorted.begin(), sorted.end(), std::make_pair(place, size_t{0}));
    for (; at != sorted.end() && at->first == place; ++at) nodes[at->second] = node;
  }
  return nodes;
}

uint32_t Snapshot::class_of_mirror(uint32_t object) const {
  if (is_stack(object)) return kNoClass;
  uint32_t index = outline.classes.find(numbers.id_of(object));
  return index != kNoClass && outline.classes.list[index].dumped ? index : kNoClass;
}

uint32_t Snapshot::mirror_of(uint32_t index) const {
  const HeapClass& of = outline.classes.list[index];
  return of.dumped ? numbers.number_of(of.id) : kNoObject;
}

std::string Snapshot::describe(uint32_t node) const {
  if (node == kNoObject) return "(nothing)";
  if (is_stack(node)) {
    const HeapThread& thread = threads[node - numbers.size()];
    return "stack of thread " + (thread.name.empty() ? thread.label() : '"' + thread.name + '"');
  }
  uint32_t mirror = class_of_mirror(node);
  if (mirror != kNoClass) return "class " + class_name(mirror);
  return class_name(class_of(node)) + " @ " + value_text(HPROF_TYPE_OBJECT, numbers.id_of(node));
}

}  // namespace hprof::tool
