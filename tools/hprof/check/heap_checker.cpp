// Two readings of a heap dump: ids and layouts, then sizes and references.
#include "tools/hprof/check/heap_checker.h"

#include <cinttypes>
#include <set>

namespace hprof::tool {

// Collects ids and layouts, and checks each sub-record by itself.
class HeapChecker::FirstReading : public HeapVisitor {
 public:
  explicit FirstReading(HeapChecker& checker) : checker_(checker), log_(checker.log_) {}

  void on_root(const RootRecord& root) override {
    if (root.tag == kRootThreadObject) {
      checker_.root_threads_.emplace(root.thread, root.offset);
      trace(root.number, root.offset);
      return;
    }
    bool of_thread = root.tag == kRootJniLocal || root.tag == kRootJavaFrame ||
                     root.tag == kRootNativeStack || root.tag == kRootThreadBlock;
    if (of_thread && checker_.root_threads_.count(root.thread) == 0) {
      log_.report(Rule::kRootThread, root.offset,
                  "ROOT %s of thread %" PRIu32 ", expected a ROOT THREAD OBJECT of that thread before it",
                  root_name(root.tag), root.thread);
    }
  }

  void on_class(const ClassRecord& dumped) override {
    object(dumped.id, dumped.offset, Rule::kClassTwice, "class");
    trace(dumped.trace, dumped.offset);
    if (checker_.definitions_.class_serials.count(dumped.id) == 0) {
      checker_.missing_classes_.emplace(dumped.id, dumped.offset);
    }
    std::string name = checker_.definitions_.class_name(dumped.id);
    bool is_array = name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0;
    Layout layout{dumped.offset, dumped.super, dumped.instance_size, State::kNew, is_array, 0, 0, {}, 0,
                  nullptr};
    unsigned id_size = checker_.in_.id_size();
    uint32_t gap = 0;
    for (const DumpedField& field : dumped.fields) {
      string(field.name, dumped.offset);
      layout.own_size += width_of(field.type, id_size);
      if (field.type == HPROF_TYPE_OBJECT) {
        layout.gaps.push_back(gap);
        gap = 0;
      } else {
        gap += width_of(field.type, id_size);
      }
    }
    layout.lead = gap;
    for (const DumpedField& field : dumped.statics) string(field.name, dumped.offset);
    checker_.layouts_[dumped.id] = std::move(layout);
  }

  void on_instance(const InstanceRecord& instance, Input&) override {
    object(instance.id, instance.offset, Rule::kObjectTwice, "instance");
    trace(instance.trace, instance.offset);
  }

  void on_array(const ArrayRecord& array, Input&) override {
    object(array.id, array.offset, Rule::kObjectTwice, "array");
    trace(array.trace, array.offset);
  }

 private:
  void object(uint64_t id, uint64_t offset, Rule twice, const char* what) {
    if (id == 0) {
      log_.report(Rule::kObjectZero, offset, "%s with id 0", what);
    } else if (!checker_.objects_.insert(id)) {
      log_.report(twice, offset, "%s 0x%" PRIx64 " was dumped before", what, id);
    }
  }

  void trace(uint32_t serial, uint64_t offset) {
    if (serial == last_trace_) return;
    last_trace_ = serial;
    if (serial != 0 && checker_.definitions_.traces.count(serial) == 0) {
      checker_.missing_traces_.emplace(serial, offset);
    }
  }

  void string(uint64_t id, uint64_t offset) {
    if (checker_.definitions_.strings.count(id) == 0) checker_.missing_strings_.emplace(id, offset);
  }

  HeapChecker& checker_;
  ProblemLog& log_;
  uint32_t last_trace_ = 0;
};

// Checks sizes against layouts and every reference against the ids.
class HeapChecker::SecondReading : public HeapVisitor {
 public:
  explicit SecondReading(HeapChecker& checker) : checker_(checker), log_(checker.log_) {}

  void on_root(const RootRecord& root) override {
    if (root.object == 0) {
      log_.report(Rule::kRootZero, root.offset, "ROOT %s of object 0", root_name(root.tag));
    } else if (!checker_.objects_.contains(root.object)) {
      log_.report(Rule::kRoot, root.offset, "ROOT %s of 0x%" PRIx64 ", expected the id of a dumped object",
                  root_name(root.tag), root.object);
    }
  }

