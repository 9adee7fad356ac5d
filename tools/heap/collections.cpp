#include "tools/heap/collections.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/heap/heap_tables.h"

namespace hprof::tool {

namespace {

#define HPROF_CONCURRENT "java.util.concurrent."
#define HPROF_IMMUTABLE "java.util.ImmutableCollections$"
constexpr CollectionKind kKinds[] = {
    {"java.util.HashMap", Shape::kBuckets, true, "table", "size", "next", "key", "value"},
    {"java.util.LinkedHashMap", Shape::kChain, true, "head", "size", "after", "key", "value"},
    {"java.util.Hashtable", Shape::kBuckets, true, "table", "count", "next", "key", "value"},
    {"java.util.WeakHashMap", Shape::kBuckets, true, "table", "size", "next", "referent", "value"},
    {"java.lang.ThreadLocal$ThreadLocalMap", Shape::kBuckets, true, "table", "size", nullptr, "referent",
     "value"},
    {HPROF_CONCURRENT "ConcurrentHashMap", Shape::kBuckets, true, "table", nullptr, "next", "key", "val"},
    {HPROF_CONCURRENT "ConcurrentSkipListMap", Shape::kChain, true, "head.node", nullptr, "next", "key",
     "val|value"},
    {"java.util.IdentityHashMap", Shape::kPairs, true, "table", "size"},
    {HPROF_IMMUTABLE "MapN", Shape::kPairs, true, "table", "size"},
    {HPROF_IMMUTABLE "Map1", Shape::kFields, true, nullptr, nullptr, nullptr, "k0", "v0"},
    {"java.util.Collections$SingletonMap", Shape::kFields, true, nullptr, nullptr, nullptr, "k", "v"},
    {"java.util.TreeMap", Shape::kTree, true, "root", "size", nullptr, "key", "value"},
    {"java.util.Collections$UnmodifiableMap", Shape::kWrapper, true, "m"},
    {"java.util.Collections$SynchronizedMap", Shape::kWrapper, true, "m"},
    {"java.util.Collections$CheckedMap", Shape::kWrapper, true, "m"},
    {"java.util.HashSet", Shape::kWrapper, false, "map"},
    {"java.util.TreeSet", Shape::kWrapper, false, "m"},
    {"java.util.Collections$SetFromMap", Shape::kWrapper, false, "m"},
    {"java.util.Collections$UnmodifiableCollection", Shape::kWrapper, false, "c"},
    {"java.util.Collections$SynchronizedCollection", Shape::kWrapper, false, "c"},
    {"java.util.Collections$CheckedCollection", Shape::kWrapper, false, "c"},
    {HPROF_CONCURRENT "ConcurrentHashMap$CollectionView", Shape::kWrapper, false, "map"},
    {HPROF_CONCURRENT "ConcurrentSkipListSet", Shape::kWrapper, false, "m"},
    {HPROF_CONCURRENT "CopyOnWriteArraySet", Shape::kWrapper, false, "al"},
    {HPROF_IMMUTABLE "SetN", Shape::kSlots, false, "elements", "size"},
    {HPROF_IMMUTABLE "ListN", Shape::kArray, false, "elements"},
    {HPROF_IMMUTABLE "Set12", Shape::kFields, false, nullptr, nullptr, nullptr, "e0", "e1"},
    {HPROF_IMMUTABLE "List12", Shape::kFields, false, nullptr, nullptr, nullptr, "e0", "e1"},
    {"java.util.Collections$SingletonSet", Shape::kFields, false, nullptr, nullptr, nullptr, "element"},
    {"java.util.Collections$SingletonList", Shape::kFields, false, nullptr, nullptr, nullptr, "element"},
    {"java.util.ArrayList", Shape::kArray, false, "elementData", "size"},
    {"java.util.Vector", Shape::kArray, false, "elementData", "elementCount"},
    {"java.util.Arrays$ArrayList", Shape::kArray, false, "a"},
    {HPROF_CONCURRENT "CopyOnWriteArrayList", Shape::kArray, false, "array"},
    {"java.util.PriorityQueue", Shape::kArray, false, "queue", "size"},
    {HPROF_CONCURRENT "PriorityBlockingQueue", Shape::kArray, false, "queue", "size"},
    {"java.util.ArrayDeque", Shape::kRing, false, "elements", nullptr, "head"},
    {HPROF_CONCURRENT "ArrayBlockingQueue", Shape::kRing, false, "items", "count", "takeIndex"},
    {"java.util.LinkedList", Shape::kChain, false, "first", "size", "next", "item"},
    {HPROF_CONCURRENT "ConcurrentLinkedQueue", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "ConcurrentLinkedDeque", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "LinkedBlockingQueue", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "LinkedBlockingDeque", Shape::kChain, false, "first", "count", "next", "item"},
};
#undef HPROF_CONCURRENT
#undef HPROF_IMMUTABLE

// Nodes are fetched one after the other, and each fetch reads a piece of the dump.
constexpr size_t kMostNodes = 1000;
constexpr size_t kArrayBytes = size_t{16} << 20;
constexpr unsigned kMostWrappers = 8;
constexpr uint64_t kCut = UINT64_MAX;

class EntryReader {
 public:
  EntryReader(const Snapshot& snapshot, const CollectionClasses& kinds, size_t most)
      : snapshot_(snapshot), fetcher_(snapshot), kinds_(kinds), most_(most) {
    const uint32_t owner = snapshot.outline.classes.named("java.util.ImmutableCollections");
    if (owner == kNoClass) return;
    // Stands for an element that List.of(e) does not have.
    for (const DumpedField& field : snapshot.outline.classes.list[owner].statics) {
      if (snapshot.outline.names.string(field.name) == "EMPTY") empty_ = field.value;
    }
  }

