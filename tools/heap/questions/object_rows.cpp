// Follows all paths of a batch of objects at the same time: a reading of the dump for each step.
#include "tools/heap/questions/object_rows.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <unordered_map>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/heap/output/document.h"
#include "tools/heap/read/object_reader.h"
#include "tools/heap/read/object_values.h"

namespace hprof::tool {

namespace {

constexpr size_t kCellsOfBatch = size_t{1} << 18;
constexpr size_t kTextMost = 200;  // characters of a string

// Types of cells besides HPROF_TYPE_*.
constexpr uint8_t kNothing = 0, kNameOfClass = 200, kCount = 201, kId = 202;

struct Cell {
  uint64_t bits = 0;
  uint8_t type = kNothing;
};

// A step of a path at one object.
struct Ask {
  uint32_t object, row;
  uint16_t path;
};
constexpr uint16_t kRowItself = UINT16_MAX;
bool is_before(const Ask& ask, uint32_t object) { return ask.object < object; }

// The class and size of a row's object.
struct RowHead {
  uint32_t class_index = 0;
  uint64_t shallow = 0;
};

struct Batch {
  size_t rows = 0, paths = 0;
  std::vector<Cell> cells;  // by row, then by path
  std::vector<RowHead> heads;
  Cell& cell(const Ask& ask) { return cells[size_t{ask.row} * paths + ask.path]; }
};

// How often each path has found its step, and an example of a class that lacks it.
struct StepCount {
  uint64_t found = 0, missing = 0;
  uint32_t lacking = kNoClass;
  uint8_t primitive = 0;  // the value before the step is none that has fields
};

class StepReader : public HeapVisitor {
 public:
  StepReader(const Snapshot& snapshot, const std::vector<FieldPath>& paths, size_t level,
             const std::vector<Ask>& asks, Batch& batch)
      : counts(paths.size()),
        snapshot_(snapshot),
        classes_(snapshot.outline.classes),
        paths_(paths),
        level_(level),
        asks_(asks),
        batch_(batch),
        single_(snapshot.outline.repeated > 0) {}

  void on_class(const ClassRecord& record) override {
    if (!find(record.id)) return;
    const uint32_t index = classes_.of_mirrors();
    const uint64_t size = shallow_of(classes_.list[index].size);
    for (size_t i = begin_; i < end_; ++i) {
      const Ask& ask = asks_[i];
      if (made(ask, record.id, index, size)) continue;
      const PathStep& step = paths_[ask.path].steps[level_];
      const DumpedField* found = nullptr;
      for (const DumpedField& field : record.statics) {
        if (step.kind == StepKind::kField && snapshot_.outline.names.string(field.name) == step.name)
          found = &field;
      }
      if (found == nullptr) {
        lack(ask, index);
      } else {
        put(ask, {found->value, found->type});
      }
    }
  }

  void on_instance(const InstanceRecord& record, Input& in) override {
    if (!find(record.id)) return;
    const uint32_t index = classes_.known(record.class_id);
    const size_t size = std::min<size_t>(record.byte_count, in.buffer_size());
    const uint8_t* bytes = in.bytes(size);
    const uint64_t shallow = shallow_of(classes_.list[index].size);
    for (size_t i = begin_; i < end_; ++i) {
      const Ask& ask = asks_[i];
      if (made(ask, record.id, index, shallow)) continue;
      const InstanceField& field = field_of(index, ask.path);
      const unsigned width = width_of(field.type, classes_.id_size);
      if (field.type == 0 || bytes == nullptr || field.offset + width > size) {
        lack(ask, index);
      } else {
        put(ask, {big_endian(bytes + field.offset, width), field.type});
      }
    }
  }

