#include "tools/heap/questions/reference_objects.h"

#include <algorithm>

#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/owners.h"
#include "tools/heap/read/object_reader.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

using Finder = ReferenceFinder;

constexpr const char* kStageNames[] = {"strong", "soft", "weak", "final", "phantom"};

Finder::Stage stage_of(ReferenceKind kind) {
  return kind == ReferenceKind::kSoft    ? Finder::kSoftly
         : kind == ReferenceKind::kWeak  ? Finder::kWeakly
         : kind == ReferenceKind::kFinal ? Finder::kFinally
                                         : Finder::kPhantom;
}

// Offsets in instances of the classes that are read.
struct Places {
  bool reference = false, queue = false, buffer = false;
  uint32_t referent = UINT32_MAX, length = UINT32_MAX, capacity = UINT32_MAX, cleaner = UINT32_MAX,
           file = UINT32_MAX;
};

// What the readers find.
struct Lists {
  GrowingList<Finder::Reference>& references;
  GrowingList<Finder::Queue>& queues;
  GrowingList<Finder::Buffer>& buffers;
};

class ReferenceReader : public HeapVisitor {
 public:
  ReferenceReader(const Snapshot& snapshot, const std::vector<Places>& places, const Lists& lists)
      : snapshot_(snapshot), classes_(snapshot.outline.classes), places_(places), lists_(lists) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    const uint32_t index = classes_.find(record.class_id);
    if (index == kNoClass) return;
    const Places& at = places_[index];
    if ((!at.reference && !at.queue && !at.buffer) || record.byte_count > in.buffer_size()) return;
    const uint32_t object = snapshot_.numbers.number_of(record.id);
    const uint8_t* bytes = in.bytes(record.byte_count);
    if (object == kNoObject || bytes == nullptr) return;
    auto value = [&](uint32_t offset, unsigned width) {
      return uint64_t{offset} + width > record.byte_count ? 0 : big_endian(bytes + offset, width);
    };
    const unsigned id = classes_.id_size;
    if (at.reference) {
      const uint64_t referent = value(at.referent, id);
      lists_.references.add({object, referent == 0 ? kNoObject : snapshot_.numbers.number_of(referent), index,
                             stage_of(classes_.list[index].kind)});
    } else if (at.queue) {
      const uint64_t length = value(at.length, 8);
      if (length != 0 && length < UINT32_MAX) lists_.queues.add({object, length});
    } else if (value(at.cleaner, id) != 0) {  // others are views of one that has a cleaner
      const uint64_t capacity = value(at.capacity, 4);
      if (capacity <= INT32_MAX) lists_.buffers.add({object, 0, capacity, value(at.file, id) != 0});
    }
  }

 private:
  const Snapshot& snapshot_;
  const HeapClasses& classes_;
  const std::vector<Places>& places_;
  Lists lists_;
};

bool before(const Finder::Reference& a, const Finder::Reference& b) {
  return a.stage != b.stage ? a.stage < b.stage : a.object < b.object;
}

}  // namespace

ReferenceFinder::ReferenceFinder(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget)
    : snapshot_(snapshot) {
  by_class_.resize(snapshot.outline.classes.list.size());
  for (auto& held : held_) held.resize(by_class_.size());
  read(budget);
  search(graph, budget);
}

void ReferenceFinder::read(MemoryBudget& budget) {
  const HeapClasses& classes = snapshot_.outline.classes;
  const Definitions& names = snapshot_.outline.names;
  const uint32_t queue = classes.named("java.lang.ref.ReferenceQueue"),
                 buffer = classes.named("java.nio.DirectByteBuffer");
  std::vector<Places> places(classes.list.size());
  uint64_t references = 0, queues = 0, buffers = 0;
  for (uint32_t i = 0; i < places.size(); ++i) {
    Places& at = places[i];
    if (classes.list[i].instances == 0) continue;
    at.reference = classes.list[i].kind != ReferenceKind::kNone;
    at.queue = queue != kNoClass && classes.extends(i, queue);
    at.buffer = buffer != kNoClass && classes.extends(i, buffer);
    (at.reference ? references
     : at.queue   ? queues
                  : buffers) += at.reference || at.queue || at.buffer ? classes.list[i].instances : 0;
    if (at.reference) at.referent = classes.offset_of(i, "referent", HPROF_TYPE_OBJECT, names);
    if (at.queue) at.length = classes.offset_of(i, "queueLength", HPROF_TYPE_LONG, names);
    if (!at.buffer) continue;
    at.capacity = classes.offset_of(i, "capacity", HPROF_TYPE_INT, names);
    at.cleaner = classes.offset_of(i, "cleaner", HPROF_TYPE_OBJECT, names);
    at.file = classes.offset_of(i, "fd", HPROF_TYPE_OBJECT, names);
  }
  references_.allocate(budget, references);
  queues_.allocate(budget, queues);
  buffers_.allocate(budget, buffers);
  read_by_all(snapshot_, ReferenceReader(snapshot_, places, {references_, queues_, buffers_}));
  // What an object is held by depends on the order of references; readers find them in any.
  std::sort(references_.begin(), references_.end(), before);
  references_.cut_at(std::unique(references_.begin(), references_.end(),
                                 [](const auto& a, const auto& b) { return a.object == b.object; }));
  std::sort(queues_.begin(), queues_.end(), [](const Queue& a, const Queue& b) {
    return a.length != b.length ? a.length > b.length : a.object < b.object;
  });
}

