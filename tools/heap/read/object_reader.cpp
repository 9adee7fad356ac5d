// Reads pieces of the dump in parallel.
#include "tools/heap/read/object_reader.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <new>

namespace hprof::tool {

namespace {

// Reads the values of one object at a time; writes shared arrays only at the object's own elements.
class ObjectReader : public HeapVisitor {
 public:
  ObjectReader(Snapshot& snapshot, ReferenceGraph& graph)
      : snapshot_(snapshot),
        graph_(graph),
        classes_(snapshot.outline.classes),
        numbers_(snapshot.numbers),
        runs_(graph),
        recent_(kRecent) {
    if (snapshot.layout.addresses) found.gaps.resize(classes_.list.size());
    if (snapshot.outline.repeated > 0) seen_.resize(numbers_.size());
    mark_rooted_classes();
  }

  void begin_piece() {
    lowest_ = UINT32_MAX;
    highest_ = 0;
  }
  void end_piece(DumpPiece& piece) {
    runs_.flush();
    piece.lowest = lowest_;
    piece.highest = highest_;
  }

  void on_class(const ClassRecord& record) override {
    uint32_t number = take(record.id);
    if (number == kNoObject) return;
    put(number, classes_.of_mirrors(), record.trace);
    runs_.begin(number);
    refer(record.super);
    refer(record.loader);
    refer(record.signers);
    refer(record.domain);
    for (const DumpedField& field : record.statics) {
      if (field.type == HPROF_TYPE_OBJECT) refer(field.value);
    }
    for (const DumpedConstant& constant : record.constants) {
      if (constant.type == HPROF_TYPE_OBJECT) refer(constant.value);
    }
    runs_.finish();
  }

  void on_instance(const InstanceRecord& record, Input& in) override {
    uint32_t number = take(record.id);
    if (number == kNoObject) return;
    uint32_t index = class_of(record.class_id);
    put(number, index, record.trace);
    measure(index, record.id);
    const HeapClass& owner = classes_.list[index];
    bool string = index == classes_.string_class && !snapshot_.objects.string_arrays.empty();
    bool whole = record.byte_count <= in.buffer_size();
    const uint8_t* values = nullptr;
    if (whole && (string || !owner.references.empty())) values = in.bytes(record.byte_count);
    if (string && values != nullptr) mark_string(values, record.byte_count);
    runs_.begin(number);
    refer_to_class(index);
    if (values != nullptr) {
      refer_fields(owner, values, record.byte_count);
    } else if (!whole) {
      refer_fields(owner, in, record.byte_count);
    }
    runs_.finish();
  }

  void on_array(const ArrayRecord& record, Input& in) override {
    uint32_t number = take(record.id);
    if (number == kNoObject) return;
    bool objects = record.type == HPROF_TYPE_OBJECT;
    uint32_t index = objects ? class_of(record.class_id) : classes_.primitive(record.type);
    put(number, index, record.trace);
    snapshot_.objects.sizes.set(number, snapshot_.layout.array_size(record.type, record.length), found.large);
    if (!objects) return;
    if (record.length > kLongArray) return long_array(number, index, record, in);
    runs_.begin(number);
    refer_to_class(index);
    unsigned width = in.id_size();
    for (uint32_t left = record.length; left > 0;) {
      auto count = std::min<uint32_t>(left, static_cast<uint32_t>(in.buffer_size() / width));
      const uint8_t* ids = in.bytes(size_t{count} * width);
      if (ids == nullptr) break;
      for (uint32_t i = 0; i < count; ++i) refer(read_id(ids + size_t{i} * width));
      left -= count;
    }
    runs_.finish();
  }

  uint64_t references() const { return runs_.references() + long_references_; }
  void flush() { runs_.flush(); }

  ObjectFindings found;

 private:
  // Longer arrays go to the graph directly.
  static constexpr uint32_t kLongArray = 1 << 18;
  static constexpr size_t kRecent = 256;
  struct Recent {
    uint64_t id = 0;
    uint32_t index = kNoClass;
  };