  void on_array(const ArrayRecord& record, Input& in) override {
    if (!find(record.id)) return;
    const uint32_t index = classes_.of_array(record);
    elements_.clear();
    const uint64_t shallow = shallow_of(snapshot_.layout.array_size(record.type, record.length));
    for (size_t i = begin_; i < end_; ++i) {
      const Ask& ask = asks_[i];
      if (made(ask, record.id, index, shallow)) continue;
      const PathStep& step = paths_[ask.path].steps[level_];
      if (step.kind == StepKind::kField && step.name == "length") {
        put(ask, {record.length, kCount});
      } else if (step.kind == StepKind::kElement && step.element < record.length) {
        elements_.push_back(i);
      } else if (step.kind == StepKind::kElement) {
        ++counts[ask.path].found;  // a short array has no such element: the cell stays empty
        batch_.cell(ask) = {};
      } else {
        lack(ask, index);
      }
    }
    read_elements(record, in);
  }

  std::vector<StepCount> counts;  // by path

 private:
  // Finds what is asked of the object; the first record of an id counts.
  bool find(uint64_t id) {
    object_ = snapshot_.numbers.number_of(id);
    if (object_ == kNoObject) return false;
    const auto first = std::lower_bound(asks_.begin(), asks_.end(), object_, is_before);
    if (first == asks_.end() || first->object != object_) return false;
    if (single_ && !seen_.insert({object_, true}).second) return false;
    begin_ = static_cast<size_t>(first - asks_.begin());
    for (end_ = begin_; end_ < asks_.size() && asks_[end_].object == object_;) ++end_;
    return true;
  }

  // The object's bytes; `otherwise`: of one that the dominator tree lacks.
  uint64_t shallow_of(uint64_t otherwise) const {
    if (!snapshot_.objects.class_of.empty()) return snapshot_.size_of(object_);
    const uint32_t place = snapshot_.tree.place_of[object_];
    return place == DominatorTree::kUnreached ? otherwise : snapshot_.shallow(place);
  }

  // Answers what needs no value of the object.
  bool made(const Ask& ask, uint64_t id, uint32_t index, uint64_t shallow) {
    if (ask.path == kRowItself) {
      batch_.heads[ask.row] = {index, shallow};
      return true;
    }
    const uint32_t place =
        snapshot_.tree.place_of.empty() ? DominatorTree::kUnreached : snapshot_.tree.place_of[object_];
    switch (paths_[ask.path].steps[level_].kind) {
      case StepKind::kClassName:
        put(ask, {index, kNameOfClass});
        return true;
      case StepKind::kId:
        put(ask, {id, kId});
        return true;
      case StepKind::kOwnBytes:
        put(ask, {shallow, kCount});
        return true;
      case StepKind::kRetainedBytes:
        put(ask, place == DominatorTree::kUnreached ? Cell{} : Cell{snapshot_.retained(place), kCount});
        return true;
      default:
        return false;
    }
  }

  void put(const Ask& ask, Cell cell) {
    ++counts[ask.path].found;
    batch_.cell(ask) = cell;
  }
  void lack(const Ask& ask, uint32_t index) {
    ++counts[ask.path].missing;
    counts[ask.path].lacking = std::min(counts[ask.path].lacking, index);
    batch_.cell(ask) = {};
  }

  // The field of a path's step in instances of a class; type 0: there is none.
  const InstanceField& field_of(uint32_t index, uint16_t path) {
    const auto [known, fresh] = fields_.try_emplace(uint64_t{index} << 16 | path, InstanceField{0, 0, 0, 0});
    const PathStep& step = paths_[path].steps[level_];
    if (fresh && step.kind == StepKind::kField) {
      for (const InstanceField& field : classes_.instance_fields(index, UINT32_MAX)) {
        if (snapshot_.outline.names.string(field.name) != step.name) continue;
        known->second = field;
        break;
      }
    }
    return known->second;
  }

  void read_elements(const ArrayRecord& record, Input& in) {
    std::sort(elements_.begin(), elements_.end(), [&](size_t a, size_t b) {
      return paths_[asks_[a].path].steps[level_].element < paths_[asks_[b].path].steps[level_].element;
    });
    const unsigned width = width_of(record.type, in.id_size());
    uint64_t at = 0, bits = 0;  // elements read; the last of them
    for (const size_t i : elements_) {
      const uint64_t element = paths_[asks_[i].path].steps[level_].element;
      if (element >= at) {
        if (!in.skip((element - at) * width)) return;
        bits = in.value(width);
        at = element + 1;
      }
      put(asks_[i], {bits, record.type});
    }
  }

