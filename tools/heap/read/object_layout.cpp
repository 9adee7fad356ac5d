// Layouts of HotSpot's objects.
#include "tools/heap/read/object_layout.h"

#include <algorithm>
#include <iterator>

namespace hprof::tool {

namespace {

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Smaller ids are no addresses in the agent's dumps by JVMTI, and no Java heap begins below.
constexpr uint64_t kLowestAddress = uint64_t{1} << 24;

// How well a layout matches the beginnings of the next objects.
struct Fit {
  ObjectLayout layout;
  uint64_t exact = 0, overlaps = 0;
};

// Free bytes between fields.
struct Hole {
  uint64_t at, size;
};

// The end of the last field, and the holes before it.
struct FieldsEnd {
  uint64_t end;
  std::vector<Hole> holes;
};

// Fields that the VM adds to a class, which no dump has.
struct HiddenFields {
  unsigned pointers = 0, ints = 0, shorts = 0, bytes = 0, references = 0;
};

bool has_field(const HeapClass& each, const char* name, const Definitions& names) {
  return std::any_of(each.fields.begin(), each.fields.end(),
                     [&](const DumpedField& field) { return names.string(field.name) == name; });
}

// True: a JDK from 19 on, which brought virtual threads.
bool has_virtual_threads(const HeapClasses& classes, const Definitions& names) {
  return classes.thread_class != kNoClass && has_field(classes.list[classes.thread_class], "holder", names);
}

HiddenFields hidden_fields(const HeapClasses& classes, const HeapClass& each, const Definitions& names) {
  HiddenFields hidden;
  if (each.loader != 0) return hidden;
  if (each.name == "java.lang.ClassLoader") {
    hidden.pointers = 1;
  } else if (each.name == "java.lang.Class") {
    hidden.pointers = 2;  // to the class, and to that of its arrays
    hidden.ints = 2;      // size, number of static references
    // The source file or the initialization lock, both from JDK 19 on; and two fields that later JDKs
    // declare.
    hidden.references = 1 + has_virtual_threads(classes, names) + !has_field(each, "signers", names) +
                        !has_field(each, "protectionDomain", names);
  } else if (each.name == "java.lang.Thread" && has_virtual_threads(classes, names)) {
    hidden.pointers = hidden.ints = hidden.bytes = 1;  // states of JVMTI and of its mount transitions
    hidden.shorts = 1;                                 // epoch of JFR
  } else if (each.name == "java.lang.Throwable") {
    hidden.references = !has_field(each, "backtrace", names);  // JVMTI has no such field
  } else if (each.name == "java.lang.Module" || each.name == "java.lang.invoke.ResolvedMethodName") {
    hidden.pointers = 1;
  } else if (each.name == "java.lang.invoke.MemberName") {
    bool resolved = has_field(each, "method", names);  // from JDK 11 on
    hidden.pointers = resolved ? 1 : 2;
    hidden.references = !resolved;
  }
  return hidden;
}

// Padding around fields with @Contended.
constexpr uint64_t kContendedPadding = 128;

// True: a class with @Contended that has instances in many dumps.
bool is_contended(const HeapClass& each) {
  static constexpr const char* kNames[] = {"java.util.concurrent.ConcurrentHashMap$CounterCell",
                                           "java.util.concurrent.atomic.Striped64$Cell"};
  if (each.loader != 0) return false;
  return std::find(std::begin(kNames), std::end(kNames), each.name) != std::end(kNames);
}

// True: java.lang.Thread's @Contended fields, up to JDK 18.
bool is_contended(const HeapClass& owner, const DumpedField& field, const Definitions& names) {
  return owner.loader == 0 && owner.name == "java.lang.Thread" && !has_field(owner, "holder", names) &&
         names.string(field.name).rfind("threadLocalRandom", 0) == 0;
}

class InstanceSizer {
 public:
  InstanceSizer(const ObjectLayout& layout, const Definitions& names, const std::vector<ClassGap>& gaps,
                HeapClasses& classes)
      : layout_(layout),
        names_(names),
        gaps_(gaps),
        classes_(classes),
        ends_(classes.list.size()),
        done_(classes.list.size()) {}

