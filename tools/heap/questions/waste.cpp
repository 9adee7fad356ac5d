#include "tools/heap/questions/waste.h"

#include <algorithm>
#include <map>

#include "tools/heap/questions/collections.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/owners.h"
#include "tools/heap/questions/text_hash.h"
#include "tools/heap/read/object_reader.h"

namespace hprof::tool {

namespace {

constexpr uint32_t kShared = UINT32_MAX;
constexpr unsigned kSparse = 4;        // a collection is sparse when less than 1/4 of its array is used
constexpr uint64_t kLeastEntries = 8;  // of a map whose collisions are shown

// A collection and its array.
struct Collection {
  uint32_t object, class_index;
  uint32_t store;  // number of its array; kNoObject: none
  uint32_t size;
  uint32_t length = 0, used = 0;  // of the array: elements, and those that are not null
};

// An array or boxed number that may have equals.
struct Item {
  uint64_t key;  // a hash of the elements, or the value
  uint32_t object, class_index;
};

// Where a collection's values are in an instance of its class.
struct CollectionPlaces {
  const CollectionKind* kind = nullptr;
  uint32_t store = UINT32_MAX, size = UINT32_MAX;
  unsigned size_width = 4;
};

// Reads collections, boxed numbers and arrays of primitives.
class WasteReader : public HeapVisitor {
 public:
  WasteReader(const Snapshot& snapshot, const std::vector<CollectionPlaces>& places,
              const std::vector<uint32_t>& boxes, GrowingList<Item>& items,
              GrowingList<Collection>& collections)
      : snapshot_(snapshot),
        classes_(snapshot.outline.classes),
        places_(places),
        boxes_(boxes),
        items_(items),
        collections_(collections) {}

  void on_instance(const InstanceRecord& record, Input& in) override {
    const uint32_t index = classes_.find(record.class_id);
    if (index == kNoClass || (places_[index].kind == nullptr && boxes_[index] == 0)) return;
    const uint32_t object = reached(record.id);
    if (object == kNoObject || record.byte_count > in.buffer_size()) return;
    const uint8_t* bytes = in.bytes(record.byte_count);
    if (bytes == nullptr) return;
    if (boxes_[index] != 0) {
      const unsigned width = boxes_[index] & 15;
      const uint32_t offset = boxes_[index] >> 4;
      if (uint64_t{offset} + width <= record.byte_count)
        items_.add({big_endian(bytes + offset, width), object, index});
      return;
    }
    const CollectionPlaces& at = places_[index];
    Collection each{object, index, kNoObject, 0};
    if (uint64_t{at.size} + at.size_width > record.byte_count) return;
    each.size =
        static_cast<uint32_t>(std::min<uint64_t>(big_endian(bytes + at.size, at.size_width), UINT32_MAX));
    if (uint64_t{at.store} + classes_.id_size <= record.byte_count) {
      const uint64_t id = big_endian(bytes + at.store, classes_.id_size);
      each.store = id == 0 ? kNoObject : snapshot_.numbers.number_of(id);
    }
    collections_.add(each);
  }

  void on_array(const ArrayRecord& record, Input& in) override {
    if (record.type == HPROF_TYPE_OBJECT || record.length == 0) return;
    const uint32_t object = reached(record.id);
    if (object == kNoObject) return;
    const bool wide = snapshot_.objects.wide_arrays.get(object);
    TextHash hash(uint64_t{record.type} << 40 | uint64_t{record.length} << 1 | wide);
    uint64_t left = uint64_t{record.length} * width_of(record.type, in.id_size());
    while (left > 0) {
      const auto step =
          static_cast<size_t>(std::min<uint64_t>(left, std::min<size_t>(in.buffer_size(), 1 << 16)));
      const uint8_t* bytes = in.bytes(step);
      if (bytes == nullptr) return;
      hash.add(bytes, step);
      left -= step;
    }
    const bool text = snapshot_.objects.string_arrays.get(object);
    items_.add({hash.value(), object, text ? classes_.string_class : classes_.primitive(record.type)});
  }

 private:
  uint32_t reached(uint64_t id) const {
    const uint32_t object = snapshot_.numbers.number_of(id);
    return snapshot_.is_reached(object) ? object : kNoObject;
  }