  CollectionEntries read(const ObjectValues& object) {
    ObjectValues values = object;
    bool map = false, first = true;
    for (unsigned depth = 0; depth < kMostWrappers; ++depth) {
      const CollectionKind* kind =
          values.class_index == kNoClass || values.element != 0 ? nullptr : kinds_.of(values.class_index);
      if (kind == nullptr) break;
      if (first) map = kind->map;
      first = false;
      if (kind->shape != Shape::kWrapper) {
        read(values, *kind);
        if (!all_.sized && !full() && all_.list.size() < kMostNodes) {
          all_.size = all_.list.size();
          all_.sized = true;
        }
        all_.known = true;
        all_.map = map;
        // A set's elements are the keys of its map.
        for (auto& entry : all_.list) {
          if (!map) entry.second = 0;
        }
        break;
      }
      values = fetcher_.fetch({target(values, kind->store)})[0];
    }
    return all_;
  }

 private:
  // The id in the first of these fields that the object has.
  uint64_t id_in(const ObjectValues& values, const char* names) const {
    for (const char* at = names; at != nullptr && *at != 0;) {
      const char* bar = std::strchr(at, '|');
      const std::string name(at, bar == nullptr ? std::strlen(at) : static_cast<size_t>(bar - at));
      uint64_t id = 0;
      if (fetcher_.number(values, name, &id)) return id;
      at = bar == nullptr ? nullptr : bar + 1;
    }
    return 0;
  }
  uint32_t number(uint64_t id) const { return id == 0 ? kNoObject : snapshot_.numbers.number_of(id); }
  uint32_t target(const ObjectValues& values, const char* names) const {
    return number(id_in(values, names));
  }
  // The object that a path of two fields leads to.
  uint32_t store_of(const ObjectValues& values, const CollectionKind& kind) const {
    const char* dot = std::strchr(kind.store, '.');
    if (dot == nullptr) return target(values, kind.store);
    const uint32_t owner = fetcher_.target(values, std::string(kind.store, dot));
    return target(fetcher_.fetch({owner})[0], dot + 1);
  }
  bool full() const { return most_ != 0 && all_.list.size() >= most_; }
  void add(uint64_t key, uint64_t value) {
    if (!full()) all_.list.emplace_back(key, value);
  }

  void read(const ObjectValues& values, const CollectionKind& kind) {
    uint64_t size = 0;
    all_.sized = kind.size != nullptr && fetcher_.number(values, kind.size, &size);
    all_.size = size;
    if (kind.shape == Shape::kFields) {
      const uint64_t key = id_in(values, kind.key), value = id_in(values, kind.value);
      add(key, kind.map ? value : 0);
      if (!kind.map && value != 0 && value != empty_) add(value, 0);
      all_.sized = true;
      all_.size = all_.list.size();
      return;
    }
    const uint32_t store = store_of(values, kind);
    if (store == kNoObject) return;
    switch (kind.shape) {
      case Shape::kBuckets:
        read_buckets(elements(store), kind);
        break;
      case Shape::kChain:
        read_chain(store, kind);
        break;
      case Shape::kTree:
        read_tree(store, kind);
        break;
      default:
        read_array(values, store, kind);
    }
  }