  // Distances that exceed the fields by less than this are attributed to hidden fields.
  void believe_less_than(uint64_t size) { believed_ = size; }

  uint64_t size(uint32_t index) { return layout_.aligned(std::max<uint64_t>(end_of(index), layout_.header)); }

 private:
  struct Counts {
    uint64_t primitives[4] = {};  // of 8, 4, 2, 1 bytes
    uint64_t references = 0;
    void add(uint8_t type, unsigned width) {
      if (type == HPROF_TYPE_OBJECT) {
        ++references;
      } else {
        ++primitives[width == 8 ? 0 : width == 4 ? 1 : width == 2 ? 2 : 3];
      }
    }
    bool any() const {
      return std::any_of(primitives, primitives + 4, [](uint64_t n) { return n != 0; }) || references != 0;
    }
  };

  // Superclasses first, by a list instead of recursion, since a file can contain long chains.
  uint64_t end_of(uint32_t index) {
    std::vector<uint32_t> chain;
    for (uint32_t at = index; at != kNoClass && !done_[at] && chain.size() < HeapClasses::kDeepest;
         at = classes_.list[at].super) {
      chain.push_back(at);
    }
    for (size_t i = chain.size(); i-- > 0;) {
      if (!done_[chain[i]]) place(chain[i]);
    }
    return ends_[index].end;
  }

  void place(uint32_t index) {
    const HeapClass& own = classes_.list[index];
    FieldsEnd fields{layout_.header, {}};
    if (own.super != kNoClass && done_[own.super]) fields = ends_[own.super];
    Counts plain, contended;
    for (const DumpedField& field : own.fields) {
      bool apart = is_contended(own) || is_contended(own, field, names_);
      (apart ? contended : plain).add(field.type, layout_.width(field.type));
    }
    HiddenFields hidden = hidden_fields(classes_, own, names_);
    plain.primitives[classes_.id_size == 8 ? 0 : 1] += hidden.pointers;
    plain.primitives[1] += hidden.ints;
    plain.primitives[2] += hidden.shorts;
    plain.primitives[3] += hidden.bytes;
    plain.references += hidden.references;
    put_all(fields, plain, own);
    if (contended.any()) {
      fields = {fields.end + kContendedPadding, {}};
      put_all(fields, contended, own);
      fields = {layout_.aligned(fields.end + kContendedPadding), {}};
    }
    uint64_t size = layout_.aligned(fields.end);
    if (index < gaps_.size() && !own.is_array() && is_size(gaps_[index]) && gaps_[index].least > size &&
        gaps_[index].least - size < believed_) {
      fields = {gaps_[index].least, {}};
    }
    ends_[index] = std::move(fields);
    done_[index] = true;
  }

  // Hidden fields and padding make instances larger than their fields. True: most instances have that
  // distance to the next object, in a heap without dead objects in between, one of which might follow every
  // instance.
  bool is_size(const ClassGap& gap) const {
    return layout_.contiguous && gap.times >= 4 && gap.times >= gap.seen / 2;
  }

  void put_all(FieldsEnd& fields, Counts& counts, const HeapClass& own) {
    if (!layout_.fills_super_gaps)
      return put_classic(fields, counts.primitives, counts.references, has_fixed_fields(own));
    for (unsigned i = 0; i < 4; ++i) put(fields, 8u >> i, counts.primitives[i]);
    put(fields, layout_.reference, counts.references);
  }

