#include <cinttypes>
#include <cstdio>
#include <ostream>

#include "tools/format/heap_walker.h"
#include "tools/format/records.h"
#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/hprof/print/print.h"

namespace hprof::tool {

namespace {

// In quotes, with quotes and control characters escaped.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '"' || c == '\\') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

class RecordPrinter : public HeapVisitor {
 public:
  RecordPrinter(Input& in, std::ostream& out) : in_(in), out_(out) {}

  bool run(std::string* error) {
    RecordReader records(in_);
    const bool readable = records.begin();
    const FileHeader& header = records.header();
    if (!readable) {
      *error = header.problem;
      return false;
    }
    print_line(out_, "%s, %" PRIu32 "-byte ids, %" PRIu64 " ms since 1970", header.version.c_str(),
               header.id_size, header.milliseconds);
    while (records.next()) record(records.head(), error);
    if (!records.problem().empty()) *error = records.problem();
    return error->empty();
  }

  void on_root(const RootRecord& root) override {
    print_line(out_, "  ROOT %s 0x%" PRIx64 " reference=0x%" PRIx64 " thread=%" PRIu32 " number=%" PRId32,
               root_name(root.tag), root.object, root.reference, root.thread,
               static_cast<int32_t>(root.number));
  }

  void on_class(const ClassRecord& dumped) override {
    print_line(out_,
               "  CLASS DUMP 0x%" PRIx64 " %s trace=%" PRIu32 " super=0x%" PRIx64 " loader=0x%" PRIx64
               " signers=0x%" PRIx64 " domain=0x%" PRIx64 " size=%" PRIu32,
               dumped.id, names_.class_name(dumped.id).c_str(), dumped.trace, dumped.super, dumped.loader,
               dumped.signers, dumped.domain, dumped.instance_size);
    for (const DumpedConstant& constant : dumped.constants) {
      print_line(out_, "    constant %u = %s", constant.index,
                 value_text(constant.type, constant.value).c_str());
    }
    for (const DumpedField& field : dumped.statics) {
      print_line(out_, "    static %s %s = %s", type_name(field.type), name(field.name).c_str(),
                 value_text(field.type, field.value).c_str());
    }
    Layout& layout = layouts_[dumped.id];
    layout.super = dumped.super;
    layout.fields.clear();
    for (const DumpedField& field : dumped.fields) {
      print_line(out_, "    field %s %s", type_name(field.type), name(field.name).c_str());
      layout.fields.push_back({field.name, field.type, 0});
    }
  }

  void on_instance(const InstanceRecord& instance, Input& in) override {
    print_line(out_, "  INSTANCE 0x%" PRIx64 " %s trace=%" PRIu32 " bytes=%" PRIu32, instance.id,
               names_.class_name(instance.class_id).c_str(), instance.trace, instance.byte_count);
    uint64_t end = in.offset() + instance.byte_count;
    auto layout = layouts_.find(instance.class_id);
    // Bounded, since superclasses may form a circle.
    for (unsigned depth = 0; layout != layouts_.end() && in.offset() < end && depth < kDeepest; ++depth) {
      for (const DumpedField& field : layout->second.fields) {
        unsigned size = width_of(field.type, in.id_size());
        if (end - in.offset() < size) return;
        print_line(out_, "    %s %s = %s", type_name(field.type), name(field.name).c_str(),
                   value_text(field.type, in.value(size)).c_str());
      }
      layout = layouts_.find(layout->second.super);
    }
  }

  void on_array(const ArrayRecord& array, Input& in) override {
    bool objects = array.type == HPROF_TYPE_OBJECT;
    std::string type =
        objects ? names_.class_name(array.class_id) : std::string(type_name(array.type)) + "[]";
    print_line(out_, "  ARRAY 0x%" PRIx64 " %s trace=%" PRIu32 " length=%" PRIu32, array.id, type.c_str(),
               array.trace, array.length);
    unsigned size = width_of(array.type, in.id_size());
    std::string row;
    for (uint32_t i = 0; i < array.length && in.ok(); ++i) {
      row += (row.empty() ? "    " : " ") + value_text(array.type, in.value(size));
      if (row.size() < 100 && i + 1 < array.length) continue;
      out_ << row << '\n';
      row.clear();
    }
  }

 private:
  static constexpr unsigned kDeepest = 256;  // supers
  struct Layout {
    uint64_t super;
    std::vector<DumpedField> fields;
  };

  std::string name(uint64_t id) {
    std::string_view text = names_.string(id);
    char number[32];
    std::snprintf(number, sizeof number, "string 0x%" PRIx64, id);
    return text.empty() ? std::string(number) : printable(text);
  }