  void on_class(const ClassRecord& dumped) override {
    owner_ = dumped.id;
    reference(dumped.super, dumped.offset, "super class");
    reference(dumped.loader, dumped.offset, "class loader");
    reference(dumped.signers, dumped.offset, "signers");
    reference(dumped.domain, dumped.offset, "protection domain");
    for (const DumpedConstant& constant : dumped.constants) {
      if (constant.type == HPROF_TYPE_OBJECT) reference(constant.value, dumped.offset, "constant of class");
    }
    for (const DumpedField& field : dumped.statics) {
      if (field.type != HPROF_TYPE_OBJECT) continue;
      what_ = "static field ";
      if (field.value != 0) what_ += checker_.definitions_.string(field.name);
      reference(field.value, dumped.offset, what_.c_str());
    }
  }

  void on_instance(const InstanceRecord& instance, Input& in) override {
    const Layout* layout = layout_of(instance.class_id);
    if (layout == nullptr) {
      log_.report(Rule::kInstanceClass, instance.offset,
                  "instance 0x%" PRIx64 " of class 0x%" PRIx64 " (%s), expected a CLASS DUMP of it",
                  instance.id, instance.class_id,
                  checker_.definitions_.class_name(instance.class_id).c_str());
      return;
    }
    if (layout->state != State::kDone) return;
    if (layout->size != instance.byte_count) {
      log_.report(Rule::kInstanceSize, instance.offset,
                  "instance 0x%" PRIx64 " of %s has %" PRIu32 " bytes, expected %" PRIu64, instance.id,
                  checker_.definitions_.class_name(instance.class_id).c_str(), instance.byte_count,
                  layout->size);
      return;
    }
    owner_ = instance.class_id;
    uint64_t lead = 0;
    for (; layout != nullptr; lead = layout->lead, layout = layout->next) {
      for (uint32_t gap : layout->gaps) {
        if (!in.skip(lead + gap)) return;
        lead = 0;
        uint64_t value = in.id();
        if (value != 0) reference(value, in.offset() - in.id_size(), "field");
      }
    }
  }

  void on_array(const ArrayRecord& array, Input& in) override {
    if (array.type != HPROF_TYPE_OBJECT) return;
    if (layout_of(array.class_id) == nullptr) {
      log_.report(Rule::kArrayClass, array.offset,
                  "array 0x%" PRIx64 " of class 0x%" PRIx64 " (%s), expected a CLASS DUMP of it", array.id,
                  array.class_id, checker_.definitions_.class_name(array.class_id).c_str());
    }
    owner_ = array.class_id;
    for (uint32_t i = 0; i < array.length && in.ok(); ++i) {
      uint64_t value = in.id();
      if (value != 0) reference(value, in.offset() - in.id_size(), "element");
    }
  }

 private:
  void reference(uint64_t value, uint64_t offset, const char* what) {
    if (value == 0 || checker_.objects_.contains(value)) return;
    log_.report(Rule::kReference, offset,
                "%s of %s is 0x%" PRIx64 ", expected 0 or the id of a dumped object", what,
                checker_.definitions_.class_name(owner_).c_str(), value);
  }

  const Layout* layout_of(uint64_t class_id) {
    if (class_id != last_class_ || last_layout_ == nullptr) {
      auto found = checker_.layouts_.find(class_id);
      last_class_ = class_id;
      last_layout_ = found == checker_.layouts_.end() ? nullptr : &found->second;
    }
    return last_layout_;
  }