  // Instances of classes that are roots need no reference to them.
  void mark_rooted_classes() {
    sticky_.assign(classes_.list.size(), false);
    class_objects_.assign(classes_.list.size(), kNoObject);
    std::vector<bool> rooted(numbers_.size());
    for (const HeapRoot& root : snapshot_.roots) {
      if (!is_stack_root(root.tag)) rooted[root.object] = true;
    }
    for (uint32_t i = 0; i < classes_.list.size(); ++i) {
      if (classes_.list[i].id == 0) continue;
      class_objects_[i] = numbers_.number_of(classes_.list[i].id);
      sticky_[i] = class_objects_[i] == kNoObject || rooted[class_objects_[i]];
    }
  }

  uint32_t take(uint64_t id) {
    uint32_t number = numbers_.number_of(id);
    if (number == kNoObject) return kNoObject;
    if (!seen_.empty()) {
      if (seen_[number]) return kNoObject;
      seen_[number] = true;
    }
    lowest_ = std::min(lowest_, number);
    highest_ = std::max(highest_, number);
    return number;
  }

  void put(uint32_t number, uint32_t index, uint32_t trace) {
    snapshot_.objects.class_of.set(number, index);
    if (!snapshot_.objects.trace_of.empty()) snapshot_.objects.trace_of[number] = trace;
  }

  void measure(uint32_t index, uint64_t id) {
    if (found.gaps.empty()) return;
    uint64_t distance = distance_to_next(snapshot_.layout, numbers_, id);
    if (distance != 0) found.gaps[index].add(distance);
  }

  uint32_t class_of(uint64_t id) {
    Recent& recent = recent_[(id >> 3 ^ id >> 11) % kRecent];
    if (recent.index == kNoClass || recent.id != id) recent = {id, classes_.known(id)};
    return recent.index;
  }

  uint64_t read_id(const uint8_t* from) const {
    return classes_.id_size == 8 ? big_endian<8>(from) : big_endian<4>(from);
  }

  void refer(uint64_t id) {
    if (id == 0) return;
    uint32_t target = numbers_.number_of(id);
    if (target == kNoObject) {
      ++found.dangling;
    } else {
      runs_.add(target);
    }
  }
  void refer_to_class(uint32_t index) {
    if (!sticky_[index] && class_objects_[index] != kNoObject) runs_.add(class_objects_[index]);
  }

  void mark_string(const uint8_t* values, uint32_t size) {
    uint64_t value_end = uint64_t{classes_.string_value} + classes_.id_size;
    if (value_end > size) return;
    uint32_t array = numbers_.number_of(read_id(values + classes_.string_value));
    if (array == kNoObject) return;
    snapshot_.objects.string_arrays.set_shared(array);
    if (classes_.string_coder < size && values[classes_.string_coder] != 0) {
      snapshot_.objects.wide_arrays.set_shared(array);
    }
  }

  // `discovered` of an active reference is a list of the collector; of another one, a list of the VM.
  void refer_fields(const HeapClass& owner, const uint8_t* values, uint32_t size) {
    const bool active = uint64_t{owner.next} + classes_.id_size <= size && read_id(values + owner.next) == 0;
    for (uint32_t offset : owner.references) {
      if (offset + classes_.id_size > size) break;
      if (active && offset == owner.discovered) continue;
      refer(read_id(values + offset));
    }
  }
  void refer_fields(const HeapClass& owner, Input& in, uint32_t size) {
    uint32_t at = 0;
    for (uint32_t offset : owner.references) {
      if (offset + classes_.id_size > size || !in.skip(offset - at)) break;
      refer(in.id());
      at = offset + classes_.id_size;
    }
  }

  // Writes to the graph directly; slots of null references belong to no run.
  void long_array(uint32_t number, uint32_t index, const ArrayRecord& record, Input& in) {
    runs_.flush();
    uint64_t room = uint64_t{record.length} + 2;
    uint64_t start = graph_.reserve(room);
    uint32_t* slots = graph_.slots() + start;
    uint64_t used = 1;
    if (!sticky_[index] && class_objects_[index] != kNoObject) slots[used++] = class_objects_[index];
    for (uint32_t i = 0; i < record.length && in.ok(); ++i) {
      uint64_t id = in.id();
      uint32_t target = id == 0 ? kNoObject : numbers_.number_of(id);
      if (target != kNoObject) {
        slots[used++] = target;
      } else if (id != 0) {
        ++found.dangling;
      }
    }
    long_references_ += used - 1;
    if (used == 1) {
      used = 0;
    } else {
      slots[0] = number | ReferenceGraph::kLast;
      slots[used - 1] |= ReferenceGraph::kLast;
      graph_.first()[number] = static_cast<uint32_t>(start + 1);
    }
    for (; used < room; ++used) slots[used] = ReferenceGraph::kSkip;
  }