  // From JDK 15 on: puts each field into the smallest hole that fits, else at the end.
  void put(FieldsEnd& fields, unsigned width, uint64_t count) {
    while (count > 0) {
      size_t best = fields.holes.size();
      for (size_t i = 0; i < fields.holes.size(); ++i) {
        const Hole& hole = fields.holes[i];
        bool fits = round_up(hole.at, width) + width <= hole.at + hole.size;
        if (fits && (best == fields.holes.size() || hole.size < fields.holes[best].size)) best = i;
      }
      if (best == fields.holes.size()) break;
      Hole hole = fields.holes[best];
      uint64_t at = round_up(hole.at, width);
      fields.holes.erase(fields.holes.begin() + static_cast<std::ptrdiff_t>(best));
      if (at > hole.at) fields.holes.push_back({hole.at, at - hole.at});
      if (at + width < hole.at + hole.size)
        fields.holes.push_back({at + width, hole.at + hole.size - at - width});
      --count;
    }
    if (count == 0) return;
    uint64_t start = round_up(fields.end, width);
    if (start > fields.end) fields.holes.push_back({fields.end, start - fields.end});
    fields.end = start + count * width;
  }

  // True: up to JDK 14 the VM knew the offsets of this class' fields and kept its layout simple.
  static bool has_fixed_fields(const HeapClass& each) {
    static constexpr const char* kNames[] = {"AssertionStatusDirectives",
                                             "Class",
                                             "ClassLoader",
                                             "ref.Reference",
                                             "ref.SoftReference",
                                             "Boolean",
                                             "Character",
                                             "String",
                                             "Float",
                                             "StackTraceElement",
                                             "Double",
                                             "Throwable",
                                             "Byte",
                                             "Integer",
                                             "Short",
                                             "Long"};
    if (each.loader != 0 || each.name.rfind("java.lang.", 0) != 0) return false;
    return std::find(std::begin(kNames), std::end(kNames), each.name.substr(10)) != std::end(kNames);
  }

  // Up to JDK 14: own fields after the superclass's, which end at a multiple of a reference; longs first with
  // the gap before them filled, references last. `fixed`: references first, and no gap filled.
  void put_classic(FieldsEnd& fields, uint64_t (&counts)[4], uint64_t references, bool fixed) {
    uint64_t at = round_up(fields.end, layout_.reference);
    if (fixed) {
      at += layout_.reference * references;
      references = 0;
    }
    if (counts[0] > 0) {
      uint64_t room = fixed ? 0 : round_up(at, 8) - at;
      for (unsigned i = 1; i < 4; ++i) {
        unsigned width = 8u >> i;
        for (; counts[i] > 0 && room >= width; --counts[i]) room -= width;
      }
      if (room >= layout_.reference && references > 0) --references;
      at = round_up(at, 8) + 8 * counts[0];
    }
    for (unsigned i = 1; i < 4; ++i) at += (8u >> i) * counts[i];
    if (references > 0) at = round_up(at, layout_.reference) + layout_.reference * references;
    fields.end = at;
    fields.holes.clear();
  }

