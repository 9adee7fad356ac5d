#include "tools/heap/read/dump_outline.h"

#include <algorithm>

#include "tools/format/records.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

// Large enough for a thread's unit of work, small enough to read for a few objects.
constexpr uint64_t kPieceBytes = uint64_t{2} << 20;
constexpr size_t kSamplesMax = 1 << 16;
constexpr size_t kProblemsMax = 20;
// Longer names are not kept: only hostile files have them.
constexpr uint64_t kNamesMax = uint64_t{512} << 20;

class OutlineReader : public HeapVisitor {
 public:
  OutlineReader(Input& in, unsigned dump, DumpOutline* out) : in_(in), wanted_(dump), out_(*out) {}

  bool run(std::string* error) {
    RecordReader records(in_);
    const bool good = records.begin();
    out_.header = records.header();
    if (!good) {
      *error = out_.header.problem;
      return false;
    }
    const RecordHead& head = records.head();
    while (records.next() && record(head)) {
    }
    if (records.end() == RecordReader::End::kWithinBody)
      problem(head.offset, "the file ends within a record of " + std::to_string(head.length) + " bytes");
    if (records.end() == RecordReader::End::kWithinHead)
      problem(head.offset, "the file ends within the head of a record");
    out_.size = in_.offset();
    if (out_.dumps == 0 || wanted_ > out_.dumps) {
      *error = out_.dumps == 0
                   ? "no heap dump in it"
                   : "it has " + std::to_string(out_.dumps) + " heap dumps, not " + std::to_string(wanted_);
      return false;
    }
    return true;
  }

  void on_root(const RootRecord& root) override {
    next_object(root.offset);
    bool number = root.tag == kRootJavaFrame || root.tag == kRootJniLocal || root.tag == kRootThreadObject;
    out_.roots.push_back({root.object, root.thread, number ? root.number : UINT32_MAX, root.tag});
  }

  void on_class(const ClassRecord& record) override {
    next_object(record.offset);
    out_.classes.add_dump(record);
    pending_ = record.id;
    has_pending_ = true;
  }

  void on_instance(const InstanceRecord& record, Input&) override {
    next_object(record.offset);
    HeapClass& owner = class_of(record.class_id);
    ++owner.instances;
    owner.values += record.byte_count;
    owner.most_values = std::max(owner.most_values, record.byte_count);
    object(record.id, record.trace);
  }

  void on_array(const ArrayRecord& record, Input&) override {
    next_object(record.offset);
    if (record.type == HPROF_TYPE_OBJECT) {
      ++class_of(record.class_id).instances;
      out_.array_references += record.length;
    } else {
      ++out_.classes.list[out_.classes.primitive(record.type)].instances;
    }
    if (out_.samples.size() < kSamplesMax && (out_.samples.size() < kSamplesMax / 2 || record.id % 67 == 0)) {
      out_.samples.push_back({record.id, record.length, record.type});
    }
    object(record.id, record.trace);
  }

 private:
  void problem(uint64_t offset, const std::string& text) {
    if (out_.problems.size() < kProblemsMax) {
      out_.problems.push_back("byte " + std::to_string(offset) + ": " + text);
    }
  }

  HeapClass& class_of(uint64_t id) {
    if (id != last_class_ || last_index_ == kNoClass) {
      last_class_ = id;
      last_index_ = out_.classes.take(id);
    }
    return out_.classes.list[last_index_];
  }

  // Counts an object once the next sub-record proves that its values are complete.
  void next_object(uint64_t offset) {
    flush();
    pending_offset_ = offset;
    if (offset - piece_ >= kPieceBytes) end_piece(offset);
  }
  void flush() {
    if (has_pending_ && !out_.ids.insert(pending_)) ++out_.repeated;
    has_pending_ = false;
  }
  void object(uint64_t id, uint32_t trace) {
    pending_ = id;
    has_pending_ = true;
    if (!any_trace_) trace_ = trace;
    any_trace_ = true;
    out_.traced = out_.traced || trace != trace_;
  }
  void end_piece(uint64_t offset) {
    if (offset > piece_) out_.pieces.push_back({piece_, offset});
    piece_ = offset;
  }