  const Snapshot& snapshot_;
  const HeapClasses& classes_;
  const std::vector<CollectionPlaces>& places_;
  const std::vector<uint32_t>& boxes_;  // by class: the offset of the value << 4 | its bytes
  GrowingList<Item>& items_;
  GrowingList<Collection>& collections_;
};

// Counts the elements of the collections' arrays that are not null.
class StoreReader : public HeapVisitor {
 public:
  StoreReader(const Snapshot& snapshot, GrowingList<Collection>& collections)
      : snapshot_(snapshot), collections_(collections) {}

  void on_array(const ArrayRecord& record, Input& in) override {
    if (record.type != HPROF_TYPE_OBJECT) return;
    const uint32_t object = snapshot_.numbers.number_of(record.id);
    Collection* at =
        std::lower_bound(collections_.begin(), collections_.end(), object,
                         [](const Collection& each, uint32_t wanted) { return each.store < wanted; });
    if (object == kNoObject || at == collections_.end() || at->store != object) return;
    uint32_t used = 0;
    for (uint32_t i = 0; i < record.length && in.ok(); ++i) used += in.id() != 0;
    for (; at != collections_.end() && at->store == object; ++at) {
      at->length = record.length;
      at->used = used;
    }
  }

 private:
  const Snapshot& snapshot_;
  GrowingList<Collection>& collections_;  // by store
};

struct ClassWaste {
  uint64_t objects = 0, empty = 0, empty_bytes = 0, sparse = 0, unused_bytes = 0, slots = 0, used = 0;
};

class WasteFinder {
 public:
  WasteFinder(const Snapshot& snapshot, MemoryBudget& budget, size_t top)
      : snapshot_(snapshot), classes_(snapshot.outline.classes), budget_(budget), top_(top) {}

  Section run() {
    read();
    count_collections();
    Section section{"waste", "Memory that holds nothing, or the same again"};
    Table equal = equal_table();
    section.tables = {collection_table(), collision_table(), equal, repeated_table(), owner_table()};
    section.text = {bytes_text(total_) + " of " + bytes_text(snapshot_.total_bytes()) + ": " +
                    bytes_text(empty_) + " by empty collections, " + bytes_text(unused_) +
                    " by unused room of others, " + bytes_text(equal_) +
                    " by arrays and boxed numbers that equal another one."};
    section.facts = {{data_column("empty_bytes", CellKind::kBytes), empty_},
                     {data_column("unused_bytes", CellKind::kBytes), unused_},
                     {data_column("equal_bytes", CellKind::kBytes), equal_}};
    return section;
  }

 private:
  uint64_t shallow(uint32_t object) const { return snapshot_.shallow(snapshot_.tree.place_of[object]); }

  void read() {
    const CollectionClasses kinds(snapshot_.outline);
    std::vector<CollectionPlaces> places(classes_.list.size());
    std::vector<uint32_t> boxes(classes_.list.size());
    uint64_t items = 0, collections = 0;
    for (uint32_t i = 0; i < classes_.list.size(); ++i) {
      const HeapClass& each = classes_.list[i];
      if (each.instances != 0) places[i] = places_of(i, kinds.of(i));
      const uint8_t boxed = each.instances == 0 ? uint8_t{0} : boxed_type(each);
      const uint32_t offset =
          boxed == 0 ? UINT32_MAX : classes_.offset_of(i, "value", boxed, snapshot_.outline.names);
      if (offset < 1 << 16) boxes[i] = offset << 4 | width_of(boxed, classes_.id_size);
      if (boxes[i] != 0 || (each.is_array() && each.element != HPROF_TYPE_OBJECT)) items += each.instances;
      if (places[i].kind != nullptr) collections += each.instances;
    }
    items_.allocate(budget_, items);
    collections_.allocate(budget_, collections);
    read_by_all(snapshot_, WasteReader(snapshot_, places, boxes, items_, collections_));
    waste_.allocate(budget_, items_.size() + collections_.size());
    std::sort(collections_.begin(), collections_.end(), [](const Collection& a, const Collection& b) {
      return a.store != b.store ? a.store < b.store : a.object < b.object;
    });
    read_by_all(snapshot_, StoreReader(snapshot_, collections_));
  }