  const Snapshot& snapshot_;
  const HeapClasses& classes_;
  const std::vector<FieldPath>& paths_;
  size_t level_;
  const std::vector<Ask>& asks_;  // by object
  Batch& batch_;
  bool single_;
  uint32_t object_ = kNoObject;
  size_t begin_ = 0, end_ = 0;  // of the object's in asks_
  std::vector<size_t> elements_;
  std::unordered_map<uint64_t, InstanceField, IdHash> fields_;
  std::unordered_map<uint32_t, bool> seen_;
};

std::string id_text(uint64_t id) { return value_text(HPROF_TYPE_OBJECT, id); }

class RowWriter {
 public:
  RowWriter(const Snapshot& snapshot, const BitArray& strings, const RowRequest& request, std::ostream& out)
      : snapshot_(snapshot),
        strings_(strings),
        request_(request),
        out_(out),
        counts_(request.paths.size(), std::vector<StepCount>(kMostSteps)) {}

  std::string write(const std::vector<uint32_t>& objects, std::vector<std::string>* notes) {
    // Each batch reads a compressed dump from its start.
    const size_t cells = snapshot_.outline.seekable ? kCellsOfBatch : 8 * kCellsOfBatch;
    const size_t step = std::max<size_t>(1024, cells / (request_.paths.size() + 1));
    for (size_t first = 0; first < objects.size(); first += step) {
      const size_t rows = std::min(step, objects.size() - first);
      Batch batch;
      fill(objects, first, rows, &batch);
      std::string problem = first == 0 ? unknown_step() : "";
      if (!problem.empty()) return problem;
      if (first == 0) write_titles();
      write_batch(objects, first, batch);
      if (!out_) return "cannot write the result";
    }
    return unknown_step_after(notes);
  }

 private:
  void fill(const std::vector<uint32_t>& objects, size_t first, size_t rows, Batch* batch) {
    batch->rows = rows;
    batch->paths = request_.paths.size();
    batch->cells.resize(rows * batch->paths);
    batch->heads.resize(rows);
    std::vector<Ask> asks;
    for (uint32_t row = 0; row < rows; ++row) {
      asks.push_back({objects[first + row], row, kRowItself});
      for (size_t path = 0; path < batch->paths; ++path)
        asks.push_back({objects[first + row], row, static_cast<uint16_t>(path)});
    }
    for (size_t level = 0; !asks.empty(); ++level) {
      std::sort(asks.begin(), asks.end(), [](const Ask& a, const Ask& b) {
        return a.object != b.object ? a.object < b.object : a.row != b.row ? a.row < b.row : a.path < b.path;
      });
      read(level, asks, batch);
      asks = follow(level, asks, batch);
    }
  }

  void read(size_t level, const std::vector<Ask>& asks, Batch* batch) {
    const StepReader reader(snapshot_, request_.paths, level, asks, *batch);
    const auto wanted = [&](const DumpPiece& piece) {
      const auto next = std::lower_bound(asks.begin(), asks.end(), piece.lowest, is_before);
      return next != asks.end() && next->object <= piece.highest;
    };
    for (const StepReader& each : read_by_all(snapshot_, reader, wanted)) {
      for (size_t path = 0; path < each.counts.size(); ++path) {
        StepCount& sum = counts_[path][level];
        sum.found += each.counts[path].found;
        sum.missing += each.counts[path].missing;
        sum.lacking = std::min(sum.lacking, each.counts[path].lacking);
      }
    }
  }

