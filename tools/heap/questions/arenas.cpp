// An arena's session has its kind, its thread and a list of what closing it runs. A segment refers to its
// session; a slice, which is a segment too, is not known from the one that it is a part of. So bytes are
// those of the union of all. JDK 21 to 27 have the same classes, except for those in the list.
#include "tools/heap/questions/arenas.h"

#include <algorithm>

#include "tools/format/utf8.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/owners.h"
#include "tools/heap/read/object_reader.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

using Arena = Arenas::Arena;
using Block = Arenas::Block;

constexpr const char* kKindNames[] = {"global", "automatic", "shared", "confined"};
constexpr const char* kSessionNames[] = {"GlobalSession", "ImplicitSession", "SharedSession",
                                         "ConfinedSession"};

// A longer segment has no known bounds; its length is no memory.
constexpr uint64_t kMostBytes = uint64_t{1} << 47;

// Fields of a block's address and size, in what frees it.
constexpr const char* kFreeing[][2] = {{"val$allocationBase", "val$allocationSize"},
                                       {"val$buf", "val$alignedSize"}};

enum class Role : uint8_t { kNone, kSession, kSegment, kBlock };

// What is read of a class's instances, and where.
struct Places {
  Role role = Role::kNone;
  Arenas::Kind kind = Arenas::kKinds;
  bool mapped = false;
  uint32_t state = UINT32_MAX, buffer = UINT32_MAX;                       // of a session
  uint32_t session = UINT32_MAX, start = UINT32_MAX, bytes = UINT32_MAX;  // of a segment or block
};

uint32_t named(const Snapshot& snapshot, const std::string& name) {
  return snapshot.outline.classes.named("jdk.internal.foreign." + name);
}

std::vector<Places> places_of(const Snapshot& snapshot) {
  const HeapClasses& classes = snapshot.outline.classes;
  std::vector<Places> places(classes.list.size());
  const uint32_t segment = named(snapshot, "NativeMemorySegmentImpl"),
                 mapped = named(snapshot, "MappedMemorySegmentImpl"),
                 freeing = named(snapshot, "MemorySessionImpl$ResourceList$ResourceCleanup");
  uint32_t sessions[Arenas::kKinds];
  for (size_t kind = 0; kind < Arenas::kKinds; ++kind) sessions[kind] = named(snapshot, kSessionNames[kind]);
  for (uint32_t i = 0; i < places.size(); ++i) {
    Places& at = places[i];
    if (classes.list[i].instances == 0) continue;
    const auto is = [&](uint32_t of) { return of != kNoClass && classes.extends(i, of); };
    const auto field = [&](const char* name, uint8_t type) {
      return classes.offset_of(i, name, type, snapshot.outline.names);
    };
    for (uint8_t kind = Arenas::kKinds; kind-- > 0;) {
      if (is(sessions[kind])) at.kind = static_cast<Arenas::Kind>(kind);
    }
    if (at.kind != Arenas::kKinds) {
      at.role = Role::kSession;
      at.state = field("state", HPROF_TYPE_INT);
      at.buffer = field("ref", HPROF_TYPE_OBJECT);
    } else if (is(segment)) {
      at.role = Role::kSegment;
      at.mapped = is(mapped);
      at.session = field("scope", HPROF_TYPE_OBJECT);
      at.start = field("min", HPROF_TYPE_LONG);
      at.bytes = field("length", HPROF_TYPE_LONG);
    } else if (is(freeing)) {
      for (const auto& [start, bytes] : kFreeing) {
        if (field(start, HPROF_TYPE_LONG) == UINT32_MAX) continue;
        at.role = Role::kBlock;
        at.start = field(start, HPROF_TYPE_LONG);
        at.bytes = field(bytes, HPROF_TYPE_LONG);
      }
    }
  }
  return places;
}

