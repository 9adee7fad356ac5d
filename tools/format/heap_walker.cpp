#include "tools/format/heap_walker.h"

namespace hprof::tool {

namespace {

class Walker {
 public:
  Walker(Input& in, uint64_t end, HeapVisitor& visitor) : in_(in), end_(end), visitor_(visitor) {
    in_.set_limit(end);
  }

  WalkResult run() {
    WalkResult result{WalkEnd::kComplete, 0, 0};
    while (in_.offset() < end_) {
      offset_ = in_.offset();
      uint8_t tag = in_.u1();
      WalkEnd end = in_.ok() ? one(tag) : WalkEnd::kOverrun;
      if (end == WalkEnd::kComplete && !in_.ok()) end = WalkEnd::kOverrun;
      if (end != WalkEnd::kComplete) {
        result = {end, offset_, end == WalkEnd::kBadType ? bad_type_ : tag};
        break;
      }
    }
    return result;
  }

 private:
  WalkEnd one(uint8_t tag) {
    switch (tag) {
      case kInstanceDump:
        return instance();
      case kPrimitiveArrayDump:
        return primitive_array();
      case kObjectArrayDump:
        return object_array();
      case kClassDump:
        return class_dump();
      default:
        return root_name(tag) != nullptr ? root(tag) : WalkEnd::kUnknownTag;
    }
  }

  WalkEnd root(uint8_t tag) {
    RootRecord record{offset_, tag, in_.id(), 0, 0, 0};
    if (tag == kRootJniGlobal) record.reference = in_.id();
    bool has_thread = tag == kRootJniLocal || tag == kRootJavaFrame || tag == kRootNativeStack ||
                      tag == kRootThreadBlock || tag == kRootThreadObject;
    if (has_thread) record.thread = in_.u4();
    if (tag == kRootJniLocal || tag == kRootJavaFrame || tag == kRootThreadObject) record.number = in_.u4();
    if (in_.ok()) visitor_.on_root(record);
    return WalkEnd::kComplete;
  }

  // Leaves the input after the values, however many the visitor has read.
  WalkEnd leave(uint64_t values, uint64_t size) {
    uint64_t read = in_.offset() - values;
    if (read < size) in_.skip(size - read);
    return WalkEnd::kComplete;
  }

  bool fits(uint64_t size) { return in_.ok() && size <= end_ - in_.offset(); }

  WalkEnd instance() {
    InstanceRecord record{offset_, in_.id(), in_.u4(), in_.id(), in_.u4()};
    if (!fits(record.byte_count)) return WalkEnd::kOverrun;
    uint64_t values = in_.offset();
    visitor_.on_instance(record, in_);
    return leave(values, record.byte_count);
  }

  WalkEnd object_array() {
    ArrayRecord record{offset_, in_.id(), in_.u4(), in_.u4(), in_.id(), HPROF_TYPE_OBJECT};
    return array(record);
  }

  WalkEnd primitive_array() {
    ArrayRecord record{offset_, in_.id(), in_.u4(), in_.u4(), 0, in_.u1()};
    if (record.type == HPROF_TYPE_OBJECT || width_of(record.type, 4) == 0) return bad_type(record.type);
    return array(record);
  }

  WalkEnd array(const ArrayRecord& record) {
    uint64_t size = uint64_t{record.length} * width_of(record.type, in_.id_size());
    if (!fits(size)) return WalkEnd::kOverrun;
    uint64_t values = in_.offset();
    visitor_.on_array(record, in_);
    return leave(values, size);
  }

  WalkEnd bad_type(uint8_t type) {
    bad_type_ = type;
    return in_.ok() ? WalkEnd::kBadType : WalkEnd::kOverrun;
  }

  WalkEnd class_dump() {
    ClassRecord& record = class_;
    record.offset = offset_;
    record.id = in_.id();
    record.trace = in_.u4();
    record.super = in_.id();
    record.loader = in_.id();
    record.signers = in_.id();
    record.domain = in_.id();
    in_.id();
    in_.id();
    record.instance_size = in_.u4();
    record.constants.clear();
    record.statics.clear();
    record.fields.clear();
    for (unsigned left = in_.u2(); left > 0 && in_.ok(); --left) {
      DumpedConstant constant{in_.u2(), in_.u1(), 0};
      if (!typed_value(constant.type, &constant.value)) return bad_type(constant.type);
      record.constants.push_back(constant);
    }
    for (unsigned left = in_.u2(); left > 0 && in_.ok(); --left) {
      DumpedField field{in_.id(), in_.u1(), 0};
      if (!typed_value(field.type, &field.value)) return bad_type(field.type);
      record.statics.push_back(field);
    }
    for (unsigned left = in_.u2(); left > 0 && in_.ok(); --left) {
      DumpedField field{in_.id(), in_.u1(), 0};
      if (width_of(field.type, 4) == 0) return bad_type(field.type);
      record.fields.push_back(field);
    }
    if (in_.ok()) visitor_.on_class(record);
    return WalkEnd::kComplete;
  }

  bool typed_value(uint8_t type, uint64_t* value) {
    unsigned size = width_of(type, in_.id_size());
    if (size == 0) return false;
    *value = in_.value(size);
    return true;
  }

  Input& in_;
  uint64_t end_;
  HeapVisitor& visitor_;
  uint64_t offset_ = 0;
  uint8_t bad_type_ = 0;
  ClassRecord class_{};
};

}  // namespace

WalkResult walk_heap(Input& in, uint64_t end, HeapVisitor& visitor) { return Walker(in, end, visitor).run(); }

}  // namespace hprof::tool