  // What the next steps of the paths ask.
  std::vector<Ask> follow(size_t level, const std::vector<Ask>& asks, Batch* batch) {
    std::vector<Ask> next;
    for (const Ask& ask : asks) {
      if (ask.path == kRowItself || request_.paths[ask.path].steps.size() == level + 1) continue;
      Cell& cell = batch->cell(ask);
      if (cell.type == HPROF_TYPE_OBJECT && cell.bits != 0) {
        const uint32_t object = snapshot_.numbers.number_of(cell.bits);
        if (object != kNoObject) next.push_back({object, ask.row, ask.path});
      } else if (cell.type != kNothing && cell.type != HPROF_TYPE_OBJECT) {
        StepCount& count = counts_[ask.path][level + 1];
        ++count.missing;
        count.primitive = cell.type;
      }
      cell = {};
    }
    return next;
  }

  std::string problem_of(const FieldPath& path, size_t level, const StepCount& count) const {
    const PathStep& step = path.steps[level];
    if (count.primitive != 0) {
      const std::string of(count.primitive < kNameOfClass ? type_name(count.primitive) : "number");
      return marked(path.text, step.begin, "the value before it is of type " + of);
    }
    const std::string owner = count.lacking == kNoClass ? "" : snapshot_.class_name(count.lacking);
    if (step.kind == StepKind::kElement) return marked(path.text, step.begin, owner + " is no array");
    return marked(path.text, step.begin,
                  owner + " has no field " + printable(step.name) + fields_of(count.lacking));
  }

  std::string fields_of(uint32_t index) const {
    const HeapClass& of = snapshot_.outline.classes.list[index];
    std::string text = of.is_array() ? "length, [0]" : "";
    if (!of.is_array()) {
      constexpr size_t kShown = 12;
      size_t count = 0;
      for (const InstanceField& field : snapshot_.outline.classes.instance_fields(index, of.most_values)) {
        if (count++ == kShown) text += ", ...";
        if (count > kShown) break;
        text += (text.empty() ? "" : ", ") + printable(snapshot_.outline.names.string(field.name));
      }
    }
    return text.empty() ? "" : "; it has " + text;
  }

  // The first step that every object so far has lacked.
  std::string unknown_step() const {
    for (size_t path = 0; path < counts_.size(); ++path) {
      for (size_t level = 0; level < request_.paths[path].steps.size(); ++level) {
        const StepCount& count = counts_[path][level];
        if (count.missing != 0 && count.found == 0) return problem_of(request_.paths[path], level, count);
      }
    }
    return "";
  }
  std::string unknown_step_after(std::vector<std::string>* notes) const {
    for (size_t path = 0; path < counts_.size(); ++path) {
      for (size_t level = 0; level < request_.paths[path].steps.size(); ++level) {
        const StepCount& count = counts_[path][level];
        if (count.missing == 0 || count.found == 0) continue;
        notes->push_back(problem_of(request_.paths[path], level, count) + "\n(" + count_text(count.missing) +
                         (count.missing == 1 ? " row has" : " rows have") + " an empty cell for that)");
      }
    }
    return unknown_step();
  }

  // The texts of the strings that cells refer to: numbers in order, and a text for each.
  void read_texts(const Batch& batch) {
    shown_.clear();
    for (const Cell& cell : batch.cells) {
      const uint32_t object = string_of(cell);
      if (object != kNoObject) shown_.push_back(object);
    }
    sort_numbers(&shown_);
    texts_ = ObjectFetcher(snapshot_).texts(shown_, kTextMost);
  }
  uint32_t string_of(const Cell& cell) const {
    if (cell.type != HPROF_TYPE_OBJECT || cell.bits == 0) return kNoObject;
    const uint32_t object = snapshot_.numbers.number_of(cell.bits);
    return object != kNoObject && strings_.get(object) ? object : kNoObject;
  }

  void write_titles() {
    if (request_.json) return;
    out_ << "object,class,shallow_bytes" << (request_.retained ? ",retained_bytes" : "");
    for (const FieldPath& path : request_.paths) out_ << ',' << csv(path.text);
    out_ << '\n';
  }

