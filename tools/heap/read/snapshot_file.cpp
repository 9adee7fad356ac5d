// Writes arrays as they are in memory, and the tables of classes, names, roots and threads value by value.
#include "tools/heap/read/snapshot_file.h"

#include <algorithm>
#include <cstring>

#include "core/base/version.h"
#include "tools/os/os.h"

namespace hprof::tool {

// The tables of an index: writes the values that it is shown, or fills them in, by the same calls. Beyond the
// end of what it reads all values are 0, and ok() is false.
class IndexTables {
 public:
  IndexTables() = default;
  IndexTables(const uint8_t* bytes, uint64_t size) : is_read_(true), at_(bytes), end_(bytes + size) {}

  template <typename... T>
  void numbers(T&... values) {
    (number(values), ...);
  }
  void text(std::string& value) {
    const size_t size = count(value.size(), 1);
    if (!is_read_) {
      bytes_ += value;
      return;
    }
    value.assign(reinterpret_cast<const char*>(at_), size);
    at_ += size;
  }
  // Calls each(item) for the items of a list, which have at least so many bytes each.
  template <typename T, typename Each>
  void list(std::vector<T>& items, unsigned bytes, const Each& each) {
    items.resize(count(items.size(), bytes));
    for (T& item : items) each(item);
  }
  // The same for a map: each(key, item).
  template <typename T, typename Each>
  void map(IdMap<T>& items, unsigned bytes, const Each& each) {
    uint64_t left = count(items.size(), bytes);
    if (!is_read_) {
      for (auto& [id, item] : items) {
        uint64_t key = id;
        number(key);
        each(key, item);
      }
    }
    for (uint64_t key = 0; is_read_ && left > 0; --left) {
      number(key);
      each(key, items[key]);
    }
  }
  bool is_read() const { return is_read_; }
  bool ok() const { return ok_; }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void number(T& value) {
    uint64_t bits = static_cast<uint64_t>(value);
    if (is_read_) {
      bits = 0;
      ok_ = ok_ && end_ - at_ >= 8;
      for (unsigned i = 0; ok_ && i < 8; ++i) bits |= uint64_t{*at_++} << (8 * i);
      value = static_cast<T>(bits);
      return;
    }
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i)));
  }
  // Of items with at least so many bytes each.
  size_t count(size_t items, unsigned bytes) {
    number(items);
    ok_ = ok_ && (!is_read_ || items <= static_cast<uint64_t>(end_ - at_) / bytes);
    return ok_ ? items : 0;
  }

  bool is_read_ = false, ok_ = true;
  std::string bytes_;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
};

namespace {

// The parts of the file: the tables, then the arrays.
constexpr size_t kTables = 0, kPartCount = 16;
constexpr uint64_t kAlignment = 4096;

// Adds one part to a checksum; four sums at a time, at the speed of memory.
uint64_t checksum(uint64_t sum, const void* data, uint64_t size) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t lanes[4] = {sum, sum ^ 1, sum ^ 2, size};
  uint64_t at = 0;
  for (; at + sizeof lanes <= size; at += sizeof lanes) {
    uint64_t words[4];
    std::memcpy(words, bytes + at, sizeof words);
    for (unsigned i = 0; i < 4; ++i) lanes[i] = (lanes[i] ^ words[i] ^ lanes[i] >> 29) * kFactor;
  }
  for (; at < size; ++at) lanes[0] = (lanes[0] ^ bytes[at] ^ lanes[0] >> 29) * kFactor;
  for (unsigned i = 1; i < 4; ++i) lanes[0] = (lanes[0] ^ lanes[i] ^ lanes[0] >> 29) * kFactor;
  return lanes[0];
}