  void begin_dump() {
    ++out_.dumps;
    in_dump_ = true;
    out_.classes = HeapClasses();
    out_.ids.clear();
    out_.roots.clear();
    out_.pieces.clear();
    out_.samples.clear();
    out_.array_references = out_.repeated = 0;
    out_.traced = any_trace_ = false;
    last_index_ = kNoClass;
  }

  // True: the length is still 0, since the VM died during the dump.
  bool has_no_length(const RecordHead& head) {
    in_.clear_limit();
    if (head.length != 0 || in_.at_end()) return false;
    uint8_t next = in_.u1();
    in_.seek(head.body());
    return (next >= kClassDump && next <= kPrimitiveArrayDump) || next == kRootUnknown;
  }

  // False: nothing can be read after this record.
  bool record(const RecordHead& head) {
    if (head.tag == kHeapDump || head.tag == kHeapDumpSegment) {
      if (!in_dump_ || head.tag == kHeapDump) {
        if (wanted_ != 0 && out_.dumps == wanted_) return true;
        begin_dump();
      }
      if (wanted_ != 0 && out_.dumps != wanted_) return true;
      return segment(head);
    }
    if (head.tag == kHeapDumpEnd) {
      in_dump_ = false;
    } else if (head.tag == kString && (name_bytes_ += head.length) > kNamesMax) {
      if (name_bytes_ - head.length <= kNamesMax) problem(head.offset, "names from here on are left out");
    } else {
      out_.names.take(in_, head);
    }
    return true;
  }

  bool segment(const RecordHead& head) {
    bool endless = has_no_length(head);
    uint64_t end = endless ? kUnknownSize : head.end();
    piece_ = head.body();
    WalkResult result = walk_heap(in_, end, *this);
    if (result.end == WalkEnd::kComplete) {
      flush();
      end_piece(head.end());
      return true;
    }
    if (pending_offset_ == result.offset) has_pending_ = false;
    flush();
    end_piece(result.offset);
    if (result.end == WalkEnd::kUnknownTag || result.end == WalkEnd::kBadType) {
      problem(result.offset,
              std::string(result.end == WalkEnd::kBadType ? "unknown type " : "unknown heap record ") +
                  std::to_string(result.value) + ", the rest of its segment is left out");
    } else {
      problem(result.offset,
              endless ? "the dump ends here: the VM did not finish it" : "a heap record is cut short");
    }
    return !endless;
  }

  Input& in_;
  const unsigned wanted_;  // dump; 0 = the last
  DumpOutline& out_;
  uint64_t piece_ = 0;
  uint64_t pending_ = 0, pending_offset_ = 0;
  bool has_pending_ = false;
  uint64_t last_class_ = 0;
  uint32_t last_index_ = kNoClass;
  uint64_t name_bytes_ = 0;
  uint32_t trace_ = 0;
  bool any_trace_ = false;
  bool in_dump_ = false;
};

}  // namespace

void DumpFile::identify(uint64_t* size, uint64_t* changed) {
  *size = *changed = 0;
  if (file_.is_pipe()) return;
  std::string error;
  int file = os::open_for_reading(path_, &error);
  if (file < 0) return;
  *size = os::file_size(file);
  *changed = os::file_changed(file);
  os::close_file(file);
}

bool read_outline(DumpOpener& opener, unsigned dump, DumpOutline* outline, std::string* error) {
  std::unique_ptr<ByteSource> source = opener.open(error);
  if (source == nullptr) return false;
  Input in(*source);
  if (!OutlineReader(in, dump, outline).run(error)) return false;
  outline->seekable = source->size() != kUnknownSize;  // of a compressed file from here on
  if (!source->error().empty()) outline->problems.push_back(source->error());
  return true;
}

}  // namespace hprof::tool
