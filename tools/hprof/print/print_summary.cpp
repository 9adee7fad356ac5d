#include <cinttypes>
#include <map>
#include <ostream>

#include "tools/format/heap_walker.h"
#include "tools/format/records.h"
#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/view/json_columns.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

struct Count {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

struct DumpCounts {
  Count objects;
  std::map<uint8_t, uint64_t> roots;  // by tag
  uint64_t classes = 0;
};

std::string type_text(uint8_t tag) {
  const char* name = record_name(tag);
  return name == nullptr ? "unknown" : name;
}

class Summary : public HeapVisitor {
 public:
  Summary(Input& in, const PrintOptions& options, std::ostream& out)
      : in_(in), options_(options), out_(out) {}

  bool run(std::string* error) {
    RecordReader records(in_);
    const bool readable = records.begin();
    const FileHeader& header = header_ = records.header();
    if (!readable) {
      *error = header.problem;
      return false;
    }
    print_line(out_, "%s, %" PRIu32 "-byte ids, created %s", header.version.c_str(), header.id_size,
               date_text(header.milliseconds).c_str());
    const RecordHead& head = records.head();
    while (records.next()) {
      auto& totals = records_[head.tag];
      ++totals.count;
      totals.bytes += 9 + head.length;
      record(head, error);
    }
    if (!records.problem().empty()) *error = records.problem();
    if (in_dump_) print_dump();
    print_threads();
    print_records_by_type();
    return error->empty();
  }

  // What was read, but for the tables.
  Section section() const {
    Section section{"binary_file", header_.version};
    section.facts = {data_fact("id_bytes", uint64_t{header_.id_size}),
                     data_fact("created_ms", header_.milliseconds)};
    Table records{
        "records", "", {{"count", "", CellKind::kNumber}, {"bytes", "", CellKind::kNumber}, {"type", ""}}};
    for (const auto& [tag, totals] : records_)
      records.rows.push_back({totals.count, totals.bytes, type_text(tag)});
    Table dumps{"heap_dumps",
                "",
                {{"objects", "", CellKind::kNumber},
                 {"bytes", "", CellKind::kNumber},
                 {"classes", "", CellKind::kNumber}}};
    Table roots{
        "roots", "", {{"heap_dump", "", CellKind::kNumber}, {"count", "", CellKind::kNumber}, {"type", ""}}};
    for (size_t i = 0; i < dumps_.size(); ++i) {
      const DumpCounts& dump = dumps_[i];
      dumps.rows.push_back({dump.objects.count, dump.objects.bytes, dump.classes});
      for (const auto& [tag, count] : dump.roots)
        roots.rows.push_back({uint64_t{i + 1}, count, std::string(root_name(tag))});
    }
    section.tables = {std::move(records), std::move(dumps), std::move(roots)};
    return section;
  }

  void on_root(const RootRecord& root) override { ++dump_.roots[root.tag]; }
  void on_class(const ClassRecord&) override { ++dump_.classes; }
  void on_instance(const InstanceRecord& instance, Input&) override { add_object(instance.byte_count); }
  void on_array(const ArrayRecord& array, Input& in) override {
    add_object(uint64_t{array.length} * width_of(array.type, in.id_size()));
  }

 private:
  void add_object(uint64_t bytes) {
    ++dump_.objects.count;
    dump_.objects.bytes += bytes;
  }