  HeapChecker& checker_;
  ProblemLog& log_;
  uint64_t owner_ = 0;
  uint64_t last_class_ = 0;
  const Layout* last_layout_ = nullptr;
  std::string what_;
};

HeapChecker::HeapChecker(Input& in, ProblemLog& log, const Definitions& definitions)
    : in_(in), log_(log), definitions_(definitions) {}

void HeapChecker::add_segment(const RecordHead& head) {
  segments_.push_back({head.body(), head.end()});
  FirstReading reading(*this);
  report_walk(walk_heap(in_, head.end(), reading), head.end());
}

void HeapChecker::report_walk(const WalkResult& result, uint64_t end) {
  switch (result.end) {
    case WalkEnd::kComplete:
      break;
    case WalkEnd::kOverrun:
      log_.report(Rule::kHeapOverrun, result.offset,
                  "sub-record 0x%02x does not end within its record, which ends at byte %" PRIu64,
                  result.value, end);
      break;
    case WalkEnd::kUnknownTag:
      log_.report(Rule::kHeapTag, result.offset,
                  "sub-record tag 0x%02x, expected a known one; the rest of the record is not read",
                  result.value);
      break;
    case WalkEnd::kBadType:
      log_.report(Rule::kHeapType, result.offset,
                  "basic type %u, expected 2 or 4 to 11; the rest of the record is not read", result.value);
      break;
  }
}

void HeapChecker::finish() {
  for (auto& entry : layouts_) resolve_from(entry.first);
  check_dumped_classes();
  SecondReading reading(*this);
  for (const Segment& segment : segments_) {
    in_.clear_limit();
    if (in_.seek(segment.start)) walk_heap(in_, segment.end, reading);
  }
  segments_.clear();
  layouts_.clear();
  objects_.clear();
}

// Superclasses first, without recursion, since a hostile file may have a very long chain.
void HeapChecker::resolve_from(uint64_t id) {
  std::vector<uint64_t> chain;
  while (id != 0) {
    auto found = layouts_.find(id);
    if (found == layouts_.end() || found->second.state != State::kNew) break;
    found->second.state = State::kWorking;
    chain.push_back(id);
    id = found->second.super;
  }
  for (size_t i = chain.size(); i-- > 0;) resolve_one(chain[i], layouts_.find(chain[i])->second);
}

void HeapChecker::resolve_one(uint64_t id, Layout& layout) {
  layout.state = State::kBroken;
  layout.size = layout.own_size;
  if (layout.super != 0) {
    auto found = layouts_.find(layout.super);
    if (found == layouts_.end() || found->second.state == State::kWorking) {
      log_.report(Rule::kClassSuper, layout.offset, "super class 0x%" PRIx64 " of %s %s", layout.super,
                  definitions_.class_name(id).c_str(),
                  found == layouts_.end() ? "has no CLASS DUMP" : "is also its subclass");
      return;
    }
    const Layout& super = found->second;
    if (super.state == State::kBroken) return;
    layout.size += super.size;
    if (super.gaps.empty()) {
      layout.lead += super.lead;
      layout.next = super.next;
    } else {
      layout.next = &super;
    }
  }
  layout.state = State::kDone;
  // Array classes have no fields; writers disagree about their instance size.
  if (!layout.is_array && layout.size != layout.instance_size) {
    log_.report(layout.instance_size == 0 ? Rule::kClassSizeZero : Rule::kClassSize, layout.offset,
                "class %s has an instance size of %" PRIu32 ", expected %" PRIu64 ", the sum of its fields",
                definitions_.class_name(id).c_str(), layout.instance_size, layout.size);
  }
}

void HeapChecker::check_dumped_classes() {
  std::set<std::string> names;
  for (const auto& entry : layouts_) names.insert(definitions_.class_name(entry.first));
  uint64_t offset = segments_.empty() ? 0 : segments_.front().start;
  for (const char* name : {"java.lang.Class", "java.lang.ClassLoader"}) {
    if (names.count(name) == 0) log_.report(Rule::kDumpClassesMat, offset, "no CLASS DUMP of %s", name);
  }
  for (const char* name : {"java.lang.Class", "java.lang.Object", "boolean[]", "char[]", "float[]",
                           "double[]", "byte[]", "short[]", "int[]", "long[]"}) {
    if (names.count(name) == 0) log_.report(Rule::kDumpClassesVisualvm, offset, "no CLASS DUMP of %s", name);
  }
  std::set<uint32_t> missing;  // in the same order on every machine
  for (const auto& entry : definitions_.classes) {
    if (!entry.second.unloaded && layouts_.count(entry.second.id) == 0) missing.insert(entry.second.serial);
  }
  for (const uint32_t serial : missing) {
    log_.report(Rule::kClassNotDumped, offset, "no CLASS DUMP of the loaded class %s (serial %" PRIu32 ")",
                definitions_.class_name_of_serial(serial).c_str(), serial);
  }
}

}  // namespace hprof::tool