  std::vector<uint64_t> elements(uint32_t array) {
    const ObjectValues values = fetcher_.fetch({array}, kArrayBytes)[0];
    const unsigned width = snapshot_.outline.header.id_size;
    std::vector<uint64_t> ids;
    if (values.element != HPROF_TYPE_OBJECT) return ids;
    for (size_t at = 0; at + width <= values.bytes.size(); at += width) {
      ids.push_back(big_endian(&values.bytes[at], width));
    }
    return ids;
  }

  void read_array(const ObjectValues& values, uint32_t store, const CollectionKind& kind) {
    const std::vector<uint64_t> ids = elements(store);
    const size_t length = ids.size();
    if (kind.shape == Shape::kArray) {
      if (!all_.sized) all_.size = fetcher_.fetch({store}, 0)[0].length;
      all_.sized = true;
      for (size_t i = 0; i < std::min<uint64_t>(length, all_.size); ++i) add(ids[i], 0);
    } else if (kind.shape == Shape::kPairs) {
      for (size_t i = 0; i + 1 < length; i += 2)
        if (ids[i] != 0) add(ids[i], ids[i + 1]);
    } else if (kind.shape == Shape::kSlots) {
      for (uint64_t id : ids)
        if (id != 0) add(id, 0);
    } else {
      // None of them has null elements.
      uint64_t begin = 0;
      fetcher_.number(values, kind.next, &begin);
      for (size_t i = 0; i < length; ++i) {
        const uint64_t id = ids[(begin + i) % length];
        if (id != 0) add(id, 0);
      }
      if (!all_.sized)
        all_.size =
            static_cast<uint64_t>(length - static_cast<size_t>(std::count(ids.begin(), ids.end(), 0u)));
      all_.sized = true;
    }
  }

  // Reads the chains of several buckets at the same time.
  void read_buckets(const std::vector<uint64_t>& ids, const CollectionKind& kind) {
    constexpr size_t kTogether = 1 << 16;
    uint64_t visited = 0;
    for (size_t begin = 0; begin < ids.size() && !full();) {
      std::vector<uint32_t> nodes;
      for (; begin < ids.size() && nodes.size() < kTogether; ++begin) {
        const uint32_t node = number(ids[begin]);
        if (node != kNoObject) nodes.push_back(node);
        if (most_ != 0 && all_.list.size() + nodes.size() >= most_) {
          ++begin;
          break;
        }
      }
      // No node is in two chains, unless the dump is broken.
      for (size_t depth = 0; depth < kMostNodes && !nodes.empty() && !full(); ++depth) {
        visited += nodes.size();
        if (visited > snapshot_.numbers.size()) return;
        std::vector<uint32_t> next;
        for (const ObjectValues& node : fetcher_.fetch(nodes)) {
          const uint64_t key = id_in(node, kind.key), value = id_in(node, kind.value);
          if (key != 0 || value != 0) add(key, value);
          uint32_t after = kind.next == nullptr ? kNoObject : target(node, kind.next);
          if (key == 0 && after == kNoObject) after = fetcher_.target(node, "first");  // a bin of a tree
          if (after != kNoObject) next.push_back(after);
        }
        nodes = std::move(next);
      }
    }
  }

  void read_chain(uint32_t node, const CollectionKind& kind) {
    for (size_t count = 0; node != kNoObject && count < kMostNodes && !full(); ++count) {
      const ObjectValues values = fetcher_.fetch({node})[0];
      const uint64_t key = id_in(values, kind.key), value = id_in(values, kind.value);
      // The first node of queues and skip lists is a dummy.
      if (key != 0 || (kind.size != nullptr && values.class_index != kNoClass)) add(key, value);
      const uint32_t next = target(values, kind.next);
      if (next == node) break;
      node = next;
    }
  }

