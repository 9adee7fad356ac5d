// Walks the sub-records of a HEAP DUMP or HEAP DUMP SEGMENT body.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/format/binary_format.h"
#include "tools/format/input.h"

namespace hprof::tool {

struct RootRecord {
  uint64_t offset;  // of the sub-record's tag, in the file
  uint8_t tag;
  uint64_t object;
  uint64_t reference;  // JNI global: the reference's own id
  uint32_t thread;     // serial number, for the roots that have one
  uint32_t number;     // frame number, or the trace serial number of a thread object
};

struct DumpedField {
  uint64_t name;
  uint8_t type;
  uint64_t value;  // of a static field
};

struct DumpedConstant {
  uint16_t index;
  uint8_t type;
  uint64_t value;
};

struct ClassRecord {
  uint64_t offset;
  uint64_t id;
  uint32_t trace;
  uint64_t super, loader, signers, domain;
  uint32_t instance_size;
  std::vector<DumpedConstant> constants;
  std::vector<DumpedField> statics;
  std::vector<DumpedField> fields;
};

struct InstanceRecord {
  uint64_t offset;
  uint64_t id;
  uint32_t trace;
  uint64_t class_id;
  uint32_t byte_count;
};

struct ArrayRecord {
  uint64_t offset;
  uint64_t id;
  uint32_t trace;
  uint32_t length;    // elements
  uint64_t class_id;  // object arrays
  uint8_t type;       // HPROF_TYPE_OBJECT, or the element type of a primitive array
};

// For an instance or an array the input is at the first byte of the values; the visitor may read them, but
// nothing after them. The references are valid during the call.
class HeapVisitor {
 public:
  virtual ~HeapVisitor() = default;
  virtual void on_root(const RootRecord&) {}
  virtual void on_class(const ClassRecord&) {}
  virtual void on_instance(const InstanceRecord&, Input&) {}
  virtual void on_array(const ArrayRecord&, Input&) {}
};

enum class WalkEnd {
  kComplete,
  kOverrun,     // a sub-record reaches beyond the end of its record
  kUnknownTag,  // nothing after it can be read
  kBadType,     // an unknown type number
};

struct WalkResult {
  WalkEnd end;
  uint64_t offset;  // of the sub-record that stopped the walk
  uint8_t value;    // its tag, or the bad type
};

// Walks the sub-records from the input's position up to `end`. The input's limit stays at `end`.
WalkResult walk_heap(Input& in, uint64_t end, HeapVisitor& visitor);

}  // namespace hprof::tool
