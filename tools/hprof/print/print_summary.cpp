// Tables of a binary file.
#include "tools/hprof/print/print_summary.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <map>
#include <ostream>

#include "tools/format/definitions.h"
#include "tools/format/heap_walker.h"
#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

struct Usage {
  std::string name;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

class Summary : public HeapVisitor {
 public:
  Summary(Input& in, const SummaryOptions& options, std::ostream& out)
      : in_(in), options_(options), out_(out) {}

  bool run(std::string* error) {
    FileHeader header;
    if (!read_header(in_, &header)) {
      *error = header.problem;
      return false;
    }
    auto seconds = static_cast<std::time_t>(header.milliseconds / 1000);
    const std::tm* utc = std::gmtime(&seconds);
    char date[64] = "date unknown";
    if (utc != nullptr) std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", utc);
    line("%s, %" PRIu32 "-byte ids, created %s", header.version.c_str(), header.id_size, date);
    RecordHead head{};
    bool cut = false;
    while (read_record_head(in_, &head, &cut)) {
      auto& totals = records_[head.tag];
      ++totals.count;
      totals.bytes += 9 + head.length;
      record(head, error);
      in_.clear_limit();
      in_.seek(head.body());
      if (!in_.skip(head.length)) {
        cut = true;
        break;
      }
    }
    if (cut) *error = "byte " + std::to_string(head.offset) + ": the file ends within a record";
    if (in_dump_) print_dump();
    print_threads();
    print_records_by_type();
    return error->empty();
  }

  void on_root(const RootRecord& root) override { ++roots_[root.tag]; }
  void on_class(const ClassRecord&) override { ++classes_; }
  void on_instance(const InstanceRecord& instance, Input&) override {
    if (instance.class_id != last_class_ || last_usage_ == nullptr) {
      last_class_ = instance.class_id;
      last_usage_ = &by_class_[instance.class_id];
    }
    ++last_usage_->count;
    last_usage_->bytes += instance.byte_count;
  }
  void on_array(const ArrayRecord& array, Input& in) override {
    Usage& usage =
        array.type == HPROF_TYPE_OBJECT ? by_class_[array.class_id] : primitive_arrays_[array.type];
    ++usage.count;
    usage.bytes += uint64_t{array.length} * width_of(array.type, in.id_size());
  }

 private:
  void line(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_ << text << '\n';
  }

  void record(const RecordHead& head, std::string* error) {
    in_.set_limit(head.end());
    switch (head.tag) {
      case kHeapDump:
      case kHeapDumpSegment: {
        if (in_dump_ && head.tag == kHeapDump) print_dump();
        in_dump_ = true;
        WalkResult result = walk_heap(in_, head.end(), *this);
        if (result.end != WalkEnd::kComplete) {
          *error = "byte " + std::to_string(result.offset) + ": unreadable heap sub-record";
        }
        if (head.tag == kHeapDump) print_dump();
        break;
      }
      case kHeapDumpEnd:
        print_dump();
        break;
      case kAllocSites:
        print_sites();
        break;
      case kCpuSamples:
        print_samples();
        break;
      case kHeapSummary: {
        uint32_t live_bytes = in_.u4(), live = in_.u4();
        uint64_t bytes = in_.u8(), count = in_.u8();
        line("\nHEAP SUMMARY: live %" PRIu32 " bytes in %" PRIu32 " objects; allocated %" PRIu64
             " bytes in %" PRIu64 " objects",
             live_bytes, live, bytes, count);
        break;
      }
      case kControlSettings: {
        uint32_t flags = in_.u4();
        line("\nCONTROL SETTINGS: allocation traces %s, CPU sampling %s, depth %u",
             (flags & 1) != 0 ? "on" : "off", (flags & 2) != 0 ? "on" : "off", in_.u2());
        break;
      }
      default:
        names_.take(in_, head);
    }
  }

  // A row may refer to a trace that the file does not have.
  std::string top_method(uint32_t trace) {
    auto found = names_.traces.find(trace);
    if (found == names_.traces.end() || found->second.frames.empty()) return "<empty trace>";
    auto frame = names_.frames.find(found->second.frames[0]);
    return frame == names_.frames.end() ? "<Unknown Method>" : names_.method_text(frame->second);
  }

  void print_stack(uint32_t trace) {
    if (!options_.traces) return;
    auto found = names_.traces.find(trace);
    if (found == names_.traces.end()) return;
    for (uint64_t id : found->second.frames) {
      auto frame = names_.frames.find(id);
      if (frame != names_.frames.end()) out_ << "          " << names_.frame_text(frame->second) << '\n';
    }
  }

  bool shown(uint64_t row) const { return options_.top == 0 || row < options_.top; }
  void print_left_out(uint64_t rows) {
    if (options_.top != 0 && rows > options_.top) line("  ... %" PRIu64 " more", rows - options_.top);
  }

  void print_samples() {
    uint32_t total = in_.u4(), rows = in_.u4();
    line("\nCPU SAMPLES (total = %" PRIu32 ")\nrank   self  accum   count trace method", total);
    double sum = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      uint32_t count = in_.u4(), trace = in_.u4();
      if (!in_.ok()) return;
      double self = total == 0 ? 0 : 100.0 * count / total;
      sum += self;
      if (!shown(i)) continue;
      line("%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu32 " %5" PRIu32 " %s", i + 1, self, sum, count, trace,
           top_method(trace).c_str());
      print_stack(trace);
    }
    print_left_out(rows);
  }

