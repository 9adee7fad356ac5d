#include "tools/heap/questions/collections.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/heap/questions/heap_tables.h"

namespace hprof::tool {

namespace {

#define HPROF_CONCURRENT "java.util.concurrent."
#define HPROF_IMMUTABLE "java.util.ImmutableCollections$"
constexpr CollectionKind kKinds[] = {
    {"java.util.HashMap", Shape::kBuckets, true, "table", "size", "next", "key", "value"},
    {"java.util.LinkedHashMap", Shape::kChain, true, "head", "size", "after", "key", "value"},
    {"java.util.Hashtable", Shape::kBuckets, true, "table", "count", "next", "key", "value"},
    {"java.util.Properties", Shape::kWrapper, true, "map"},  // before 9 it is a Hashtable
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
    {"java.util.EnumMap", Shape::kByEnum, true, "vals", "size", nullptr, "keyUniverse"},
    {"java.util.Collections$UnmodifiableMap", Shape::kWrapper, true, "m"},
    {"java.util.Collections$SynchronizedMap", Shape::kWrapper, true, "m"},
    {"java.util.Collections$CheckedMap", Shape::kWrapper, true, "m"},
    {"java.util.HashSet", Shape::kWrapper, false, "map"},
    {"java.util.TreeSet", Shape::kWrapper, false, "m"},
    {"java.util.RegularEnumSet", Shape::kBits, false, "elements", nullptr, nullptr, "universe"},
    {"java.util.JumboEnumSet", Shape::kBits, false, "elements", "size", nullptr, "universe"},
    {"java.util.Collections$SetFromMap", Shape::kWrapper, false, "m"},
    {"java.util.Collections$UnmodifiableCollection", Shape::kWrapper, false, "c"},
    {"java.util.Collections$SynchronizedCollection", Shape::kWrapper, false, "c"},
    {"java.util.Collections$CheckedCollection", Shape::kWrapper, false, "c"},
    {"java.util.Collections$AsLIFOQueue", Shape::kWrapper, false, "q"},
    {HPROF_CONCURRENT "ConcurrentHashMap$KeySetView", Shape::kWrapper, false, "map"},
    {HPROF_CONCURRENT "ConcurrentSkipListSet", Shape::kWrapper, false, "m"},
    {HPROF_CONCURRENT "CopyOnWriteArraySet", Shape::kWrapper, false, "al"},
    {HPROF_CONCURRENT "DelayQueue", Shape::kWrapper, false, "q"},
    {HPROF_IMMUTABLE "SetN", Shape::kSlots, false, "elements", "size"},
    {HPROF_IMMUTABLE "ListN", Shape::kArray, false, "elements"},
    {HPROF_IMMUTABLE "Set12", Shape::kFields, false, nullptr, nullptr, nullptr, "e0", "e1"},
    {HPROF_IMMUTABLE "List12", Shape::kFields, false, nullptr, nullptr, nullptr, "e0", "e1"},
    {"java.util.LazyCollections$LazyList", Shape::kArray, false, "elements", "size"},
    {"java.util.Collections$SingletonSet", Shape::kFields, false, nullptr, nullptr, nullptr, "element"},
    {"java.util.Collections$SingletonList", Shape::kFields, false, nullptr, nullptr, nullptr, "element"},
    {"java.util.Collections$CopiesList", Shape::kCopies, false, nullptr, "n", nullptr, "element"},
    {"java.util.ArrayList", Shape::kArray, false, "elementData", "size"},
    {"java.util.Vector", Shape::kArray, false, "elementData", "elementCount"},
    {"java.util.Arrays$ArrayList", Shape::kArray, false, "a"},
    {HPROF_CONCURRENT "CopyOnWriteArrayList", Shape::kArray, false, "array"},
    {"java.util.PriorityQueue", Shape::kArray, false, "queue", "size"},
    {HPROF_CONCURRENT "PriorityBlockingQueue", Shape::kArray, false, "queue", "size"},
    {HPROF_CONCURRENT "ScheduledThreadPoolExecutor$DelayedWorkQueue", Shape::kArray, false, "queue", "size"},
    {"java.util.ArrayDeque", Shape::kRing, false, "elements", nullptr, "head"},
    {HPROF_CONCURRENT "ArrayBlockingQueue", Shape::kRing, false, "items", "count", "takeIndex"},
    {"java.util.LinkedList", Shape::kChain, false, "first", "size", "next", "item"},
    {"java.util.LinkedList$ReverseOrderLinkedListView", Shape::kView, false, "list"},
    {HPROF_CONCURRENT "ConcurrentLinkedQueue", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "ConcurrentLinkedDeque", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "LinkedBlockingQueue", Shape::kChain, false, "head", nullptr, "next", "item"},
    {HPROF_CONCURRENT "LinkedBlockingDeque", Shape::kChain, false, "first", "count", "next", "item"},
    {HPROF_CONCURRENT "LinkedTransferQueue", Shape::kChain, false, "head", nullptr, "next", "item"},
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
      : snapshot_(snapshot),
        fetcher_(snapshot),
        kinds_(kinds),
        most_(most),
        no_element_(static_value("java.util.ImmutableCollections", "EMPTY")),
        null_value_(static_value("java.util.EnumMap", "NULL")) {}

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
  // kCut: there is no such field.
  uint64_t static_value(const char* class_name, const char* field_name) const {
    const uint32_t owner = snapshot_.outline.classes.named(class_name);
    if (owner == kNoClass) return kCut;
    for (const DumpedField& field : snapshot_.outline.classes.list[owner].statics) {
      if (snapshot_.outline.names.string(field.name) == field_name) return field.value;
    }
    return kCut;
  }

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
      if (!kind.map && value != 0 && value != no_element_) add(value, 0);
      all_.sized = true;
      all_.size = all_.list.size();
      return;
    }
    if (kind.shape == Shape::kCopies) {
      const uint64_t element = id_in(values, kind.key);
      for (uint64_t i = 0; i < std::min<uint64_t>(size, kMostNodes) && !full(); ++i) add(element, 0);
      return;
    }
    if (kind.shape == Shape::kBits) return read_bits(values, kind);
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
      case Shape::kByEnum:
        read_by_enum(elements(store), elements(target(values, kind.key)));
        break;
      default:
        read_array(values, store, kind);
    }
  }

  // A null value is an object that stands for it.
  void read_by_enum(const std::vector<uint64_t>& ids, const std::vector<uint64_t>& constants) {
    for (size_t i = 0; i < std::min(ids.size(), constants.size()); ++i) {
      if (ids[i] != 0) add(constants[i], ids[i] == null_value_ ? 0 : ids[i]);
    }
  }

  // The bits are a long, or, in a set that has a size, an array of them.
  void read_bits(const ObjectValues& values, const CollectionKind& kind) {
    std::vector<uint64_t> words(1);
    fetcher_.number(values, kind.store, &words[0]);
    if (kind.size != nullptr) {
      const ObjectValues array = fetcher_.fetch({number(words[0])}, kArrayBytes)[0];
      words.clear();
      for (size_t at = 0; at + 8 <= array.bytes.size(); at += 8)
        words.push_back(big_endian(&array.bytes[at], 8));
    }
    all_.size = 0;
    all_.sized = true;
    const std::vector<uint64_t> constants = elements(target(values, kind.key));
    for (size_t i = 0; i < constants.size() && i / 64 < words.size(); ++i) {
      if ((words[i / 64] >> i % 64 & 1) == 0) continue;
      ++all_.size;
      add(constants[i], 0);
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

  void read_chain(uint32_t head, const CollectionKind& kind) {
    uint32_t node = first_of(head);
    for (size_t count = 0; node != kNoObject && count < kMostNodes && !full(); ++count) {
      const ObjectValues values = fetcher_.fetch({node})[0];
      const uint64_t key = id_in(values, kind.key), value = id_in(values, kind.value);
      // The first node of queues and skip lists is a dummy, without an item or with itself as the item.
      const bool is_dummy = key == 0 || key == snapshot_.numbers.id_of(node);
      if (!is_dummy || (kind.size != nullptr && values.class_index != kNoClass)) add(key, value);
      const uint32_t next = target(values, kind.next);
      if (next == node) break;
      node = next;
    }
  }

  // The head of a ConcurrentLinkedDeque may have nodes before it; a node that ends that way is its own
  // successor.
  uint32_t first_of(uint32_t head) const {
    uint32_t node = head;
    for (size_t count = 0; count < kMostNodes; ++count) {
      const uint32_t before = fetcher_.target(fetcher_.fetch({node})[0], "prev");
      if (before == kNoObject || before == node) break;
      if (fetcher_.target(fetcher_.fetch({before})[0], "next") == before) break;
      node = before;
    }
    return node;
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
  uint64_t no_element_;  // stands for an element that List.of(e) does not have
  uint64_t null_value_;  // stands for null in an EnumMap
  CollectionEntries all_;
};

// Whether instances of the class have the collection's own fields.
bool has_fields(const DumpOutline& outline, uint32_t index, const CollectionKind& kind) {
  const std::vector<InstanceField> fields =
      outline.classes.instance_fields(index, outline.classes.list[index].most_values);
  const bool own_key = kind.shape >= Shape::kByEnum;
  for (const char* wanted :
       {kind.store, kind.size, own_key ? kind.key : nullptr, own_key ? kind.value : nullptr}) {
    if (wanted == nullptr) continue;
    const std::string name(wanted, std::strcspn(wanted, "."));
    const bool found = std::any_of(fields.begin(), fields.end(), [&](const InstanceField& field) {
      return outline.names.string(field.name) == name;
    });
    if (!found) return false;
  }
  return true;
}

}  // namespace

CollectionClasses::CollectionClasses(const DumpOutline& outline) : kinds_(outline.classes.list.size()) {
  const HeapClasses& classes = outline.classes;
  std::map<std::string, const CollectionKind*> by_name;
  for (const CollectionKind& kind : kKinds) by_name[kind.class_name] = &kind;
  for (uint32_t i = 0; i < classes.list.size(); ++i) {
    uint32_t at = i;
    for (unsigned depth = 0; at != kNoClass && depth < HeapClasses::kDeepest; ++depth) {
      const HeapClass& each = classes.list[at];
      const auto found = each.loader == 0 ? by_name.find(each.name) : by_name.end();
      if (found != by_name.end() && has_fields(outline, i, *found->second)) {
        if (found->second->shape != Shape::kView) kinds_[i] = found->second;
        break;
      }
      at = each.super;
    }
  }
}

CollectionEntries entries_of(const Snapshot& snapshot, const ObjectValues& object, size_t most) {
  const CollectionClasses kinds(snapshot.outline);
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