  void record(const RecordHead& head, std::string* error) {
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
        print_line(out_,
                   "\nHEAP SUMMARY: live %" PRIu32 " bytes in %" PRIu32 " objects; allocated %" PRIu64
                   " bytes in %" PRIu64 " objects",
                   live_bytes, live, bytes, count);
        break;
      }
      case kControlSettings: {
        uint32_t flags = in_.u4();
        print_line(out_, "\nCONTROL SETTINGS: allocation traces %s, CPU sampling %s, depth %u",
                   (flags & 1) != 0 ? "on" : "off", (flags & 2) != 0 ? "on" : "off", in_.u2());
        break;
      }
      case kString:
        names_.take(in_, head);
        in_.seek(head.body());
        print_window(names_.string(in_.id()));
        break;
      default:
        names_.take(in_, head);
    }
  }

  // "" if the file lacks the trace.
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

  void print_samples() {
    const SamplesHead samples = read_samples(in_);
    print_line(out_, "\nCPU SAMPLES (total = %" PRIu32 ")\nrank   self  accum   count trace method",
               samples.total);
    double sum = 0;
    SampleRow row;
    for (uint32_t i = 0; i < samples.rows; ++i) {
      if (!read_row(in_, &row)) return;
      double self = samples.total == 0 ? 0 : 100.0 * row.count / samples.total;
      sum += self;
      if (!options_.shows(i)) continue;
      print_line(out_, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu32 " %5" PRIu32 " %s", i + 1, self, sum,
                 row.count, row.trace, top_method(row.trace).c_str());
      print_stack(row.trace);
    }
    options_.print_left_out(out_, samples.rows);
  }

  // The string that says of which window the tables before it are.
  void print_window(std::string_view text) {
    const std::string window = window_text(text);
    if (!window.empty()) print_line(out_, "in the window of %s", window.c_str());
  }

  void print_sites() {
    const SitesHead sites = read_sites(in_);
    const bool by_allocation = sites.is_by_allocation();
    print_line(out_,
               "\nSITES (ordered by %s bytes; live %" PRIu32 " bytes in %" PRIu32
               " objects, allocated %" PRIu64 " bytes in %" PRIu64 " objects)",
               by_allocation ? "allocated" : "live", sites.live_bytes, sites.live_objects, sites.bytes,
               sites.objects);
    print_line(out_, "          percent          live          alloc'ed  stack class");
    print_line(out_, " rank   self  accum     bytes objs     bytes  objs trace name");
    double total = by_allocation ? static_cast<double>(sites.bytes) : sites.live_bytes, sum = 0;
    SiteRow row;
    for (uint32_t i = 0; i < sites.rows; ++i) {
      if (!read_row(in_, &row)) return;
      double self = total <= 0 ? 0 : 100.0 * (by_allocation ? row.bytes : row.live_bytes) / total;
      sum += self;
      if (!options_.shows(i)) continue;
      print_line(out_,
                 "%5" PRIu32 " %5.2f%% %5.2f%% %9" PRIu32 " %4" PRIu32 " %9" PRIu32 " %5" PRIu32 " %5" PRIu32
                 " %s",
                 i + 1, self, sum, row.live_bytes, row.live_objects, row.bytes, row.objects, row.trace,
                 names_.class_name_of_serial(row.class_serial).c_str());
      print_stack(row.trace);
    }
    options_.print_left_out(out_, sites.rows);
  }

  void print_dump() {
    print_line(out_,
               "\nHEAP DUMP: %" PRIu64 " objects, %" PRIu64 " bytes of fields and elements, %" PRIu64
               " classes (see hprof heap)",
               dump_.objects.count, dump_.objects.bytes, dump_.classes);
    std::string roots;
    for (const auto& [tag, count] : dump_.roots) {
      roots += (roots.empty() ? "" : ", ") + std::to_string(count) + " " + root_name(tag);
    }
    print_line(out_, "roots: %s", roots.empty() ? "none" : roots.c_str());
    dumps_.push_back(std::move(dump_));
    dump_ = {};
    in_dump_ = false;
  }

  void print_threads() {
    if (!options_.threads) return;
    print_line(out_, "\nthreads\n  serial  object            name");
    std::map<uint64_t, const StartedThread*> sorted;
    for (const auto& [serial, thread] : names_.threads) sorted[serial] = &thread;
    for (const auto& [serial, thread] : sorted) {
      print_line(out_, "%8" PRIu64 "  %-16" PRIx64 "  %s%s", serial, thread->object,
                 printable(names_.string(thread->name)).c_str(), thread->ended ? " (ended)" : "");
    }
  }

  void print_records_by_type() {
    print_line(out_, "\nrecords\n       count           bytes  type");
    for (const auto& [tag, totals] : records_) {
      print_line(out_, "%12" PRIu64 " %15" PRIu64 "  %s", totals.count, totals.bytes, type_text(tag).c_str());
    }
  }

  Input& in_;
  const PrintOptions& options_;
  std::ostream& out_;
  Definitions names_;
  std::map<uint8_t, Count> records_;
  FileHeader header_;
  DumpCounts dump_;  // that is being read
  std::vector<DumpCounts> dumps_;
  bool in_dump_ = false;
};

}  // namespace

bool print_summary(Input& in, const PrintOptions& options, std::ostream& out, std::string* error) {
  return Summary(in, options, out).run(error);
}

bool json_of_file(Input& in, Section* section, std::string* error) {
  const PrintOptions options;
  std::ostream nowhere(nullptr);
  Summary summary(in, options, nowhere);
  const bool good = summary.run(error);
  *section = summary.section();
  return good;
}

}  // namespace hprof::tool
