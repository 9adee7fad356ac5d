// Each thread's map has an array of entries: weak references to a ThreadLocal that hold its value. JDK 8 to
// 27 have the same classes, for virtual threads and inheritable ones, too.
#include "tools/heap/questions/thread_locals.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/heap/output/document.h"
#include "tools/heap/read/object_reader.h"

namespace hprof::tool {

namespace {

uint32_t entry_class(const Snapshot& snapshot) {
  return snapshot.outline.classes.named("java.lang.ThreadLocal$ThreadLocalMap$Entry");
}

// Names ThreadLocals by the static field that holds them, or by what else does.
class Names {
 public:
  Names(const Snapshot& snapshot, const ShortestPaths& paths) : snapshot_(snapshot), paths_(paths) {
    const HeapClasses& classes = snapshot.outline.classes;
    const uint32_t base = classes.named("java.lang.ThreadLocal");
    for (const HeapClass& each : classes.list) {
      for (const DumpedField& field : each.statics) {
        if (base == kNoClass || field.type != HPROF_TYPE_OBJECT || field.value == 0) continue;
        const uint32_t object = snapshot.numbers.number_of(field.value);
        if (object != kNoObject && classes.extends(snapshot.class_of(object), base))
          statics_.emplace(object, each.name + '.' + std::string(snapshot.outline.names.string(field.name)));
      }
    }
  }

  const std::string& of(uint32_t object) {
    const auto [at, fresh] = statics_.try_emplace(object);
    if (fresh) at->second = held(object);
    return at->second;
  }

 private:
  std::string held(uint32_t object) const {
    if (object == kNoObject || !paths_.reaches(object)) return "(held by no one)";
    std::string name = snapshot_.class_name(snapshot_.class_of(object));
    const uint32_t holder = paths_.before(object);
    if (holder == kNoObject) return name;
    if (snapshot_.is_stack(holder)) return name + " in " + snapshot_.describe(holder);
    const ObjectFetcher fetcher(snapshot_);
    const std::string how = fetcher.how(fetcher.fetch({holder})[0], snapshot_.numbers.id_of(object));
    return name + " in " + snapshot_.class_name(snapshot_.class_of(holder)) + (how[0] == '.' ? how : "");
  }

  const Snapshot& snapshot_;
  const ShortestPaths& paths_;
  std::map<uint32_t, std::string> statics_;  // by object; names of others are added
};

using Entry = ThreadLocals::Entry;

// A thread and its map, a map and its array of entries, or that array and an entry.
struct Link {
  uint32_t holder, held;
};

class MapReader : public HeapVisitor {
 public:
  MapReader(const Snapshot& snapshot, const ShortestPaths& paths, uint32_t entry, GrowingList<Entry>& entries,
            GrowingList<Link>& links)
      : snapshot_(snapshot),
        paths_(paths),
        classes_(snapshot.outline.classes),
        entry_(entry),
        map_(classes_.named("java.lang.ThreadLocal$ThreadLocalMap")),
        table_(classes_.named("java.lang.ThreadLocal$ThreadLocalMap$Entry[]")),
        entries_(entries),
        links_(links) {
    referent_ = classes_.offset_of(entry, "referent", HPROF_TYPE_OBJECT, snapshot.outline.names);
    value_ = classes_.offset_of(entry, "value", HPROF_TYPE_OBJECT, snapshot.outline.names);
  }

  void on_instance(const InstanceRecord& record, Input& in) override {
    const uint32_t index = classes_.find(record.class_id);
    if (index == kNoClass) return;
    const bool thread = classes_.thread_class != kNoClass && classes_.extends(index, classes_.thread_class);
    if (!thread && index != entry_ && index != map_) return;
    const uint32_t object = snapshot_.numbers.number_of(record.id);
    const uint8_t* bytes = record.byte_count > in.buffer_size() ? nullptr : in.bytes(record.byte_count);
    if (bytes == nullptr || !reaches(object)) return;
    auto target = [&](uint32_t offset) {
      const unsigned width = classes_.id_size;
      return uint64_t{offset} + width > record.byte_count ? kNoObject : number(bytes + offset);
    };
    if (index == entry_) {
      const uint32_t value = target(value_);
      if (reaches(value)) entries_.add({object, target(referent_), value, kNoObject, false});
      return;
    }
    // The names of a thread's fields for maps are not the same on all JDKs.
    for (const InstanceField& field : classes_.instance_fields(index, record.byte_count)) {
      const uint32_t held = field.type == HPROF_TYPE_OBJECT ? target(field.offset) : kNoObject;
      if (is(held, thread ? map_ : table_)) links_.add({object, held});
    }
  }

  void on_array(const ArrayRecord& record, Input& in) override {
    if (table_ == kNoClass || record.type != HPROF_TYPE_OBJECT || classes_.of_array(record) != table_) return;
    const uint32_t object = snapshot_.numbers.number_of(record.id);
    if (!reaches(object)) return;
    for (uint32_t i = 0; i < record.length; ++i) {
      const uint8_t* bytes = in.bytes(classes_.id_size);
      if (bytes == nullptr) return;
      const uint32_t held = number(bytes);
      if (is(held, entry_)) links_.add({object, held});
    }
  }