  void print_sites() {
    uint16_t flags = in_.u2();
    in_.u4();
    uint32_t live_bytes = in_.u4(), live = in_.u4();
    uint64_t bytes = in_.u8(), count = in_.u8();
    uint32_t rows = in_.u4();
    bool by_allocation = (flags & 2) != 0;
    line("\nSITES (ordered by %s bytes; live %" PRIu32 " bytes in %" PRIu32 " objects, allocated %" PRIu64
         " bytes in %" PRIu64 " objects)",
         by_allocation ? "allocated" : "live", live_bytes, live, bytes, count);
    line("          percent          live          alloc'ed  stack class");
    line(" rank   self  accum     bytes objs     bytes  objs trace name");
    double total = by_allocation ? static_cast<double>(bytes) : live_bytes, sum = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      in_.u1();
      uint32_t serial = in_.u4(), trace = in_.u4(), a = in_.u4(), b = in_.u4(), c = in_.u4(), d = in_.u4();
      if (!in_.ok()) return;
      double self = total <= 0 ? 0 : 100.0 * (by_allocation ? c : a) / total;
      sum += self;
      if (!shown(i)) continue;
      line("%5" PRIu32 " %5.2f%% %5.2f%% %9" PRIu32 " %4" PRIu32 " %9" PRIu32 " %5" PRIu32 " %5" PRIu32 " %s",
           i + 1, self, sum, a, b, c, d, trace, names_.class_name_of_serial(serial).c_str());
      print_stack(trace);
    }
    print_left_out(rows);
  }

  void print_classes(std::vector<Usage>& list, bool by_bytes) {
    std::sort(list.begin(), list.end(), [&](const Usage& a, const Usage& b) {
      uint64_t x = by_bytes ? a.bytes : a.count, y = by_bytes ? b.bytes : b.count;
      return x != y ? x > y : a.name < b.name;
    });
    line("\ntop classes by %s\n     objects           bytes  class", by_bytes ? "bytes" : "objects");
    for (size_t i = 0; i < list.size() && shown(i); ++i) {
      line("%12" PRIu64 " %15" PRIu64 "  %s", list[i].count, list[i].bytes, list[i].name.c_str());
    }
    print_left_out(list.size());
  }

  void print_dump() {
    std::vector<Usage> list;
    Usage total;
    auto add = [&](std::string name, const Usage& usage) {
      list.push_back({std::move(name), usage.count, usage.bytes});
      total.count += usage.count;
      total.bytes += usage.bytes;
    };
    for (const auto& [id, usage] : by_class_) add(names_.class_name(id), usage);
    for (const auto& [type, usage] : primitive_arrays_) add(std::string(type_name(type)) + "[]", usage);
    line("\nHEAP DUMP: %" PRIu64 " objects, %" PRIu64 " bytes of fields and elements, %" PRIu64 " classes",
         total.count, total.bytes, classes_);
    std::string roots;
    for (const auto& [tag, count] : roots_) {
      roots += (roots.empty() ? "" : ", ") + std::to_string(count) + " " + root_name(tag);
    }
    line("roots: %s", roots.empty() ? "none" : roots.c_str());
    print_classes(list, true);
    print_classes(list, false);
    by_class_.clear();
    primitive_arrays_.clear();
    roots_.clear();
    classes_ = 0;
    last_usage_ = nullptr;
    in_dump_ = false;
  }

  void print_threads() {
    if (!options_.threads) return;
    line("\nthreads\n  serial  object            name");
    std::map<uint64_t, const StartedThread*> sorted;
    for (const auto& [serial, thread] : names_.threads) sorted[serial] = &thread;
    for (const auto& [serial, thread] : sorted) {
      line("%8" PRIu64 "  %-16" PRIx64 "  %s%s", serial, thread->object,
           printable(names_.string(thread->name)).c_str(), thread->ended ? " (ended)" : "");
    }
  }

  void print_records_by_type() {
    line("\nrecords\n       count           bytes  type");
    for (const auto& [tag, totals] : records_) {
      const char* name = record_name(tag);
      line("%12" PRIu64 " %15" PRIu64 "  %s", totals.count, totals.bytes, name == nullptr ? "unknown" : name);
    }
  }

  Input& in_;
  const SummaryOptions& options_;
  std::ostream& out_;
  Definitions names_;
  std::map<uint8_t, Usage> records_;
  IdMap<Usage> by_class_;
  std::map<uint8_t, Usage> primitive_arrays_;
  std::map<uint8_t, uint64_t> roots_;
  uint64_t classes_ = 0;
  uint64_t last_class_ = 0;
  Usage* last_usage_ = nullptr;
  bool in_dump_ = false;
};

}  // namespace

bool print_summary(Input& in, const SummaryOptions& options, std::ostream& out, std::string* error) {
  return Summary(in, options, out).run(error);
}

}  // namespace hprof::tool
