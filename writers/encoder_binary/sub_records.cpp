// Parses the sub-records of foreign heap dumps.
#include "sub_records.h"

#include <cstring>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/dump_types.hpp>
#include <hprof/record.h>

#include "tags.h"

namespace hprof::binary {

bool Mirrors::open(const Services& services) { return blocks_.open(services, kMostBlocks); }

void Mirrors::close() { blocks_.close(); }

void Mirrors::watch(uint64_t id) {
  if (find(id) != nullptr || !blocks_.cover(count_ + 1)) return;
  const uint64_t base = id >> kBlockBits;
  blocks_[count_++].base = base;
  filter_[base >> 6 & 255] |= uint64_t{1} << (base & 63);
}

bool SubRecords::open(const Services& services, const hprof_foreign_dump* dump, uint32_t id_size) {
  dump_ = dump;
  id_size_ = id_size;
  return mirrors_.open(services) && numbers_.open(services) && classes_.open(services, kMostClasses + 1) &&
         types_.open(services, kMostTypes) && threads_.open(services);
}

void SubRecords::close() {
  numbers_.close();
  mirrors_.close();
  classes_.close();
  types_.close();
  threads_.close();
}

DumpedClass* SubRecords::make_class(uint64_t id) {
  uint32_t* number = numbers_.make(id);
  if (number == nullptr) return nullptr;
  if (*number == 0) {
    if (!classes_.cover(class_count_ + 2)) return nullptr;
    *number = ++class_count_;
    classes_[*number].id = id;
  }
  return &classes_[*number];
}

void SubRecords::add_loaded(uint64_t class_id) { make_class(class_id); }

const DumpedClass* SubRecords::find_class(uint64_t id) const {
  const uint32_t* number = numbers_.find(id);
  return number != nullptr ? &classes_[*number] : nullptr;
}

uint64_t SubRecords::read_id(const uint8_t* bytes) const {
  return id_size_ == 8 ? get_u8(bytes) : get_u4(bytes);
}

uint64_t SubRecords::id_at(uint32_t offset) const { return read_id(head_ + offset); }

bool SubRecords::zeroes_array(uint32_t type) const {
  const bool is_text = type == HPROF_TYPE_CHAR || type == HPROF_TYPE_BYTE;
  return leaves_out(HPROF_FOREIGN_NO_ARRAYS) || (is_text && leaves_out(HPROF_FOREIGN_NO_TEXT));
}

uint64_t SubRecords::feed(uint8_t* bytes, uint64_t size, bool stop_behind_classes) {
  const uint64_t all = size;
  while (size != 0 && !failed_) {
    if (pass_ != 0) {
      const uint64_t n = size < pass_ ? size : pass_;
      if (zero_) std::memset(bytes, 0, n);
      if (masked_) zero_masked(bytes, n);
      if (elements_) mark_elements(bytes, n);
      bytes += n;
      size -= n;
      pass_ -= n;
      continue;
    }
    if (stop_behind_classes && step_ == Step::kTag && *bytes != kClassDump) break;
    zero_ = masked_ = elements_ = false;
    split_have_ = 0;
    if (step_ == Step::kTag) {
      const uint64_t whole = take_whole(bytes, size);
      bytes += whole;
      size -= whole;
      if (size == 0) break;
    }
    const uint64_t n = size < need_ - have_ ? size : need_ - have_;
    if (mark != 0) mark_numbers(bytes, have_, have_ + static_cast<uint32_t>(n));
    std::memcpy(head_ + have_, bytes, n);
    if (dump_->trace_of != nullptr) put_trace(bytes, have_, have_ + static_cast<uint32_t>(n));
    if (maps_threads && step_ == Step::kRoot) put_thread(bytes, have_, have_ + static_cast<uint32_t>(n));
    have_ += static_cast<uint32_t>(n);
    bytes += n;
    size -= n;
    if (have_ == need_ && !take_step()) failed_ = true;
  }
  return all - size;
}

// Fast path for instances and arrays that are complete in the piece, as nearly all are. Returns the bytes of
// whole sub-records.
uint64_t SubRecords::take_whole(uint8_t* bytes, uint64_t size) {
  const uint32_t id = id_size_;
  uint64_t at = 0;
  for (;;) {
    const uint64_t left = size - at;
    uint8_t* head = bytes + at + 1;
    if (left < 2 * uint64_t{id} + 9) return at;
    const uint32_t tag = head[-1];
    const uint32_t number = get_u4(head + id + 4);  // of elements
    uint64_t begin = 2 * uint64_t{id} + 9;          // of values
    uint64_t length = 0;
    if (tag == kInstanceDump) {
      length = get_u4(head + 2 * id + 4);
      if (length > left - begin) return at;
      if (leaves_out(HPROF_FOREIGN_NO_FIELDS)) {
        mask_class_ = read_id(head + id + 4);
        mask_field_ = mask_left_ = 0;
        zero_masked(head - 1 + begin, length);
      }
    } else if (tag == kObjectArrayDump) {
      length = uint64_t{number} * id;
      if (length > left - begin) return at;
      mark_elements(head - 1 + begin, length);
    } else if (tag == kPrimitiveArrayDump) {
      const uint32_t type = head[id + 8];
      begin = uint64_t{id} + 10;
      length = uint64_t{number} * width_of(type, id);
      if (length > left - begin || width_of(type, id) == 0 || type == HPROF_TYPE_OBJECT) return at;
      if (zeroes_array(type)) std::memset(head - 1 + begin, 0, length);
    } else {
      return at;
    }
    objects_++;
    const uint64_t object = read_id(head);
    mirrors_.mark_written(object);
    if (const hprof_trace_serial trace = find_trace(object)) put_u4(head + id, kFirstTraceNumber + trace);
    at += begin + length;
  }
}

// bytes: the part of the head from `begin` to `end`. A marked number may be split between two pieces.
void SubRecords::mark_numbers(uint8_t* bytes, uint32_t begin, uint32_t end) {
  uint32_t at = 0;
  if (step_ == Step::kStatic || step_ == Step::kField) {
    if (id_size_ != 8) return;
    at = 1;
  } else if (step_ == Step::kRoot && tag_ == HPROF_ROOT_THREAD_OBJECT) {
    at = id_size_ + 4;
  } else {
    return;
  }
  if (begin <= at && at < end) bytes[at - begin] |= mark;
}

hprof_trace_serial SubRecords::find_trace(uint64_t object) {
  const hprof_trace_serial trace = dump_->trace_of != nullptr ? dump_->trace_of(dump_->argument, object) : 0;
  traced_ += trace != 0 ? 1 : 0;
  return trace;
}

// As mark_numbers, for an object's head. The trace follows the id, which may have come with an earlier piece.
void SubRecords::put_trace(uint8_t* bytes, uint32_t begin, uint32_t end) {
  const bool is_object =
      step_ == Step::kInstance || step_ == Step::kObjectArray || step_ == Step::kPrimitiveArray;
  if (!is_object || end < id_size_) return;
  if (begin < id_size_) trace_ = find_trace(id_at(0));
  if (trace_ == 0) return;
  uint8_t number[4];
  put_u4(number, kFirstTraceNumber + trace_);
  for (uint32_t at = begin < id_size_ ? id_size_ : begin; at < end && at < id_size_ + 4; at++)
    bytes[at - begin] = number[at - id_size_];
}

// As put_trace, for the serial of a root's thread. A thread's roots follow its ROOT THREAD OBJECT.
void SubRecords::put_thread(uint8_t* bytes, uint32_t begin, uint32_t end) {
  const bool of_thread = tag_ == HPROF_ROOT_THREAD_OBJECT || tag_ == HPROF_ROOT_JNI_LOCAL ||
                         tag_ == HPROF_ROOT_JAVA_FRAME || tag_ == HPROF_ROOT_NATIVE_STACK ||
                         tag_ == HPROF_ROOT_THREAD_BLOCK;
  if (!of_thread || end <= id_size_) return;
  const bool is_whole = begin <= id_size_ && end >= id_size_ + 4;
  if (tag_ == HPROF_ROOT_THREAD_OBJECT) {
    if (begin <= id_size_) thread_ = dump_->thread_of(dump_->argument, id_at(0));
  } else if (is_whole) {
    thread_ = find_thread(get_u4(head_ + id_size_));
  }
  if (thread_ == 0) return;
  uint8_t number[4];
  put_u4(number, kFirstThreadNumber + thread_);
  for (uint32_t at = begin < id_size_ ? id_size_ : begin; at < end && at < id_size_ + 4; at++)
    bytes[at - begin] = number[at - id_size_];
}

void SubRecords::take_thread() {
  DumpedThread* thread = thread_ != 0 ? threads_.make(get_u4(head_ + id_size_)) : nullptr;
  if (thread != nullptr) *thread = {thread_, id_at(0)};
}

bool SubRecords::take_step() {
  switch (step_) {
    case Step::kTag:
      return take_tag();
    case Step::kRoot:
      want(Step::kTag, 1);
      if (maps_threads && tag_ == HPROF_ROOT_THREAD_OBJECT) take_thread();
      return true;
    case Step::kClass:
      return take_class();
    case Step::kConstantCount:
      list_left_ = get_u2(head_);
      list_left_ != 0 ? want(Step::kConstant, 3) : want(Step::kStaticCount, 2);
      return true;
    case Step::kConstant:
      pass_ = width_of(head_[2], id_size_);
      zero_ = leaves_out(HPROF_FOREIGN_NO_FIELDS) && head_[2] != HPROF_TYPE_OBJECT;
      --list_left_ != 0 ? want(Step::kConstant, 3) : want(Step::kStaticCount, 2);
      return pass_ != 0;
    case Step::kStaticCount:
      list_left_ = get_u2(head_);
      list_left_ != 0 ? want(Step::kStatic, id_size_ + 1) : want(Step::kFieldCount, 2);
      return true;
    case Step::kStatic:
      return take_static();
    case Step::kFieldCount:
      list_left_ = get_u2(head_);
      current_->first_type = type_count_;
      current_->field_count = list_left_;
      list_left_ != 0 ? want(Step::kField, id_size_ + 1) : want(Step::kTag, 1);
      return true;
    case Step::kField:
      return take_field();
    case Step::kInstance:
      return take_instance();
    case Step::kObjectArray:
      objects_++;
      mirrors_.mark_written(id_at(0));
      elements_ = true;
      pass_ = uint64_t{get_u4(head_ + id_size_ + 4)} * id_size_;
      want(Step::kTag, 1);
      return true;
    case Step::kPrimitiveArray:
      return take_primitive_array();
  }
  return false;
}

bool SubRecords::take_tag() {
  tag_ = head_[0];
  switch (tag_) {
    case HPROF_ROOT_UNKNOWN:
    case HPROF_ROOT_STICKY_CLASS:
    case HPROF_ROOT_MONITOR_USED:
      want(Step::kRoot, id_size_);
      return true;
    case HPROF_ROOT_JNI_GLOBAL:
      want(Step::kRoot, 2 * id_size_);
      return true;
    case HPROF_ROOT_JNI_LOCAL:
    case HPROF_ROOT_JAVA_FRAME:
    case HPROF_ROOT_THREAD_OBJECT:
      want(Step::kRoot, id_size_ + 8);
      return true;
    case HPROF_ROOT_NATIVE_STACK:
    case HPROF_ROOT_THREAD_BLOCK:
      want(Step::kRoot, id_size_ + 4);
      return true;
    case kClassDump:
      want(Step::kClass, 7 * id_size_ + 8);
      return true;
    case kInstanceDump:
      want(Step::kInstance, 2 * id_size_ + 8);
      return true;
    case kObjectArrayDump:
      want(Step::kObjectArray, 2 * id_size_ + 8);
      return true;
    case kPrimitiveArrayDump:
      want(Step::kPrimitiveArray, id_size_ + 9);
      return true;
    default:
      return false;
  }
}

bool SubRecords::take_class() {
  current_ = make_class(id_at(0));
  if (current_ == nullptr) return id_at(0) != 0 && no_room();
  current_->is_dumped = 1;
  mirrors_.watch(current_->id);
  mirrors_.mark_written(current_->id);
  current_->super = id_at(id_size_ + 4);
  current_->instance_size = get_u4(head_ + 7 * id_size_ + 4);
  if (current_->super == 0 && object_class_ == 0) object_class_ = current_->id;
  want(Step::kConstantCount, 2);
  return true;
}

bool SubRecords::take_static() {
  const uint32_t type = head_[id_size_];
  if (on_name != nullptr) on_name(name_context, id_at(0));
  pass_ = width_of(type, id_size_);
  zero_ = leaves_out(HPROF_FOREIGN_NO_FIELDS) && type != HPROF_TYPE_OBJECT;
  --list_left_ != 0 ? want(Step::kStatic, id_size_ + 1) : want(Step::kFieldCount, 2);
  return pass_ != 0;
}

bool SubRecords::take_field() {
  if (width_of(head_[id_size_], id_size_) == 0) return false;
  if (!types_.cover(type_count_ + 1)) return no_room();
  if (on_name != nullptr) on_name(name_context, id_at(0));
  types_[type_count_++] = head_[id_size_];
  --list_left_ != 0 ? want(Step::kField, id_size_ + 1) : want(Step::kTag, 1);
  return true;
}

bool SubRecords::take_instance() {
  objects_++;
  mirrors_.mark_written(id_at(0));
  pass_ = get_u4(head_ + 2 * id_size_ + 4);
  if (leaves_out(HPROF_FOREIGN_NO_FIELDS)) {
    masked_ = true;
    mask_class_ = id_at(id_size_ + 4);
    mask_field_ = mask_left_ = 0;
  }
  want(Step::kTag, 1);
  return true;
}

// The class's own fields come first, then its superclass's. Bytes that no class describes are zeroed, also
// those after a class that is its own superclass.
void SubRecords::zero_masked(uint8_t* bytes, uint64_t size) {
  uint32_t empty = 0;  // consecutive classes without fields
  while (size != 0) {
    const DumpedClass* owner = find_class(mask_class_);
    if (owner == nullptr || empty > class_count_) {
      std::memset(bytes, 0, size);
      return;
    }
    if (mask_field_ == owner->field_count) {
      mask_class_ = owner->super;
      mask_field_ = 0;
      empty++;
      continue;
    }
    empty = 0;
    const uint32_t type = types_[owner->first_type + mask_field_];
    if (mask_left_ == 0) mask_left_ = width_of(type, id_size_);
    const uint64_t n = size < mask_left_ ? size : mask_left_;
    if (type != HPROF_TYPE_OBJECT) std::memset(bytes, 0, n);
    bytes += n;
    size -= n;
    mask_left_ -= static_cast<uint32_t>(n);
    if (mask_left_ == 0) mask_field_++;
  }
}

void SubRecords::mark_elements(const uint8_t* bytes, uint64_t size) {
  while (size != 0) {
    if (split_have_ == 0 && size >= id_size_) {
      mirrors_.mark_referred(read_id(bytes));
      bytes += id_size_;
      size -= id_size_;
      continue;
    }
    split_[split_have_++] = *bytes++;
    size--;
    if (split_have_ < id_size_) continue;
    split_have_ = 0;
    mirrors_.mark_referred(read_id(split_));
  }
}

bool SubRecords::take_primitive_array() {
  objects_++;
  mirrors_.mark_written(id_at(0));
  const uint32_t type = head_[id_size_ + 8];
  const uint32_t width = width_of(type, id_size_);
  if (width == 0 || type == HPROF_TYPE_OBJECT) return false;
  pass_ = uint64_t{get_u4(head_ + id_size_ + 4)} * width;
  zero_ = zeroes_array(type);
  want(Step::kTag, 1);
  return true;
}

}  // namespace hprof::binary