  Snapshot& snapshot_;
  ReferenceGraph& graph_;
  const HeapClasses& classes_;
  const ObjectNumbers& numbers_;
  RunBuffer runs_;
  std::vector<Recent> recent_;
  std::vector<bool> sticky_;             // by class
  std::vector<uint32_t> class_objects_;  // by class
  std::vector<bool> seen_;               // by object, when ids repeat
  uint64_t long_references_ = 0;
  uint32_t lowest_ = UINT32_MAX, highest_ = 0;
};

// Pieces that a thread takes at a time: in a compressed file a seek inflates what lies between.
constexpr size_t kTogether = 4;

}  // namespace

bool walk_pieces(const Snapshot& snapshot, const std::vector<HeapVisitor*>& visitors,
                 const PieceFilter& wanted, const std::function<void(size_t, HeapVisitor&)>& after,
                 std::string* error) {
  const DumpOutline& outline = snapshot.outline;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  auto walk = [&](HeapVisitor* visitor, std::string* problem) {
    std::unique_ptr<ByteSource> source = snapshot.opener.open(problem);
    if (source == nullptr) return;
    Input in(*source);
    in.set_id_size(outline.header.id_size);
    for (size_t i = 0, end = 0;; ++i) {
      if (i == end) {
        i = next.fetch_add(kTogether);
        end = std::min(i + kTogether, outline.pieces.size());
      }
      if (i >= end) break;
      const DumpPiece& piece = outline.pieces[i];
      if (wanted && !wanted(piece)) continue;
      in.clear_limit();
      if (piece.begin >= in.offset() ? !in.skip(piece.begin - in.offset()) : !in.seek(piece.begin)) break;
      walk_heap(in, piece.end, *visitor);
      if (after) after(i, *visitor);
    }
    if (!source->error().empty()) *problem = source->error();
  };
  // No exception may leave the thread.
  auto work = [&](HeapVisitor* visitor) {
    std::string problem;
    try {
      walk(visitor, &problem);
    } catch (const std::bad_alloc&) {
      problem = "out of memory";
    }
    std::lock_guard<std::mutex> guard(mutex);
    if (error->empty()) *error = problem;
  };
  size_t count = outline.seekable ? visitors.size() : 1;
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < count; ++i)
    others.push_back(std::async(std::launch::async | std::launch::deferred, work, visitors[i]));
  work(visitors[0]);
  for (std::future<void>& each : others) each.get();
  return error->empty();
}

ObjectFindings read_objects(Snapshot& snapshot, ReferenceGraph& graph) {
  unsigned count = snapshot.outline.repeated > 0 ? 1 : std::max(1u, snapshot.options.threads);
  std::vector<std::unique_ptr<ObjectReader>> readers;
  std::vector<HeapVisitor*> visitors;
  for (unsigned i = 0; i < count; ++i) {
    readers.push_back(std::make_unique<ObjectReader>(snapshot, graph));
    visitors.push_back(readers.back().get());
  }
  std::string error;
  walk_pieces(
      snapshot, visitors, nullptr,
      [&](size_t piece, HeapVisitor& visitor) {
        auto& reader = static_cast<ObjectReader&>(visitor);
        reader.end_piece(snapshot.outline.pieces[piece]);
        reader.begin_piece();
      },
      &error);
  ObjectFindings all;
  all.gaps.resize(readers[0]->found.gaps.size());
  for (auto& reader : readers) {
    for (size_t i = 0; i < all.gaps.size(); ++i) all.gaps[i].merge(reader->found.gaps[i]);
    all.large.insert(all.large.end(), reader->found.large.begin(), reader->found.large.end());
    all.references += reader->references();
    all.dangling += reader->found.dangling;
  }
  if (!error.empty()) snapshot.outline.problems.push_back(error);
  return all;
}

}  // namespace hprof::tool