void put_names(IndexTables& io, Definitions& names) {
  io.map(names.strings, 16, [&](uint64_t, std::string& text) { io.text(text); });
  io.map(names.classes, 32, [&](uint64_t serial, LoadedClass& each) {
    io.numbers(each.id, each.trace, each.name);
    each.serial = static_cast<uint32_t>(serial);
    if (io.is_read()) names.class_serials[each.id] = each.serial;
  });
  io.map(names.frames, 48, [&](uint64_t, StackFrame& each) {
    io.numbers(each.method, each.signature, each.source, each.class_serial, each.line);
  });
  io.map(names.traces, 24, [&](uint64_t, StackTrace& each) {
    io.numbers(each.thread);
    io.list(each.frames, 8, [&](uint64_t& frame) { io.numbers(frame); });
  });
}

void put_fields(IndexTables& io, std::vector<DumpedField>& fields) {
  io.list(fields, 24, [&](DumpedField& field) { io.numbers(field.name, field.type, field.value); });
}

void put_layout(IndexTables& io, ObjectLayout& layout) {
  io.numbers(layout.reference, layout.header, layout.alignment, layout.gap_before_elements,
             layout.fills_super_gaps, layout.addresses, layout.contiguous, layout.given);
}

void put_roots(IndexTables& io, Snapshot& snapshot) {
  io.list(snapshot.roots, 32,
          [&](HeapRoot& each) { io.numbers(each.object, each.thread, each.frame, each.tag); });
  io.list(snapshot.root_nodes, 8, [&](uint32_t& each) { io.numbers(each); });
  io.list(snapshot.threads, 40, [&](HeapThread& each) {
    io.numbers(each.serial, each.object, each.trace, each.stack);
    io.text(each.name);
  });
}

void put_outline(IndexTables& io, DumpOutline& outline) {
  io.text(outline.header.version);
  io.numbers(outline.header.id_size, outline.header.milliseconds, outline.repeated, outline.traced,
             outline.dumps);
  put_names(io, outline.names);
  io.list(outline.pieces, 32,
          [&](DumpPiece& each) { io.numbers(each.begin, each.end, each.lowest, each.highest); });
  io.list(outline.problems, 8, [&](std::string& each) { io.text(each); });
}

}  // namespace

// The first bytes of the file; all zero until the index is complete.
struct SnapshotFile::Head {
  char magic[16];
  char build[64];  // of the program
  uint64_t dump_size, dump_changed;
  uint64_t options;  // which dump, what is followed, the layout when given
  uint64_t parts_offset;
  uint64_t file_size;
  uint64_t sum;  // of all parts and their table
};

SnapshotFile::SnapshotFile(std::string path, DumpOpener& opener) : path_(std::move(path)), opener_(opener) {}

SnapshotFile::~SnapshotFile() {
  close();
  if (unfinished_) os::remove_file(path_);
}

void SnapshotFile::close() {
  os::unmap(region_, size_);
  region_ = nullptr;
  if (file_ >= 0) os::close_file(file_);
  file_ = -1;
}

SnapshotFile::Head SnapshotFile::head_of(const Snapshot& snapshot) const {
  Head head{};
  std::memcpy(head.magic, "hprof index 5", 14);
  std::string build = kVersionText;
  std::memcpy(head.build, build.data(), std::min(build.size(), sizeof head.build));
  opener_.identify(&head.dump_size, &head.dump_changed);
  const SnapshotOptions& options = snapshot.options;
  head.options = options.dump;
  for (uint64_t value : {static_cast<uint64_t>(options.follow), uint64_t{options.keep_unreached},
                         uint64_t{options.layout.given},
                         options.layout.given ? uint64_t{options.layout.reference} << 16 |
                                                    options.layout.header << 8 | options.layout.alignment
                                              : 0}) {
    head.options = head.options * 0x9e3779b97f4a7c15u + value;
  }
  return head;
}

bool SnapshotFile::write(const void* data, uint64_t size, std::string* error) {
  static constexpr char kZeros[kAlignment] = {};
  parts_.push_back({written_, size});
  sum_ = checksum(sum_, data, size);
  uint64_t padding = (kAlignment - size % kAlignment) % kAlignment;
  written_ += size + padding;
  return (size == 0 || os::write_all(file_, data, size, error)) &&
         os::write_all(file_, kZeros, padding, error);
}