  CollectionPlaces places_of(uint32_t index, const CollectionKind* kind) const {
    CollectionPlaces at;
    if (kind == nullptr || kind->shape >= Shape::kFields) return at;
    const bool chained = kind->shape == Shape::kChain || kind->shape == Shape::kTree;
    // The size of a ConcurrentHashMap, but for counts of threads that met there.
    const std::string size = kind->size != nullptr ? kind->size : kind->map ? "baseCount" : "";
    for (const InstanceField& field : classes_.instance_fields(index, classes_.list[index].most_values)) {
      const std::string_view name = snapshot_.outline.names.string(field.name);
      if (name == size) {  // the last one: HeapClasses::offset_of says why
        at.size = field.offset;
        at.size_width = width_of(field.type, classes_.id_size);
      }
      const char* store = kind->class_name == std::string("java.util.LinkedHashMap") ? "table" : kind->store;
      if (name == store && (!chained || store != kind->store)) at.store = field.offset;
    }
    if (at.size != UINT32_MAX) at.kind = kind;
    return at;
  }

  void count_collections() {
    uint32_t last = kShared;  // an array of several collections counts once
    for (const Collection& each : collections_) {
      ClassWaste& of = by_class_[each.class_index];
      const bool array = each.store != kNoObject && each.length != 0 && each.store != last;
      last = each.store;
      uint64_t wasted = 0;
      ++of.objects;
      if (each.size == 0) {
        wasted = shallow(each.object) + (array && snapshot_.is_reached(each.store) ? shallow(each.store) : 0);
        ++of.empty;
        of.empty_bytes += wasted;
        empty_ += wasted;
      } else if (array) {
        const uint64_t unused = each.length - std::min(each.length, each.used);
        wasted = unused * snapshot_.layout.reference;
        of.slots += each.length;
        of.used += std::min(each.length, each.used);
        of.sparse += uint64_t{each.used} * kSparse < each.length;
        of.unused_bytes += wasted;
        unused_ += wasted;
      }
      if (wasted != 0) waste_.add({snapshot_.tree.place_of[each.object], wasted});
    }
  }

  Table collection_table() {
    Table table{"collections",
                "Collections by wasted bytes",
                {{"objects", "objects", CellKind::kCount},
                 {"empty", "empty", CellKind::kCount},
                 {"empty_bytes", "by empty ones", CellKind::kBytes},
                 {"sparse", "sparse", CellKind::kCount},
                 {"unused_bytes", "unused", CellKind::kBytes},
                 {"filled", "filled", CellKind::kPercent},
                 kClass}};
    std::vector<std::pair<uint32_t, ClassWaste>> order(by_class_.begin(), by_class_.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second.empty_bytes + a.second.unused_bytes > b.second.empty_bytes + b.second.unused_bytes;
    });
    table.left_out = cut(order, top_);
    for (const auto& [index, of] : order) {
      table.rows.push_back({of.objects, of.empty, of.empty_bytes, of.sparse, of.unused_bytes,
                            part_of(of.used, of.slots), class_entity(snapshot_, index)});
    }
    table.note = "Filled: elements of the arrays that are not null. Sparse: less than a quarter is filled.";
    return table;
  }

  Table collision_table() {
    const CollectionClasses kinds(snapshot_.outline);
    Table table{"collisions",
                "Maps whose keys share buckets",
                {{"entries", "entries", CellKind::kCount},
                 {"buckets", "buckets used", CellKind::kCount},
                 {"length", "of", CellKind::kCount},
                 kObject}};
    FirstRows<Collection> maps(top_, [](const Collection& a, const Collection& b) {
      return a.size - a.used != b.size - b.used ? a.size - a.used > b.size - b.used : a.object < b.object;
    });
    for (const Collection& each : collections_) {
      const CollectionKind* kind = kinds.of(each.class_index);
      const bool buckets = kind->shape == Shape::kBuckets || (kind->shape == Shape::kChain && kind->map);
      if (buckets && each.size >= kLeastEntries && uint64_t{each.used} * 2 < each.size && each.used != 0)
        maps.add(each);
    }
    table.left_out = maps.left_out();
    for (const Collection& each : maps.sorted()) {
      table.rows.push_back({uint64_t{each.size}, uint64_t{each.used}, uint64_t{each.length},
                            entity_of(snapshot_, each.object)});
    }
    table.note = "Less than half as many buckets as entries.";
    return table;
  }