  void write_batch(const std::vector<uint32_t>& objects, size_t first, const Batch& batch) {
    read_texts(batch);
    for (size_t row = 0; row < batch.rows; ++row) {
      const uint32_t object = objects[first + row];
      const uint32_t place = request_.retained ? snapshot_.tree.place_of[object] : DominatorTree::kUnreached;
      std::string line;
      auto add = [&](const std::string& name, const std::string& value, bool text) {
        if (request_.json) {
          line += (line.empty() ? "{" : ",") + json_string(name) + ":" +
                  (text            ? json_string(value)
                   : value.empty() ? "null"
                                   : value);
        } else {
          line += (line.empty() ? "" : ",") + (text ? csv(value) : value);
        }
      };
      add("object", id_text(snapshot_.numbers.id_of(object)), true);
      add("class", snapshot_.class_name(batch.heads[row].class_index), true);
      add("shallow_bytes", std::to_string(batch.heads[row].shallow), false);
      if (request_.retained) {
        const bool reached = place != DominatorTree::kUnreached;
        add("retained_bytes", reached ? std::to_string(snapshot_.retained(place)) : "", false);
      }
      for (size_t path = 0; path < batch.paths; ++path) {
        bool text = false;
        const std::string value = value_of(batch.cells[row * batch.paths + path], &text);
        add(request_.paths[path].text, value, text);
      }
      out_ << line << (request_.json ? "}\n" : "\n");
    }
  }

  // A cell as it is written; "" and not *text: nothing.
  std::string value_of(const Cell& cell, bool* text) const {
    switch (cell.type) {
      case kNothing:
        return "";
      case kCount:
        return std::to_string(cell.bits);
      case kNameOfClass:
        *text = true;
        return snapshot_.class_name(static_cast<uint32_t>(cell.bits));
      case kId:
        *text = true;
        return id_text(cell.bits);
      case HPROF_TYPE_OBJECT: {
        if (cell.bits == 0) return "";
        *text = true;
        const uint32_t string = string_of(cell);
        if (string == kNoObject) return id_text(cell.bits);
        const auto at = std::lower_bound(shown_.begin(), shown_.end(), string);
        return texts_[static_cast<size_t>(at - shown_.begin())];
      }
      case HPROF_TYPE_CHAR:
        *text = true;
        return utf8_of({static_cast<uint16_t>(cell.bits)});
      case HPROF_TYPE_FLOAT:
      case HPROF_TYPE_DOUBLE:  // neither JSON nor SQL has a number for infinity
        return std::isfinite(real_value(cell.type, cell.bits)) ? value_text(cell.type, cell.bits) : "";
      default:
        return value_text(cell.type, cell.bits);
    }
  }
  // An empty text is not the same as no value.
  static std::string csv(const std::string& text) { return text.empty() ? "\"\"" : csv_text(text); }

  const Snapshot& snapshot_;
  const BitArray& strings_;
  const RowRequest& request_;
  std::ostream& out_;
  std::vector<std::vector<StepCount>> counts_;  // by path, then by step
  std::vector<uint32_t> shown_;
  std::vector<std::string> texts_;
};

}  // namespace

BitArray strings_of(const Snapshot& snapshot, MemoryBudget& budget) {
  BitArray strings;
  const uint32_t wanted = snapshot.outline.classes.string_class;
  const auto count = static_cast<uint32_t>(snapshot.numbers.size());
  strings.allocate(budget, count);
  if (wanted == kNoClass || strings.empty()) return strings;
  for (uint32_t object = 0; object < count; ++object) {
    if (snapshot.class_of(object) == wanted) strings.set(object);
  }
  return strings;
}

std::string write_rows(const Snapshot& snapshot, const std::vector<uint32_t>& objects,
                       const BitArray& strings, const RowRequest& request, std::ostream& out,
                       std::vector<std::string>* notes) {
  return RowWriter(snapshot, strings, request, out).write(objects, notes);
}

}  // namespace hprof::tool
