#include "tools/hprof/heap/heap_redact.h"

#include <algorithm>

#include "tools/format/heap_walker.h"
#include "tools/format/records.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr size_t kPiece = Input::kBufferSize;

// Copies what the walk has passed.
class Redactor : public HeapVisitor {
 public:
  Redactor(ByteSource& source, int to, Redacted* redacted) : in_(source), to_(to), redacted_(*redacted) {}

  void on_array(const ArrayRecord& array, Input& at) override {
    if (array.type != HPROF_TYPE_CHAR && array.type != HPROF_TYPE_BYTE) return;
    const uint64_t size = uint64_t{array.length} * width_of(array.type, at.id_size());
    if (is_cut_) return;
    copy_until(at.offset());
    is_cut_ = error_.empty() && !in_.skip(size) && in_.error().empty();
    if (is_cut_) return;
    for (uint64_t left = size; left > 0 && error_.empty();) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(left, kPiece));
      out_.append(count, '\0');
      left -= count;
      flush(kPiece);
    }
    if (!in_.error().empty()) fail();
    ++redacted_.arrays;
    redacted_.bytes += size;
  }

  // True: the file ends within an array, before which the copy has ended.
  bool is_cut() const { return is_cut_; }
  void copy_until(uint64_t offset) {
    while (error_.empty() && in_.offset() < offset) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(offset - in_.offset(), in_.buffer_size()));
      const uint8_t* bytes = in_.bytes(count);
      if (bytes == nullptr) return fail();
      out_.append(reinterpret_cast<const char*>(bytes), count);
      flush(kPiece);
    }
  }
  void copy_rest() {
    while (error_.empty() && !in_.at_end()) copy_until(in_.offset() + 1);
  }
  bool finish(std::string* error) {
    flush(1);
    *error = error_;
    return error_.empty();
  }

 private:
  void fail() {
    if (error_.empty()) error_ = in_.error().empty() ? "the dump has become shorter meanwhile" : in_.error();
  }
  void flush(size_t least) {
    if (!error_.empty() || out_.size() < least) return;
    os::write_all(to_, out_.data(), out_.size(), &error_);
    out_.clear();
  }

  Input in_;
  const int to_;
  Redacted& redacted_;
  bool is_cut_ = false;
  std::string out_, error_;
};

std::string problem_of(const WalkResult& result) {
  const std::string at = "byte " + std::to_string(result.offset) + ": ";
  switch (result.end) {
    case WalkEnd::kComplete:
      return "";
    case WalkEnd::kOverrun:
      return at + "an object that reaches beyond its record, or the end of the file";
    case WalkEnd::kUnknownTag:
      return at + "an unknown kind of object, tag " + std::to_string(result.value);
    case WalkEnd::kBadType:
      return at + "an unknown type, " + std::to_string(result.value);
  }
  return "";
}

}  // namespace

bool redact_dump(ByteSource& from, ByteSource& again, int to, Redacted* redacted, std::string* error) {
  Input in(from);
  RecordReader records(in);
  if (!records.begin()) {
    *error = records.header().problem;
    return false;
  }
  Redactor redactor(again, to, redacted);
  bool has_dump = false;
  while (records.next()) {
    const RecordHead& head = records.head();
    if (head.tag != kHeapDump && head.tag != kHeapDumpSegment) continue;
    has_dump = true;
    const WalkResult result = walk_heap(in, head.end(), redactor);
    redacted->problem = problem_of(result);
    if (redactor.is_cut())
      redacted->problem = "byte " + std::to_string(result.offset) + ": the file ends within an array";
    if (redacted->problem.empty()) continue;
    if (!redactor.is_cut()) redactor.copy_until(result.offset);
    return redactor.finish(error);
  }
  if (!from.error().empty() || !has_dump) {
    *error = has_dump ? from.error() : "has no heap dump";
    return false;
  }
  redacted->problem = records.problem();
  if (redacted->problem.empty())
    redactor.copy_rest();
  else
    redactor.copy_until(records.head().offset);
  return redactor.finish(error);
}

}  // namespace hprof::tool