  const ObjectLayout& layout_;
  const Definitions& names_;
  const std::vector<ClassGap>& gaps_;
  HeapClasses& classes_;
  uint64_t believed_ = UINT64_MAX;
  std::vector<FieldsEnd> ends_;
  std::vector<bool> done_;
};

std::vector<Fit> candidates() {
  std::vector<Fit> list;
  for (unsigned alignment : {8u, 16u, 32u}) {
    for (unsigned reference : {4u, 8u}) {
      for (unsigned header : {12u, 8u, 16u}) {
        for (bool gap : {false, true}) {
          if (gap && header != 16) continue;
          ObjectLayout layout;
          layout.reference = reference;
          layout.header = header;
          layout.alignment = alignment;
          layout.gap_before_elements = gap;
          list.push_back({layout});
        }
      }
    }
  }
  return list;
}

void measure(Fit& fit, const DumpOutline& outline, const ObjectNumbers& numbers) {
  for (const ArraySample& sample : outline.samples) {
    if (sample.id < kLowestAddress) continue;
    uint64_t next = numbers.id_after(sample.id);
    if (next == 0) continue;
    uint64_t end = sample.id + fit.layout.array_size(sample.type, sample.length);
    fit.exact += end == next;
    fit.overlaps += end > next;
  }
}

}  // namespace

unsigned ObjectLayout::width(uint8_t type) const { return width_of(type, reference); }

uint64_t ObjectLayout::array_size(uint8_t type, uint64_t length) const {
  uint64_t elements = header + 4;
  unsigned size = width(type);
  if (size == 8 || gap_before_elements) elements = round_up(elements, 8);
  return aligned(elements + length * size);
}

std::string ObjectLayout::text() const {
  return (reference == 4 ? "references of 4 bytes" : "references of 8 bytes") + std::string(", headers of ") +
         std::to_string(header) + " bytes, objects aligned to " + std::to_string(alignment) + " bytes";
}

bool parse_layout(const std::string& text, ObjectLayout* layout) {
  unsigned numbers[3] = {0, 0, 8};
  size_t count = 0, at = 0;
  while (count < 3) {
    size_t end = text.find(',', at);
    std::string word = text.substr(at, end == std::string::npos ? end : end - at);
    if (word.empty() || word.size() > 3 || word.find_first_not_of("0123456789") != std::string::npos)
      return false;
    numbers[count++] = static_cast<unsigned>(std::stoul(word));
    if (end == std::string::npos) break;
    at = end + 1;
    if (count == 3) return false;
  }
  bool power = numbers[2] >= 8 && numbers[2] <= 256 && (numbers[2] & (numbers[2] - 1)) == 0;
  if (count < 2 || (numbers[0] != 4 && numbers[0] != 8) || !power) return false;
  if (numbers[1] != 8 && numbers[1] != 12 && numbers[1] != 16) return false;
  layout->reference = numbers[0];
  layout->header = numbers[1];
  layout->alignment = numbers[2];
  layout->given = true;
  return true;
}

ObjectLayout detect_layout(const DumpOutline& outline, const ObjectNumbers& numbers) {
  ObjectLayout usual;
  // JDK 15 added this field to java.lang.Class, and changed the layout of fields.
  usual.fills_super_gaps =
      outline.classes.class_class != kNoClass &&
      has_field(outline.classes.list[outline.classes.class_class], "classData", outline.names);
  uint64_t measurable = 0;
  for (const ArraySample& sample : outline.samples)
    measurable += sample.id >= kLowestAddress && numbers.id_after(sample.id) != 0;
  Fit best;
  for (Fit& fit : candidates()) {
    measure(fit, outline, numbers);
    if (fit.overlaps <= measurable / 1000 && fit.exact > best.exact) best = fit;
  }
  if (best.exact < 16 || best.exact < measurable / 5) return usual;
  best.layout.fills_super_gaps = usual.fills_super_gaps;
  best.layout.addresses = true;
  // The agent's dumps by JVMTI have addresses, but small numbers for threads, class loaders, classes, and
  // what these refer to.
  for (const HeapClass& each : outline.classes.list) {
    best.layout.mixed = best.layout.mixed || (each.dumped && each.id % best.layout.alignment != 0);
  }
  if (best.layout.mixed) best.layout.lowest = kLowestAddress;
  best.layout.contiguous = best.exact >= measurable - measurable / 10;
  return best.layout;
}

void ClassGap::merge(const ClassGap& other) {
  seen += other.seen;
  if (other.least < least) {
    least = other.least;
    times = other.times;
  } else if (other.least == least) {
    times += other.times;
  }
}

void size_instances(const ObjectLayout& layout, const Definitions& names, const std::vector<ClassGap>& gaps,
                    HeapClasses& classes) {
  InstanceSizer sizer(layout, names, gaps, classes);
  // Objects whose ids are no addresses may be between two addresses.
  if (layout.mixed) sizer.believe_less_than(layout.aligned(layout.header));
  for (uint32_t i = 0; i < classes.list.size(); ++i) {
    HeapClass& each = classes.list[i];
    each.size = sizer.size(i);
    // No instance is larger than its distance to the next object.
    if (i < gaps.size() && !each.is_array() && gaps[i].seen != 0)
      each.size = std::min(each.size, gaps[i].least);
  }
}

uint64_t mirror_size(const ObjectLayout& layout, const HeapClass& of, uint64_t class_instance) {
  uint64_t statics = 0;
  for (const DumpedField& field : of.statics) statics += layout.width(field.type);
  return layout.aligned(class_instance + statics);
}

}  // namespace hprof::tool