// Calls visit(array, items) for each array that begin() writes, until it returns false.
template <typename Visit>
bool SnapshotFile::arrays_of_objects(Snapshot& snapshot, ReferenceGraph& graph, const Visit& visit) {
  const auto put = [&](auto& array) { return visit(array, array.size()); };
  ObjectNumbers& numbers = snapshot.numbers;
  HeapObjects& objects = snapshot.objects;
  return put(numbers.pages_) && put(numbers.bits_) && put(numbers.before_) && put(numbers.lists_) &&
         visit(graph.slots_, graph.used()) && put(graph.first_) && put(objects.class_of.bytes()) &&
         put(objects.sizes.units_) && put(objects.string_arrays.words()) && put(objects.wide_arrays.words());
}

// The same for finish().
template <typename Visit>
bool SnapshotFile::arrays_of_tree(Snapshot& snapshot, const Visit& visit) {
  const auto put = [&](auto& array) { return visit(array, array.size()); };
  return put(snapshot.tree.place_of) && put(snapshot.tree.subtree) && put(snapshot.prefix.bytes()) &&
         put(snapshot.class_at.bytes()) && put(snapshot.trace_at);
}

bool SnapshotFile::create(std::string* error) {
  close();
  file_ = os::create_private_file(path_, true, error);
  return unfinished_ = file_ >= 0;
}

bool SnapshotFile::begin(Snapshot& snapshot, ReferenceGraph& graph, std::string* error) {
  parts_.clear();
  written_ = 0;
  std::string nothing(kAlignment, '\0');
  if (!write(nothing.data(), nothing.size(), error)) return false;
  parts_.clear();
  sum_ = 0;
  parts_.push_back({0, 0});  // kTables, known last
  large_ = snapshot.objects.sizes.large_;
  return arrays_of_objects(snapshot, graph, [&](const auto& array, uint64_t items) {
    return write(array.data(), items * sizeof *array.data(), error);
  });
}

void SnapshotFile::put_classes(IndexTables& io, HeapClasses& classes) {
  io.list(classes.list, 120, [&](HeapClass& each) {
    io.text(each.name);
    io.numbers(each.id, each.super_id, each.loader, each.signers, each.domain, each.super, each.dumped,
               each.element, each.kind, each.size, each.instances, each.most_values);
    put_fields(io, each.fields);
    put_fields(io, each.statics);
    if (io.is_read() && each.id != 0)
      classes.by_id_[each.id] = static_cast<uint32_t>(&each - classes.list.data());
  });
  for (uint32_t& index : classes.primitives_) io.numbers(index);
  io.numbers(classes.class_class, classes.string_class, classes.thread_class, classes.loader_class,
             classes.string_value, classes.string_coder, classes.string_offset, classes.string_count,
             classes.id_size);
}

void SnapshotFile::put_tables(IndexTables& io, Snapshot& snapshot) {
  put_outline(io, snapshot.outline);
  put_classes(io, snapshot.outline.classes);
  put_layout(io, snapshot.layout);
  put_roots(io, snapshot);
  io.numbers(snapshot.big_endian, snapshot.references, snapshot.dangling, snapshot.numbers.size_,
             snapshot.tree.reached);
  io.list(snapshot.totals, 32,
          [&](ClassTotals& each) { io.numbers(each.objects, each.bytes, each.reached, each.reached_bytes); });
  io.list(large_, 16, [&](OwnSizes::Large& each) { io.numbers(each.object, each.size); });
}