  void record(const RecordHead& head, std::string* error) {
    const char* what = record_name(head.tag);
    char start[80];
    std::snprintf(start, sizeof start, "@%" PRIu64 " %" PRIu32 " us ", head.offset, head.time);
    out_ << start;
    if (what == nullptr) return print_line(out_, "tag 0x%02x, %" PRIu64 " bytes", head.tag, head.length);
    out_ << what << ' ';
    bool definition = names_.take(in_, head);
    in_.set_limit(head.end());
    in_.seek(head.body());
    if (definition) return print_definition(head);
    switch (head.tag) {
      case kHeapDump:
      case kHeapDumpSegment: {
        print_line(out_, "%" PRIu64 " bytes", head.length);
        WalkResult result = walk_heap(in_, head.end(), *this);
        if (result.end != WalkEnd::kComplete) {
          *error = "byte " + std::to_string(result.offset) + ": unreadable heap sub-record";
        }
        return;
      }
      case kAllocSites:
        return print_sites();
      case kCpuSamples:
        return print_samples();
      case kHeapSummary: {
        uint32_t live_bytes = in_.u4(), live = in_.u4();
        uint64_t bytes = in_.u8(), count = in_.u8();
        return print_line(out_,
                          "live %" PRIu32 " bytes %" PRIu32 " objects, allocated %" PRIu64 " bytes %" PRIu64
                          " objects",
                          live_bytes, live, bytes, count);
      }
      case kControlSettings: {
        uint32_t flags = in_.u4();
        return print_line(out_, "flags=0x%" PRIx32 " depth=%u", flags, in_.u2());
      }
      case kHeapDumpEnd:
        return print_line(out_, "%s", "");
      default:
        return print_line(out_, "%" PRIu64 " bytes, not readable", head.length);
    }
  }

  void print_definition(const RecordHead& head) {
    switch (head.tag) {
      case kString: {
        uint64_t id = in_.id();
        out_ << "0x" << std::hex << id << std::dec << ' ' << quoted(names_.string(id)) << '\n';
        return;
      }
      case kLoadClass: {
        const LoadedClass& loaded = names_.classes[in_.u4()];
        return print_line(out_, "%" PRIu32 " 0x%" PRIx64 " %s trace=%" PRIu32, loaded.serial, loaded.id,
                          names_.class_name_of_serial(loaded.serial).c_str(), loaded.trace);
      }
      case kFrame: {
        uint64_t id = in_.id();
        const StackFrame& frame = names_.frames[id];
        return print_line(out_, "0x%" PRIx64 " %s %s", id, names_.frame_text(frame).c_str(),
                          name(frame.signature).c_str());
      }
      case kTrace: {
        uint32_t serial = in_.u4();
        const StackTrace& trace = names_.traces[serial];
        print_line(out_, "%" PRIu32 " thread=%" PRIu32, serial, trace.thread);
        for (uint64_t id : trace.frames) {
          auto frame = names_.frames.find(id);
          if (frame == names_.frames.end()) {
            print_line(out_, "  frame 0x%" PRIx64, id);
          } else {
            print_line(out_, "  %s", names_.frame_text(frame->second).c_str());
          }
        }
        return;
      }
      case kStartThread: {
        uint32_t serial = in_.u4();
        const StartedThread& thread = names_.threads[serial];
        print_line(out_, "%" PRIu32 " 0x%" PRIx64 " trace=%" PRIu32 " %s", serial, thread.object,
                   thread.trace, quoted(names_.string(thread.name)).c_str());
        return;
      }
      default:
        return print_line(out_, "%" PRIu32, in_.u4());  // a serial number (UNLOAD CLASS, END THREAD)
    }
  }

  void print_sites() {
    const SitesHead sites = read_sites(in_);
    print_line(out_,
               "flags=0x%x cutoff=%s live %" PRIu32 " bytes %" PRIu32 " objects, allocated %" PRIu64
               " bytes %" PRIu64 " objects, %" PRIu32 " sites",
               sites.flags, value_text(HPROF_TYPE_FLOAT, sites.cutoff).c_str(), sites.live_bytes,
               sites.live_objects, sites.bytes, sites.objects, sites.rows);
    SiteRow row;
    for (uint32_t i = 0; i < sites.rows && read_row(in_, &row); ++i) {
      print_line(out_,
                 "  array=%u %s trace=%" PRIu32 " live %" PRIu32 " bytes %" PRIu32
                 " objects, allocated %" PRIu32 " bytes %" PRIu32 " objects",
                 row.array, names_.class_name_of_serial(row.class_serial).c_str(), row.trace, row.live_bytes,
                 row.live_objects, row.bytes, row.objects);
    }
  }

  void print_samples() {
    const SamplesHead samples = read_samples(in_);
    print_line(out_, "total=%" PRIu32 ", %" PRIu32 " traces", samples.total, samples.rows);
    SampleRow row;
    for (uint32_t i = 0; i < samples.rows && read_row(in_, &row); ++i)
      print_line(out_, "  %" PRIu32 " trace=%" PRIu32, row.count, row.trace);
  }

  Input& in_;
  std::ostream& out_;
  Definitions names_;
  IdMap<Layout> layouts_;
};

}  // namespace

bool print_records(Input& in, std::ostream& out, std::string* error) {
  return RecordPrinter(in, out).run(error);
}

}  // namespace hprof::tool