  // Sorts the items so that equal ones are neighbours, and counts by class.
  Table equal_table() {
    Item* const end = items_.end();
    std::sort(items_.begin(), end, [](const Item& a, const Item& b) {
      if (a.class_index != b.class_index) return a.class_index < b.class_index;
      return a.key != b.key ? a.key < b.key : a.object < b.object;
    });
    struct Equal {
      uint64_t objects = 0, distinct = 0, wasted = 0;
    };
    std::map<uint32_t, Equal> by_class;
    for (Item* at = items_.begin(); at != end;) {
      Item* next = at;
      uint64_t wasted = 0;
      for (; next != end && next->class_index == at->class_index && next->key == at->key; ++next) {
        if (next == at || next->object == next[-1].object) continue;  // an id may be there twice
        const uint64_t bytes = shallow(next->object);
        wasted += bytes;
        waste_.add({snapshot_.tree.place_of[next->object], bytes});
      }
      Equal& of = by_class[at->class_index];
      of.objects += static_cast<uint64_t>(next - at);
      ++of.distinct;
      of.wasted += wasted;
      if (wasted != 0 && classes_.list[at->class_index].is_array()) {
        repeated_.add({wasted, static_cast<uint64_t>(next - at), at->object});
      }
      equal_ += wasted;
      at = next;
    }
    total_ = empty_ + unused_ + equal_;
    std::vector<std::pair<uint32_t, Equal>> order(by_class.begin(), by_class.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.wasted > b.second.wasted; });
    Table table{"equal",
                "Arrays and boxed numbers that equal another one",
                {{"objects", "objects", CellKind::kCount},
                 {"distinct", "distinct", CellKind::kCount},
                 {"wasted_bytes", "wasted", CellKind::kBytes},
                 kClass}};
    for (const auto& [index, of] : order) {
      const std::string name = snapshot_.class_name(index);
      table.rows.push_back(
          {of.objects, of.distinct, of.wasted, index == classes_.string_class ? "arrays of " + name : name});
    }
    return table;
  }

  struct Repeated {
    uint64_t wasted, copies;
    uint32_t example;
  };
  static bool more(const Repeated& a, const Repeated& b) {
    return a.wasted != b.wasted ? a.wasted > b.wasted : a.example < b.example;
  }
  Table repeated_table() {
    Table table{
        "repeated_arrays",
        "Arrays of primitives that are there more than once, without those of strings",
        {{"copies", "copies", CellKind::kCount}, {"wasted_bytes", "wasted", CellKind::kBytes}, kObject}};
    for (const Repeated& each : repeated_.sorted())
      table.rows.push_back({each.copies, each.wasted, entity_of(snapshot_, each.example)});
    table.left_out = repeated_.left_out();
    return table;
  }

  Table owner_table() {
    const Wasted* const wasted = waste_.begin();
    std::sort(waste_.begin(), waste_.end(), [](const Wasted& a, const Wasted& b) {
      return a.place != b.place ? a.place < b.place : a.bytes < b.bytes;
    });
    std::vector<std::pair<uint64_t, uint64_t>> sums;  // bytes, objects
    const std::vector<std::string> names = find_owners(
        snapshot_, waste_.size(), [&](size_t i) { return wasted[i].place; },
        [&](size_t i, uint32_t owner) {
          if (owner >= sums.size()) sums.resize(owner + 1);
          sums[owner].first += wasted[i].bytes;
          ++sums[owner].second;
        });
    std::vector<uint32_t> order = largest_first(
        sums, [](const auto& each) { return each.second != 0; }, [](const auto& each) { return each; });
    Table table{"owners",
                "By owner",
                {{"objects", "objects", CellKind::kCount},
                 {"wasted_bytes", "wasted", CellKind::kBytes},
                 {"owner", "owner"}}};
    table.left_out = cut(order, top_);
    for (uint32_t i : order) table.rows.push_back({sums[i].second, sums[i].first, names[i]});
    table.note = "Owner: the nearest object that retains it and is not of a class of the JDK.";
    return table;
  }

  struct Wasted {
    uint32_t place;  // in the dominator tree
    uint64_t bytes;
  };
  const Snapshot& snapshot_;
  const HeapClasses& classes_;
  MemoryBudget& budget_;
  size_t top_;
  GrowingList<Item> items_;
  GrowingList<Collection> collections_;  // by store
  std::map<uint32_t, ClassWaste> by_class_;
  GrowingList<Wasted> waste_;
  FirstRows<Repeated> repeated_{top_, more};
  uint64_t empty_ = 0, unused_ = 0, equal_ = 0, total_ = 0;
};

}  // namespace

Section waste_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top) {
  return WasteFinder(snapshot, budget, top).run();
}

}  // namespace hprof::tool