 private:
  uint32_t number(const uint8_t* bytes) const {
    const uint64_t id = big_endian(bytes, classes_.id_size);
    return id == 0 ? kNoObject : snapshot_.numbers.number_of(id);
  }
  bool reaches(uint32_t object) const { return object != kNoObject && paths_.reaches(object); }
  bool is(uint32_t object, uint32_t index) const {
    return reaches(object) && snapshot_.class_of(object) == index;
  }

  const Snapshot& snapshot_;
  const ShortestPaths& paths_;
  const HeapClasses& classes_;
  uint32_t entry_, map_, table_, referent_, value_;
  GrowingList<Entry>& entries_;
  GrowingList<Link>& links_;
};

// A value of the ThreadLocals of one name.
struct Value {
  uint32_t object;
  bool kept = false;                   // by threads alone
  std::vector<uint32_t> threads = {};  // that have it
};
using Values = std::map<uint32_t, Value>;  // by place in the dominator tree

ThreadLocalValues sum_up(const Snapshot& snapshot, const std::string& name, const Values& values) {
  ThreadLocalValues sum{name, "", 0, 0};
  std::set<uint32_t> threads;
  std::map<uint32_t, size_t> classes;
  uint32_t end = 0;
  for (const auto& [place, value] : values) {
    if (!value.kept) continue;
    threads.insert(value.threads.begin(), value.threads.end());
    classes[snapshot.class_of(value.object)] += value.threads.size();
    if (place < end) continue;  // another value retains it
    sum.retained += snapshot.retained(place);
    end = snapshot.end_of(place);
  }
  sum.threads = threads.size();
  if (classes.empty()) return sum;
  const auto most = std::max_element(classes.begin(), classes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  sum.values = snapshot.class_name(most->first);
  const size_t others = classes.size() - 1;
  if (others != 0) sum.values += " and " + count_text(others) + " other class" + (others == 1 ? "" : "es");
  return sum;
}

}  // namespace

ThreadLocals::ThreadLocals(const Snapshot& snapshot, const ReferenceGraph& graph, const ShortestPaths& paths)
    : snapshot_(snapshot), paths_(paths) {
  const HeapClasses& classes = snapshot.outline.classes;
  const uint32_t index = entry_class(snapshot), maps = classes.named("java.lang.ThreadLocal$ThreadLocalMap");
  if (index == kNoClass || maps == kNoClass) return;
  const uint64_t count = classes.list[index].instances;
  GrowingList<Link> links;
  entries_.allocate(snapshot.budget, count);
  links.allocate(snapshot.budget, count + 2 * classes.list[maps].instances);
  read_by_all(snapshot, MapReader(snapshot, paths, index, entries_, links));
  const auto by_held = [](const Link& a, const Link& b) { return a.held < b.held; };
  std::sort(links.begin(), links.end(), by_held);
  const auto holder = [&](uint32_t held) {
    const Link* at = std::lower_bound(links.begin(), links.end(), Link{0, held}, by_held);
    return at == links.end() || at->held != held ? kNoObject : at->holder;
  };
  // After a collection the shortest path to an entry may lead along the VM's list of cleared references, not
  // to the thread.
  for (Entry& each : entries_) each.thread = holder(holder(holder(each.object)));
  links.reset();
  find_other_holders(graph, index);
}

// Local variables do not count.
void ThreadLocals::find_other_holders(const ReferenceGraph& graph, uint32_t entry) {
  const uint32_t nodes = graph.nodes();
  BitArray values, elsewhere;
  values.allocate(snapshot_.budget, nodes);
  elsewhere.allocate(snapshot_.budget, nodes);
  for (const Entry& each : entries_) values.set(each.value);
  graph.for_all([&](uint32_t source, uint32_t target) {
    if (values.get(target) && !snapshot_.is_stack(source) && paths_.reaches(source) &&
        snapshot_.class_of(source) != entry)
      elsewhere.set(target);
  });
  for (Entry& each : entries_)
    each.elsewhere = elsewhere.get(each.value) || paths_.before(each.value) == kNoObject;
}

std::vector<ThreadLocalValues> ThreadLocals::sums() const {
  std::vector<ThreadLocalValues> result;
  Names names(snapshot_, paths_);
  std::map<std::string, Values> by_name;
  for (const Entry& each : entries_) {
    if (!snapshot_.is_reached(each.thread)) continue;
    const uint32_t place = snapshot_.place_of(each.value), top = snapshot_.place_of(each.thread);
    Value& value = by_name[names.of(each.referent)].try_emplace(place, Value{each.value}).first->second;
    value.threads.push_back(each.thread);
    // No thread retains a value that several share, as by an InheritableThreadLocal.
    const bool retained = place > top && place < snapshot_.end_of(top);
    value.kept = value.kept || retained || !each.elsewhere;
  }
  for (const auto& [name, values] : by_name) result.push_back(sum_up(snapshot_, name, values));
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.retained > b.retained; });
  return result;
}

std::string thread_local_of(const Snapshot& snapshot, const ShortestPaths& paths, const ObjectValues& entry) {
  if (entry.class_index == kNoClass || entry.class_index != entry_class(snapshot)) return "";
  return Names(snapshot, paths).of(ObjectFetcher(snapshot).target(entry, "referent"));
}

}  // namespace hprof::tool