  void read_tree(uint32_t root, const CollectionKind& kind) {
    std::vector<ObjectValues> above;
    uint32_t node = root;
    for (size_t count = 0; count < 2 * kMostNodes && !full(); ++count) {
      if (node != kNoObject && above.size() < 128) {
        above.push_back(fetcher_.fetch({node})[0]);
        node = fetcher_.target(above.back(), "left");
        continue;
      }
      if (above.empty()) return;
      const ObjectValues values = std::move(above.back());
      above.pop_back();
      add(id_in(values, kind.key), id_in(values, kind.value));
      node = fetcher_.target(values, "right");
    }
  }

  const Snapshot& snapshot_;
  ObjectFetcher fetcher_;
  const CollectionClasses& kinds_;
  size_t most_;
  uint64_t empty_ = kCut;
  CollectionEntries all_;
};

}  // namespace

CollectionClasses::CollectionClasses(const HeapClasses& classes) : kinds_(classes.list.size()) {
  std::map<std::string, const CollectionKind*> by_name;
  for (const CollectionKind& kind : kKinds) by_name[kind.class_name] = &kind;
  for (uint32_t i = 0; i < classes.list.size(); ++i) {
    uint32_t at = i;
    for (unsigned depth = 0; at != kNoClass && depth < HeapClasses::kDeepest; ++depth) {
      const HeapClass& each = classes.list[at];
      const auto found = each.loader == 0 ? by_name.find(each.name) : by_name.end();
      if (found != by_name.end()) {
        kinds_[i] = found->second;
        break;
      }
      at = each.super;
    }
  }
}

CollectionEntries entries_of(const Snapshot& snapshot, const ObjectValues& object, size_t most) {
  const CollectionClasses kinds(snapshot.outline.classes);
  return EntryReader(snapshot, kinds, most).read(object);
}

std::vector<ShownObject> shown_objects(const Snapshot& snapshot, const std::vector<uint64_t>& ids) {
  const HeapClasses& classes = snapshot.outline.classes;
  const ObjectFetcher fetcher(snapshot);
  std::vector<uint32_t> objects;
  for (uint64_t id : ids) objects.push_back(id == 0 ? kNoObject : snapshot.numbers.number_of(id));
  const std::vector<ObjectValues> values = fetcher.fetch(objects, 256);
  const uint32_t constant = classes.named("java.lang.Enum");
  std::vector<ShownObject> shown(ids.size());
  std::vector<uint32_t> strings(ids.size(), kNoObject);
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint32_t index = values[i].class_index;
    shown[i].entity = referred_entity(snapshot, ids[i]);
    if (index == kNoClass || values[i].element != 0) continue;
    if (index == classes.string_class) strings[i] = objects[i];
    if (constant != kNoClass && classes.extends(index, constant))
      strings[i] = fetcher.target(values[i], "name");
    const uint8_t type = boxed_type(classes.list[index]);
    uint64_t number = 0;
    if (type == 0 || !fetcher.number(values[i], "value", &number)) continue;
    shown[i].text = value_text(type, number);
    shown[i].entity.text += " " + value_text(type, number);
  }
  const std::vector<std::string> texts = fetcher.texts(strings, 60);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (strings[i] == kNoObject) continue;
    const bool string = values[i].class_index == classes.string_class;
    shown[i].text = texts[i];
    shown[i].entity.text += string ? " \"" + printable(texts[i]) + "\"" : " " + printable(texts[i]);
  }
  return shown;
}

uint8_t boxed_type(const HeapClass& of) {
  static constexpr std::pair<const char*, uint8_t> kBoxes[] = {
      {"java.lang.Integer", HPROF_TYPE_INT},    {"java.lang.Long", HPROF_TYPE_LONG},
      {"java.lang.Short", HPROF_TYPE_SHORT},    {"java.lang.Byte", HPROF_TYPE_BYTE},
      {"java.lang.Character", HPROF_TYPE_CHAR}, {"java.lang.Boolean", HPROF_TYPE_BOOLEAN},
      {"java.lang.Double", HPROF_TYPE_DOUBLE},  {"java.lang.Float", HPROF_TYPE_FLOAT}};
  for (const auto& [name, type] : kBoxes) {
    if (of.loader == 0 && of.name == name) return type;
  }
  return 0;
}

}  // namespace hprof::tool