class ArenaReader : public HeapVisitor {
 public:
  ArenaReader(const Snapshot& snapshot, const std::vector<Places>& places, GrowingList<Arena>& arenas,
              GrowingList<Block>& blocks)
      : snapshot_(snapshot), places_(places), arenas_(arenas), blocks_(blocks) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    const HeapClasses& classes = snapshot_.outline.classes;
    const uint32_t index = classes.find(record.class_id);
    if (index == kNoClass) return;
    const Places& at = places_[index];
    if (at.role == Role::kNone || record.byte_count > in.buffer_size()) return;
    const uint32_t object = snapshot_.numbers.number_of(record.id);
    const uint8_t* bytes = in.bytes(record.byte_count);
    if (object == kNoObject || bytes == nullptr) return;
    const auto value = [&](uint32_t offset, unsigned width) {
      return uint64_t{offset} + width > record.byte_count ? 0 : big_endian(bytes + offset, width);
    };
    if (at.role == Role::kSession) {
      // One that keeps a buffer or an array is of its segments, not of an arena.
      if (value(at.buffer, classes.id_size) != 0) return;
      arenas_.add({object, at.kind, static_cast<int32_t>(value(at.state, 4)) < 0});
      return;
    }
    const uint64_t session = value(at.session, classes.id_size);
    blocks_.add({object, session == 0 ? kNoObject : snapshot_.numbers.number_of(session), value(at.start, 8),
                 value(at.bytes, 8), at.role == Role::kSegment, at.mapped});
  }

 private:
  const Snapshot& snapshot_;
  const std::vector<Places>& places_;
  GrowingList<Arena>& arenas_;
  GrowingList<Block>& blocks_;
};

// A dump may have an object twice.
template <typename T>
void sort_by_object(GrowingList<T>& list) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.object < b.object; });
  list.cut_at(
      std::unique(list.begin(), list.end(), [](const T& a, const T& b) { return a.object == b.object; }));
}

template <typename T>
T* find_in(GrowingList<T>& list, uint32_t object) {
  T* at = std::lower_bound(list.begin(), list.end(), object,
                           [](const T& each, uint32_t wanted) { return each.object < wanted; });
  return at == list.end() || at->object != object ? nullptr : at;
}

bool by_address(const Block& a, const Block& b) {
  if (a.arena != b.arena) return a.arena < b.arena;
  return a.mapped != b.mapped ? a.mapped < b.mapped : a.start < b.start;
}

bool is_global(const Arena& arena) { return arena.kind == Arenas::kGlobal; }

// The names of the threads that alone may use these sessions; "": any may.
std::vector<std::string> threads_of(const Snapshot& snapshot, const std::vector<uint32_t>& sessions) {
  const ObjectFetcher fetcher(snapshot);
  std::vector<uint32_t> wanted;
  for (const ObjectValues& each : fetcher.fetch(sessions)) wanted.push_back(fetcher.target(each, "owner"));
  std::vector<uint32_t> names;
  for (const ObjectValues& each : fetcher.fetch(wanted)) names.push_back(fetcher.target(each, "name"));
  std::vector<std::string> texts = fetcher.texts(names);
  for (std::string& each : texts) each = printable(each);
  return texts;
}

}  // namespace

Arenas::Arenas(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget)
    : snapshot_(snapshot) {
  read(budget);
  find_arenas_of_blocks(graph, budget);
}

void Arenas::read(MemoryBudget& budget) {
  const std::vector<Places> places = places_of(snapshot_);
  uint64_t arenas = 0, blocks = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].role == Role::kNone) continue;
    (places[i].role == Role::kSession ? arenas : blocks) += snapshot_.outline.classes.list[i].instances;
  }
  arenas_.allocate(budget, arenas);
  blocks_.allocate(budget, blocks);
  if (arenas == 0) return;
  read_by_all(snapshot_, ArenaReader(snapshot_, places, arenas_, blocks_));
  sort_by_object(arenas_);
  sort_by_object(blocks_);
}

// What frees a block does not refer to the session: it is in the session's list.
void Arenas::find_arenas_of_blocks(const ReferenceGraph& graph, MemoryBudget& budget) {
  const HeapClasses& classes = snapshot_.outline.classes;
  const uint32_t lists = named(snapshot_, "MemorySessionImpl$ResourceList"),
                 links = named(snapshot_, "MemorySessionImpl$ResourceList$ResourceCleanup");
  if (lists == kNoClass || links == kNoClass || arenas_.size() == 0) return;
  std::vector<bool> is_list(classes.list.size());
  for (uint32_t i = 0; i < is_list.size(); ++i)
    is_list[i] = classes.extends(i, lists) || classes.extends(i, links);
  BitArray seen;
  seen.allocate(budget, graph.nodes());
  std::vector<uint32_t> open;
  for (const Arena& arena : arenas_) {
    open.push_back(arena.object);
    while (!open.empty()) {
      const uint32_t node = open.back();
      open.pop_back();
      Block* at = find_in(blocks_, node);
      if (at != nullptr) at->arena = arena.object;
      graph.for_each(node, [&](uint32_t target) {
        if (snapshot_.is_stack(target) || seen.get(target) || !is_list[snapshot_.class_of(target)]) return;
        seen.set(target);
        open.push_back(target);
      });
    }
  }
}