// kNoObject: null, or the object is no reference.
uint32_t ReferenceFinder::referent_of(uint32_t object) const {
  const Stage stage = stage_of(snapshot_.outline.classes.list[snapshot_.class_of(object)].kind);
  const Reference wanted{object, 0, 0, stage};
  const Reference* at = std::lower_bound(references_.begin(), references_.end(), wanted, before);
  return at == references_.end() || at->object != object ? kNoObject : at->referent;
}

void ReferenceFinder::search(const ReferenceGraph& graph, MemoryBudget& budget) {
  const uint32_t nodes = graph.nodes(), objects = snapshot_.numbers.size();
  BitArray reached, blocked;
  BigArray<uint32_t> open;
  reached.allocate(budget, nodes);
  blocked.allocate(budget, nodes);  // a referent is followed in the stage of its reference only
  open.allocate(budget, nodes, nodes / 16);
  for (const Reference& each : references_) blocked.set(each.object);
  size_t count = 0;
  Held* of_reference = nullptr;
  Stage stage = kStrong;
  auto visit = [&](uint32_t node) {
    if (reached.get(node)) return;
    reached.set(node);
    open[count++] = node;
    if (node >= objects) return;
    const uint64_t bytes = snapshot_.size_of(node);
    for (Held* each : {&held_[stage][snapshot_.class_of(node)], of_reference}) {
      if (each == nullptr) continue;
      ++each->objects;
      each->bytes += bytes;
    }
  };
  auto drain = [&] {
    while (count > 0) {
      const uint32_t node = open[--count];
      budget.step(&graph.first()[node]);
      const uint32_t without = node < objects && blocked.get(node) ? referent_of(node) : kNoObject;
      graph.for_each(node, [&](uint32_t target) {
        if (target != without) visit(target);
      });
    }
  };
  for (uint32_t root : snapshot_.root_nodes) {
    visit(root);
    drain();
  }
  for (stage = kSoftly; stage < kStages; stage = static_cast<Stage>(stage + 1)) {
    // What one holds may have further references of this strength, or of a greater one.
    for (bool more = true; more;) {
      more = false;
      for (const Reference& each : references_) {
        if (each.stage > stage) break;
        const bool live = reached.get(each.object) || each.stage == kFinally;  // the VM holds those itself
        if (!live || each.referent == kNoObject || reached.get(each.referent)) continue;
        of_reference = &by_class_[each.class_index].only;
        visit(each.referent);
        drain();
        more = true;
      }
    }
    of_reference = nullptr;
  }
  const auto is_garbage = [&](uint32_t object) {
    return !reached.get(object) && !snapshot_.takes_unreached();
  };
  for (const Reference& each : references_) {
    if (is_garbage(each.object) && each.stage != kFinally) continue;
    ClassCount& of = by_class_[each.class_index];
    of.stage = each.stage;
    ++of.references;
    of.cleared += each.referent == kNoObject;
  }
  references_.reset();
  queues_.cut_at(std::remove_if(queues_.begin(), queues_.end(),
                                [&](const Queue& each) { return is_garbage(each.object); }));
  buffers_.cut_at(std::remove_if(buffers_.begin(), buffers_.end(),
                                 [&](const Buffer& each) { return is_garbage(each.object); }));
}

std::vector<Section> ReferenceFinder::sections(size_t top) {
  return {references_section(top), memory_section(top)};
}