bool SnapshotFile::finish(Snapshot& snapshot, std::string* error) {
  const bool written = arrays_of_tree(snapshot, [&](const auto& array, uint64_t items) {
    return write(array.data(), items * sizeof *array.data(), error);
  });
  if (!written) return false;
  IndexTables tables;
  put_tables(tables, snapshot);
  if (!write(tables.bytes().data(), tables.bytes().size(), error)) return false;
  parts_[kTables] = parts_.back();
  parts_.pop_back();
  Head head = head_of(snapshot);
  head.parts_offset = written_;
  std::vector<Part> table = parts_;
  if (!write(table.data(), table.size() * sizeof(Part), error)) return false;
  head.file_size = written_;
  head.sum = sum_;
  // Written last: until then the file is no index.
  bool good = os::seek_to(file_, 0) && os::write_all(file_, &head, sizeof head, error);
  unfinished_ = !good;
  close();
  return good;
}

bool SnapshotFile::map(const Head& expected) {
  std::string error;
  file_ = os::open_for_reading(path_, &error);
  if (file_ < 0 || !os::file_is_private(file_)) return false;
  size_ = os::file_size(file_);
  if (size_ == UINT64_MAX || size_ < sizeof(Head)) return false;
  region_ = static_cast<const uint8_t*>(os::map_file(file_, size_, &error));
  if (region_ == nullptr) return false;
  Head head;
  std::memcpy(&head, region_, sizeof head);
  bool same = std::memcmp(head.magic, expected.magic, sizeof head.magic) == 0 &&
              std::memcmp(head.build, expected.build, sizeof head.build) == 0 &&
              head.dump_size == expected.dump_size && head.dump_changed == expected.dump_changed &&
              head.options == expected.options && head.file_size == size_;
  if (!same || head.parts_offset > size_ || size_ - head.parts_offset < kPartCount * sizeof(Part))
    return false;
  parts_.resize(kPartCount);
  std::memcpy(parts_.data(), region_ + head.parts_offset, kPartCount * sizeof(Part));
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) {
                       return part.offset % kAlignment == 0 && part.offset <= size_ &&
                              part.size <= size_ - part.offset;
                     }) &&
         sum_of_parts(head.parts_offset) == head.sum;
}

// The checksum of all parts, in the order of writing.
uint64_t SnapshotFile::sum_of_parts(uint64_t parts_offset) const {
  uint64_t sum = 0;
  auto take = [&](const Part& part) { sum = checksum(sum, region_ + part.offset, part.size); };
  for (size_t i = kTables + 1; i < kPartCount; ++i) take(parts_[i]);
  take(parts_[kTables]);
  take({parts_offset, kPartCount * sizeof(Part)});
  return sum;
}

bool SnapshotFile::load(Snapshot& snapshot, ReferenceGraph& graph) {
  Head expected = head_of(snapshot);
  if (expected.dump_size == 0 || !map(expected)) {
    close();
    return false;
  }
  IndexTables tables(region_ + parts_[kTables].offset, parts_[kTables].size);
  put_tables(tables, snapshot);
  if (!tables.ok()) {
    close();
    return false;
  }
  snapshot.objects.sizes.large_ = large_;
  std::string error;
  const std::unique_ptr<ByteSource> source = opener_.open(&error);
  snapshot.outline.seekable = source != nullptr && source->size() != kUnknownSize;
  borrow_arrays(snapshot, graph);
  snapshot.loaded = true;
  return true;
}

void SnapshotFile::borrow_arrays(Snapshot& snapshot, ReferenceGraph& graph) const {
  size_t part = kTables;
  const auto borrow = [&](auto& array, uint64_t) {
    using Item = std::remove_reference_t<decltype(*array.data())>;
    const Part& from = parts_[++part];
    array.borrow(reinterpret_cast<const Item*>(region_ + from.offset), from.size / sizeof(Item));
    return true;
  };
  arrays_of_objects(snapshot, graph, borrow);
  arrays_of_tree(snapshot, borrow);
  snapshot.numbers.build_table();
  graph.used_ = graph.slots_.size();
}

}  // namespace hprof::tool
