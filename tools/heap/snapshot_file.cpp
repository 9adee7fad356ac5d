// Writes arrays as they are in memory, and the tables of classes, names, roots and threads value by value.
#include "tools/heap/snapshot_file.h"

#include <algorithm>

#include "core/base/version.h"
#include "tools/os/os.h"

namespace hprof::tool {

class TableWriter {
 public:
  void number(uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(const std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads the output of TableWriter; beyond its end all values are 0 and ok() is false.
class TableReader {
 public:
  TableReader(const uint8_t* bytes, uint64_t size) : at_(bytes), end_(bytes + size) {}
  uint64_t number() {
    uint64_t value = 0;
    if (end_ - at_ < 8) {
      ok_ = false;
      at_ = end_;
      return 0;
    }
    for (unsigned i = 0; i < 8; ++i) value |= uint64_t{at_[i]} << (8 * i);
    at_ += 8;
    return value;
  }
  template <typename T>
  void number(T& to) {
    to = static_cast<T>(number());
  }
  // Reads a count of items with at least so many numbers each.
  uint64_t count(unsigned numbers) {
    uint64_t value = number();
    if (value <= static_cast<uint64_t>(end_ - at_) / (8 * numbers)) return value;
    ok_ = false;
    return 0;
  }
  std::string text() {
    uint64_t size = number();
    if (size > static_cast<uint64_t>(end_ - at_)) {
      ok_ = false;
      return {};
    }
    std::string value(reinterpret_cast<const char*>(at_), static_cast<size_t>(size));
    at_ += size;
    return value;
  }
  bool ok() const { return ok_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

namespace {

// Indices of the parts in the file's table.
enum PartNumber : size_t {
  kTables,
  kPages,
  kBits,
  kBefore,
  kLists,
  kSlots,
  kFirst,
  kClassOf,
  kUnits,
  kStringArrays,
  kWideArrays,
  kPlaceOf,
  kSubtree,
  kPrefix,
  kClassAt,
  kTraceAt,
  kPartCount
};

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

void save_names(const Definitions& names, TableWriter& out) {
  out.number(names.strings.size());
  for (const auto& [id, text] : names.strings) {
    out.number(id);
    out.text(text);
  }
  out.number(names.classes.size());
  for (const auto& [serial, each] : names.classes) {
    for (uint64_t value : {serial, each.id, uint64_t{each.trace}, each.name}) out.number(value);
  }
  out.number(names.frames.size());
  for (const auto& [id, each] : names.frames) {
    for (uint64_t value : {id, each.method, each.signature, each.source, uint64_t{each.class_serial},
                           uint64_t{static_cast<uint32_t>(each.line)}}) {
      out.number(value);
    }
  }
  out.number(names.traces.size());
  for (const auto& [serial, each] : names.traces) {
    out.number(serial);
    out.number(each.thread);
    out.number(each.frames.size());
    for (uint64_t frame : each.frames) out.number(frame);
  }
}

void load_names(TableReader& in, Definitions& names) {
  for (uint64_t left = in.count(2); left > 0; --left) {
    uint64_t id = in.number();
    names.strings[id] = in.text();
  }
  for (uint64_t left = in.count(4); left > 0; --left) {
    uint64_t serial = in.number(), id = in.number(), trace = in.number(), name = in.number();
    names.classes[serial] = {static_cast<uint32_t>(serial), id, static_cast<uint32_t>(trace), name, false};
    names.class_serials[id] = static_cast<uint32_t>(serial);
  }
  for (uint64_t left = in.count(6); left > 0; --left) {
    StackFrame& frame = names.frames[in.number()];
    in.number(frame.method);
    in.number(frame.signature);
    in.number(frame.source);
    in.number(frame.class_serial);
    in.number(frame.line);
  }
  for (uint64_t left = in.count(3); left > 0; --left) {
    StackTrace& trace = names.traces[in.number()];
    in.number(trace.thread);
    trace.frames.resize(in.count(1));
    for (uint64_t& frame : trace.frames) in.number(frame);
  }
}

void save_fields(const std::vector<DumpedField>& fields, TableWriter& out) {
  out.number(fields.size());
  for (const DumpedField& field : fields) {
    for (uint64_t value : {field.name, uint64_t{field.type}, field.value}) out.number(value);
  }
}

void load_fields(TableReader& in, std::vector<DumpedField>& fields) {
  fields.resize(in.count(3));
  for (DumpedField& field : fields) {
    in.number(field.name);
    in.number(field.type);
    in.number(field.value);
  }
}

void save_class(const HeapClass& each, TableWriter& out) {
  out.text(each.name);
  for (uint64_t value :
       {each.super_id, each.loader, each.signers, each.domain, uint64_t{each.super}, uint64_t{each.dumped},
        uint64_t{each.element}, uint64_t{static_cast<uint8_t>(each.kind)}, each.size, each.instances}) {
    out.number(value);
  }
  save_fields(each.fields, out);
  save_fields(each.statics, out);
}

void load_class(TableReader& in, HeapClass& each) {
  each.name = in.text();
  for (uint64_t* to : {&each.super_id, &each.loader, &each.signers, &each.domain}) *to = in.number();
  in.number(each.super);
  in.number(each.dumped);
  in.number(each.element);
  in.number(each.kind);
  in.number(each.size);
  in.number(each.instances);
  load_fields(in, each.fields);
  load_fields(in, each.statics);
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

SnapshotFile::~SnapshotFile() { close(); }

void SnapshotFile::close() {
  os::unmap(region_, size_);
  region_ = nullptr;
  if (file_ >= 0) os::close_file(file_);
  file_ = -1;
}

SnapshotFile::Head SnapshotFile::head_of(const Snapshot& snapshot) const {
  Head head{};
  std::memcpy(head.magic, "hprof index 1", 14);
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

bool SnapshotFile::begin(Snapshot& snapshot, std::string* error) {
  close();
  file_ = os::create_private_file(path_, true, error);
  if (file_ < 0) return false;
  parts_.clear();
  written_ = 0;
  std::string nothing(kAlignment, '\0');
  if (!write(nothing.data(), nothing.size(), error)) return false;
  parts_.clear();
  sum_ = 0;
  parts_.push_back({0, 0});  // kTables, known last
  large_ = snapshot.objects.sizes.large_;
  auto put = [&](const auto& array) {
    return write(array.data(), array.size() * sizeof *array.data(), error);
  };
  const ObjectNumbers& numbers = snapshot.numbers;
  const HeapObjects& objects = snapshot.objects;
  return put(numbers.pages_) && put(numbers.bits_) && put(numbers.before_) && put(numbers.lists_) &&
         write(snapshot.graph.slots(), snapshot.graph.used() * sizeof(uint32_t), error) &&
         put(snapshot.graph.first()) && put(objects.class_of.bytes()) && put(objects.sizes.units_) &&
         put(objects.string_arrays.words()) && put(objects.wide_arrays.words());
}

namespace {

void save_layout(const ObjectLayout& layout, TableWriter& out) {
  for (uint64_t value : {layout.reference, layout.header, layout.alignment,
                         unsigned{layout.gap_before_elements}, unsigned{layout.fills_super_gaps},
                         unsigned{layout.addresses}, unsigned{layout.contiguous}, unsigned{layout.given}}) {
    out.number(value);
  }
}

void load_layout(TableReader& in, ObjectLayout& layout) {
  for (unsigned* to : {&layout.reference, &layout.header, &layout.alignment}) in.number(*to);
  for (bool* to : {&layout.gap_before_elements, &layout.fills_super_gaps, &layout.addresses,
                   &layout.contiguous, &layout.given}) {
    in.number(*to);
  }
}

void save_roots(const Snapshot& snapshot, TableWriter& out) {
  out.number(snapshot.roots.size());
  for (const HeapRoot& each : snapshot.roots) {
    for (uint64_t value : {each.object, each.thread, each.frame, uint32_t{each.tag}}) out.number(value);
  }
  out.number(snapshot.root_nodes.size());
  for (uint32_t each : snapshot.root_nodes) out.number(each);
  out.number(snapshot.threads.size());
  for (const HeapThread& each : snapshot.threads) {
    for (uint64_t value : {each.serial, each.object, each.trace, each.stack}) out.number(value);
    out.text(each.name);
  }
}

void load_roots(TableReader& in, Snapshot& snapshot) {
  snapshot.roots.resize(in.count(4));
  for (HeapRoot& each : snapshot.roots) {
    for (uint32_t* to : {&each.object, &each.thread, &each.frame}) in.number(*to);
    in.number(each.tag);
  }
  snapshot.root_nodes.resize(in.count(1));
  for (uint32_t& each : snapshot.root_nodes) in.number(each);
  snapshot.threads.resize(in.count(5));
  for (HeapThread& each : snapshot.threads) {
    for (uint32_t* to : {&each.serial, &each.object, &each.trace, &each.stack}) in.number(*to);
    each.name = in.text();
  }
}

void save_outline(const DumpOutline& outline, TableWriter& out) {
  out.text(outline.header.version);
  for (uint64_t value :
       {uint64_t{outline.header.id_size}, outline.header.milliseconds, uint64_t{outline.seekable},
        outline.repeated, uint64_t{outline.traced}, uint64_t{outline.dumps}}) {
    out.number(value);
  }
  save_names(outline.names, out);
  out.number(outline.pieces.size());
  for (const DumpPiece& each : outline.pieces) {
    for (uint64_t value : {each.begin, each.end, uint64_t{each.lowest}, uint64_t{each.highest}})
      out.number(value);
  }
  out.number(outline.problems.size());
  for (const std::string& each : outline.problems) out.text(each);
}

void load_outline(TableReader& in, DumpOutline& outline) {
  outline.header.version = in.text();
  in.number(outline.header.id_size);
  in.number(outline.header.milliseconds);
  in.number(outline.seekable);
  in.number(outline.repeated);
  in.number(outline.traced);
  in.number(outline.dumps);
  load_names(in, outline.names);
  outline.pieces.resize(in.count(4));
  for (DumpPiece& each : outline.pieces) {
    in.number(each.begin);
    in.number(each.end);
    in.number(each.lowest);
    in.number(each.highest);
  }
  outline.problems.resize(in.count(1));
  for (std::string& each : outline.problems) each = in.text();
}

}  // namespace

void SnapshotFile::save_classes(const HeapClasses& classes, TableWriter& out) {
  out.number(classes.list.size());
  for (const HeapClass& each : classes.list) {
    out.number(each.id);
    save_class(each, out);
  }
  for (uint32_t index : classes.primitives_) out.number(index);
  for (uint32_t value :
       {classes.class_class, classes.string_class, classes.thread_class, classes.loader_class,
        classes.string_value, classes.string_coder, classes.string_offset, classes.string_count}) {
    out.number(value);
  }
}

void SnapshotFile::load_classes(TableReader& in, unsigned id_size, HeapClasses& classes) {
  classes.list.resize(in.count(14));
  for (uint32_t i = 0; i < classes.list.size(); ++i) {
    HeapClass& each = classes.list[i];
    each.id = in.number();
    load_class(in, each);
    if (each.id != 0) classes.by_id_[each.id] = i;
  }
  for (uint32_t& index : classes.primitives_) in.number(index);
  for (uint32_t* to :
       {&classes.class_class, &classes.string_class, &classes.thread_class, &classes.loader_class,
        &classes.string_value, &classes.string_coder, &classes.string_offset, &classes.string_count}) {
    in.number(*to);
  }
  classes.id_size = id_size;
}

bool SnapshotFile::finish(Snapshot& snapshot, std::string* error) {
  auto put = [&](const auto& array) {
    return write(array.data(), array.size() * sizeof *array.data(), error);
  };
  if (!put(snapshot.tree.place_of) || !put(snapshot.tree.subtree) || !put(snapshot.prefix.bytes()) ||
      !put(snapshot.class_at.bytes()) || !put(snapshot.trace_at)) {
    return false;
  }
  TableWriter tables;
  save_outline(snapshot.outline, tables);
  save_classes(snapshot.outline.classes, tables);
  save_layout(snapshot.layout, tables);
  save_roots(snapshot, tables);
  for (uint64_t value : {uint64_t{snapshot.big_endian}, snapshot.references, snapshot.dangling,
                         uint64_t{snapshot.numbers.size_}, uint64_t{snapshot.tree.reached}}) {
    tables.number(value);
  }
  tables.number(snapshot.totals.size());
  for (const ClassTotals& each : snapshot.totals) {
    for (uint64_t value : {each.objects, each.bytes, each.reached, each.reached_bytes}) tables.number(value);
  }
  tables.number(large_.size());
  for (const OwnSizes::Large& each : large_) {
    tables.number(each.object);
    tables.number(each.size);
  }
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

template <typename T>
void SnapshotFile::borrow(size_t number, BigArray<T>& array) const {
  const Part& part = parts_[number];
  array.borrow(reinterpret_cast<const T*>(region_ + part.offset), part.size / sizeof(T));
}

bool SnapshotFile::load(Snapshot& snapshot) {
  Head expected = head_of(snapshot);
  if (expected.dump_size == 0 || !map(expected)) {
    close();
    return false;
  }
  TableReader tables(region_ + parts_[kTables].offset, parts_[kTables].size);
  load_outline(tables, snapshot.outline);
  load_classes(tables, snapshot.outline.header.id_size, snapshot.outline.classes);
  load_layout(tables, snapshot.layout);
  load_roots(tables, snapshot);
  tables.number(snapshot.big_endian);
  tables.number(snapshot.references);
  tables.number(snapshot.dangling);
  tables.number(snapshot.numbers.size_);
  tables.number(snapshot.tree.reached);
  snapshot.totals.resize(tables.count(4));
  for (ClassTotals& each : snapshot.totals) {
    for (uint64_t* to : {&each.objects, &each.bytes, &each.reached, &each.reached_bytes}) tables.number(*to);
  }
  large_.resize(tables.count(2));
  for (OwnSizes::Large& each : large_) {
    tables.number(each.object);
    tables.number(each.size);
  }
  if (!tables.ok()) {
    close();
    return false;
  }
  snapshot.objects.sizes.large_ = large_;
  borrow_arrays(snapshot);
  snapshot.loaded = true;
  return true;
}

void SnapshotFile::borrow_arrays(Snapshot& snapshot) const {
  borrow(kPages, snapshot.numbers.pages_);
  borrow(kBits, snapshot.numbers.bits_);
  borrow(kBefore, snapshot.numbers.before_);
  borrow(kLists, snapshot.numbers.lists_);
  snapshot.numbers.build_table();
  borrow(kSlots, snapshot.graph.slots_);
  snapshot.graph.used_ = snapshot.graph.slots_.size();
  borrow(kFirst, snapshot.graph.first_);
  borrow(kClassOf, snapshot.objects.class_of.bytes());
  borrow(kUnits, snapshot.objects.sizes.units_);
  borrow(kStringArrays, snapshot.objects.string_arrays.words());
  borrow(kWideArrays, snapshot.objects.wide_arrays.words());
  borrow(kPlaceOf, snapshot.tree.place_of);
  borrow(kSubtree, snapshot.tree.subtree);
  borrow(kPrefix, snapshot.prefix.bytes());
  borrow(kClassAt, snapshot.class_at.bytes());
  borrow(kTraceAt, snapshot.trace_at);
}

}  // namespace hprof::tool