// Leaves the open arenas that are reached.
void Arenas::add_blocks() {
  arenas_.cut_at(std::remove_if(arenas_.begin(), arenas_.end(), [&](const Arena& each) {
    closed_ += each.closed && snapshot_.is_reached(each.object);
    return each.closed || !snapshot_.is_reached(each.object);
  }));
  // JDK 21 has several sessions of the global arena.
  Arena* const global = std::find_if(arenas_.begin(), arenas_.end(), is_global);
  for (Block& each : blocks_) {
    Arena* of = snapshot_.is_reached(each.object) ? find_in(arenas_, each.arena) : nullptr;
    if (of != nullptr && is_global(*of)) of = global;
    each.arena = of == nullptr ? kNoObject : of->object;
    if (of != nullptr) of->segments += each.segment;
  }
  if (global != arenas_.end()) arenas_.cut_at(std::remove_if(global + 1, arenas_.end(), is_global));
  std::sort(blocks_.begin(), blocks_.end(), by_address);
  const Block* last = nullptr;
  uint64_t end = 0;  // of the addresses that were counted
  for (const Block& each : blocks_) {
    if (each.arena == kNoObject) break;
    if (each.bytes > kMostBytes || each.start > UINT64_MAX - each.bytes) continue;
    if (last == nullptr || last->arena != each.arena || last->mapped != each.mapped) end = 0;
    last = &each;
    const uint64_t from = std::max(end, each.start), to = each.start + each.bytes;
    if (to <= from) continue;
    Arena& of = *find_in(arenas_, each.arena);
    (each.mapped ? of.mapped : of.native) += to - from;
    end = to;
  }
  blocks_.reset();
}

Section Arenas::section(size_t top) {
  add_blocks();
  Section section{"arenas", "Native memory of arenas"};
  const Column segments{"segments", "segments", CellKind::kCount},
      native{"native_bytes", "native", CellKind::kBytes}, mapped{"mapped_bytes", "mapped", CellKind::kBytes},
      kind{"kind", "kind"};
  Table kinds{"kinds", "", {{"arenas", "arenas", CellKind::kCount}, segments, native, mapped, kind}};
  Table largest{"largest",
                "The largest",
                {segments, native, mapped, kind, {"thread", "thread"}, {"owner", "owner"}, kObject}};
  Arena all{}, of_kind[kKinds] = {};
  uint64_t count[kKinds] = {};
  for (const Arena& each : arenas_) {
    ++count[each.kind];
    for (Arena* sum : {&all, &of_kind[each.kind]}) {
      sum->segments += each.segments;
      sum->native += each.native;
      sum->mapped += each.mapped;
    }
  }
  for (size_t i = 0; i < kKinds; ++i) {
    if (count[i] != 0)
      kinds.rows.push_back(
          {count[i], of_kind[i].segments, of_kind[i].native, of_kind[i].mapped, std::string(kKindNames[i])});
  }
  section.text = {bytes_text(all.native) + " of native memory, " + bytes_text(all.mapped) +
                  " of mapped files, in " + count_text(arenas_.size()) +
                  " arenas; closed: " + count_text(closed_) + "."};
  section.facts = {{data_column("native_bytes", CellKind::kBytes), all.native},
                   {data_column("mapped_bytes", CellKind::kBytes), all.mapped},
                   {data_column("arenas", CellKind::kCount), uint64_t{arenas_.size()}},
                   {data_column("closed", CellKind::kCount), closed_}};
  kinds.note =
      "Bytes of several segments count once. A segment of the global arena may be of memory from elsewhere; "
      "one without bounds has no bytes.";
  std::sort(arenas_.begin(), arenas_.end(), [](const Arena& a, const Arena& b) {
    const uint64_t left = a.native + a.mapped, right = b.native + b.mapped;
    return left != right ? left > right : a.object < b.object;
  });
  const size_t shown = top == 0 ? arenas_.size() : std::min(top, arenas_.size());
  largest.left_out = arenas_.size() - shown;
  std::vector<uint32_t> objects;
  for (size_t i = 0; i < shown; ++i) objects.push_back(arenas_.begin()[i].object);
  const Owners owners = owners_of(snapshot_, objects);
  const std::vector<std::string> threads = threads_of(snapshot_, objects);
  for (size_t i = 0; i < shown; ++i) {
    const Arena& each = arenas_.begin()[i];
    largest.rows.push_back({each.segments, each.native, each.mapped, std::string(kKindNames[each.kind]),
                            threads[i], owners.names[owners.of[i]], entity_of(snapshot_, each.object)});
  }
  section.tables = {kinds, largest};
  return section;
}

}  // namespace hprof::tool
