// The classes of a dump: names, fields, offsets of an instance's references, and shallow sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/format/definitions.h"
#include "tools/format/heap_walker.h"

namespace hprof::tool {

constexpr uint32_t kNoClass = UINT32_MAX;

// Which references keep an object alive for the analysis. Finalizer references always do.
enum class Follow : uint8_t {
  kStrong,  // no soft, weak and phantom references
  kSoft,    // soft ones, too, which a collector keeps while memory lasts
  kAll
};

// The kind of a subclass of java.lang.ref.Reference.
enum class ReferenceKind : uint8_t { kNone, kSoft, kWeak, kPhantom, kFinal };

struct HeapClass {
  uint64_t id = 0;  // of the class object; 0: the dump has none
  std::string name;
  uint64_t super_id = 0, loader = 0, signers = 0, domain = 0;
  uint32_t super = kNoClass;  // index
  bool dumped = false;        // there is a CLASS DUMP
  uint8_t element = 0;        // HPROF_TYPE_* of an array's elements
  ReferenceKind kind = ReferenceKind::kNone;
  std::vector<DumpedField> fields, statics;  // of this class alone
  std::vector<uint64_t> constants;           // references of the constant pool
  std::vector<uint32_t> references;          // offsets of followed references in an instance's values
  uint32_t next = UINT32_MAX, discovered = UINT32_MAX;  // offsets in a Reference
  uint64_t size = 0;                                    // shallow bytes of an instance; arrays: unused

  uint64_t instances = 0;    // in the dump, as the outline counted
  uint64_t values = 0;       // bytes of their values
  uint32_t most_values = 0;  // of one
  bool is_array() const { return element != 0; }
};

struct InstanceField {
  uint32_t offset;  // in an instance's values
  uint8_t type;
  uint64_t name;      // string id
  uint32_t declared;  // index of the class
};

class HeapClasses {
 public:
  static constexpr unsigned kDeepest = 1024;  // supers; only a circle is deeper

  HeapClasses();
  // The class of this id, a new one if need be.
  uint32_t take(uint64_t id);
  // kNoClass: no class has this id.
  uint32_t find(uint64_t id) const;
  // The same, 0: no class has this id.
  uint32_t known(uint64_t id) const {
    const uint32_t index = find(id);
    return index == kNoClass ? 0 : index;
  }
  // The class of primitive arrays of this element type.
  uint32_t primitive(uint8_t type) const { return primitives_[type & 15]; }
  // The class of an array, 0: unknown.
  uint32_t of_array(const ArrayRecord& record) const {
    return record.type == HPROF_TYPE_OBJECT ? known(record.class_id) : primitive(record.type);
  }
  // java.lang.Class, 0: unknown.
  uint32_t of_mirrors() const { return class_class == kNoClass ? 0 : class_class; }
  // The class of the boot loader with that name; kNoClass: none.
  uint32_t named(const std::string& name) const;
  void add_dump(const ClassRecord& record);

  // Call it after the last add_dump(): links names, supers and offsets of references.
  void finish(const Definitions& names, unsigned id_size, Follow follow);
  bool extends(uint32_t index, uint32_t ancestor) const;
  // The fields of an instance in the order of its values, at most `most` bytes of them.
  std::vector<InstanceField> instance_fields(uint32_t index, uint64_t most) const;
  // The offset of the field `name` of this type in instances of the class; UINT32_MAX: none. Of several it is
  // that of the topmost class: subclasses of the JDK's classes may have fields of the same name.
  uint32_t offset_of(uint32_t index, const std::string& name, uint8_t type, const Definitions& names) const;

  std::vector<HeapClass> list;  // 0 is for objects whose class is not in the dump
  uint32_t class_class = kNoClass, string_class = kNoClass, thread_class = kNoClass, loader_class = kNoClass;
  unsigned id_size = 8;
  uint32_t string_value = UINT32_MAX, string_coder = UINT32_MAX;  // offsets in a java.lang.String
  // Up to Java 6, where a string is a part of its array.
  uint32_t string_offset = UINT32_MAX, string_count = UINT32_MAX;
  bool strings_share_arrays() const { return string_offset != UINT32_MAX && string_count != UINT32_MAX; }

 private:
  friend class SnapshotFile;
  void name_all(const Definitions& names);
  void find_kinds();
  void find_references(const Definitions& names, Follow follow);

  IdMap<uint32_t> by_id_;
  uint32_t primitives_[16] = {};
};

}  // namespace hprof::tool