Section ReferenceFinder::references_section(size_t top) const {
  Section section{"references", "References, and what only they hold"};
  const Column only_objects{"only_objects", "only they hold", CellKind::kCount},
      only_bytes{"only_bytes", "bytes", CellKind::kBytes};
  Table kinds{"kinds",
              "",
              {{"references", "references", CellKind::kCount},
               {"cleared", "cleared", CellKind::kCount},
               only_objects,
               only_bytes,
               {"kind", "kind"}}};
  kinds.note =
      "An object counts for the strongest reference that leads to it; what no reference holds is garbage.";
  for (uint8_t stage = kSoftly; stage < kStages; ++stage) {
    uint64_t references = 0, cleared = 0;
    Held all;
    for (const ClassCount& each : by_class_) {
      if (each.stage != stage) continue;
      references += each.references;
      cleared += each.cleared;
    }
    for (const Held& each : held_[stage]) {
      all.objects += each.objects;
      all.bytes += each.bytes;
    }
    kinds.rows.push_back({references, cleared, all.objects, all.bytes, std::string(kStageNames[stage])});
  }
  Table classes{"classes",
                "Classes of references",
                {{"references", "references", CellKind::kCount},
                 {"cleared", "cleared", CellKind::kCount},
                 only_objects,
                 only_bytes,
                 {"kind", "kind"},
                 kClass}};
  std::vector<uint32_t> order = largest_first(
      by_class_, [](const ClassCount& each) { return each.references != 0; },
      [](const ClassCount& each) { return std::make_pair(each.only.bytes, each.references); });
  classes.left_out = cut(order, top);
  for (uint32_t i : order) {
    const ClassCount& of = by_class_[i];
    classes.rows.push_back({of.references, of.cleared, of.only.objects, of.only.bytes,
                            std::string(kStageNames[of.stage]), class_entity(snapshot_, i)});
  }
  Table held{"held", "What only they hold", {kObjectCount, kShallow, {"kind", "by"}, kClass}};
  for (uint8_t stage = kSoftly; stage < kStages; ++stage) {
    for (uint32_t i = 0; i < held_[stage].size(); ++i) {
      const Held& of = held_[stage][i];
      if (of.objects != 0)
        held.rows.push_back(
            {of.objects, of.bytes, std::string(kStageNames[stage]), class_entity(snapshot_, i)});
    }
  }
  std::stable_sort(held.rows.begin(), held.rows.end(), [](const auto& a, const auto& b) {
    return std::get<uint64_t>(a[1]) > std::get<uint64_t>(b[1]);
  });
  held.left_out = cut(held.rows, top);
  Table queues{"queues",
               "Queues with references that nobody has taken",
               {{"references", "references", CellKind::kCount}, {"owner", "owner"}, kObject}};
  const size_t shown_count = top == 0 ? queues_.size() : std::min(top, queues_.size());
  const std::vector<Queue> shown(queues_.begin(), queues_.begin() + shown_count);
  queues.left_out = queues_.size() - shown.size();
  std::vector<uint32_t> objects;
  for (const Queue& each : shown) objects.push_back(each.object);
  const Owners owners = owners_of(snapshot_, objects);
  for (size_t i = 0; i < shown.size(); ++i)
    queues.rows.push_back(
        {shown[i].length, owners.names[owners.of[i]], entity_of(snapshot_, shown[i].object)});
  section.tables = {kinds, classes, held, queues};
  return section;
}

Section ReferenceFinder::memory_section(size_t top) {
  Section section{"direct", "Memory outside of the heap that buffers hold"};
  uint64_t direct = 0, mapped = 0;
  for (Buffer& each : buffers_) {
    (each.mapped ? mapped : direct) += each.capacity;
    each.place = snapshot_.tree.place_of[each.object];
  }
  section.text = {bytes_text(direct) + " of direct buffers, " + bytes_text(mapped) + " of mapped files, in " +
                  count_text(buffers_.size()) + " buffers."};
  section.facts = {{data_column("direct_bytes", CellKind::kBytes), direct},
                   {data_column("mapped_bytes", CellKind::kBytes), mapped},
                   {data_column("buffers", CellKind::kCount), uint64_t{buffers_.size()}}};
  std::sort(buffers_.begin(), buffers_.end(), [](const Buffer& a, const Buffer& b) {
    return a.place != b.place ? a.place < b.place : a.object < b.object;
  });
  Buffer* const buffers = buffers_.begin();
  const std::vector<std::string> names = find_owners(
      snapshot_, buffers_.size(), [&](size_t i) { return buffers[i].place; },
      [&](size_t i, uint32_t owner) { buffers[i].owner = owner; });
  std::sort(buffers_.begin(), buffers_.end(), [](const Buffer& a, const Buffer& b) {
    return a.capacity != b.capacity ? a.capacity > b.capacity : a.object < b.object;
  });
  struct Sum {
    uint64_t bytes = 0, buffers = 0;
  };
  std::vector<Sum> sums(names.size());
  Table table{
      "buffers",
      "The largest",
      {{"capacity_bytes", "capacity", CellKind::kBytes}, {"kind", "kind"}, {"owner", "owner"}, kObject}};
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& each = buffers[i];
    sums[each.owner].bytes += each.capacity;
    ++sums[each.owner].buffers;
    if (top != 0 && i >= top) continue;
    table.rows.push_back({each.capacity, std::string(each.mapped ? "mapped" : "direct"), names[each.owner],
                          entity_of(snapshot_, each.object)});
  }
  table.left_out = buffers_.size() - table.rows.size();
  std::vector<uint32_t> order = largest_first(
      sums, [](const Sum& each) { return each.buffers != 0; }, [](const Sum& each) { return each.bytes; });
  Table by_owner{"owners",
                 "By owner",
                 {{"buffers", "buffers", CellKind::kCount},
                  {"capacity_bytes", "capacity", CellKind::kBytes},
                  {"owner", "owner"}}};
  by_owner.left_out = cut(order, top);
  for (uint32_t i : order) by_owner.rows.push_back({sums[i].buffers, sums[i].bytes, names[i]});
  by_owner.note = "Owner: the nearest object that retains it and is not of a class of the JDK.";
  section.tables = {by_owner, table};
  return section;
}

}  // namespace hprof::tool
