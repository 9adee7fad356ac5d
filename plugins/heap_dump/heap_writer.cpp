#include "heap_writer.h"

#include <cstring>

#include <hprof/cpp/byte_order.hpp>

namespace hprof::dump {

namespace {

constexpr uint64_t kInstanceBytes = 1u
                                    << 20;  // instances with more fields than 65535 of 8 bytes are not dumped
constexpr uint64_t kValues = HeapWriter::kMostValues + 1;

}  // namespace

bool HeapWriter::open(const Services* services, ClassLayouts* classes, const Config& config) {
  services_ = services;
  classes_ = classes;
  config_ = config;
  const uint32_t form = services->settings().heap_form;
  as_bytes_ = form == 0 || (form & HPROF_HEAP_AS_BYTES) != 0;
  as_fields_ = form == 0 || (form & HPROF_HEAP_AS_FIELDS) != 0;
  lost_fields_ = services->log->loss_counter(
      services->host,
      "values of a heap dump: the VM reported a field that the class does not have (dump=vm)");
  return begun_.open(services) && expected_.open(*services, kMostExpected) &&
         arrays_.open(*services, kFirstArrays, kMostArrays) &&
         bytes_buffer_.open(*services, kInstanceBytes) && elements_.open(*services, kPart) &&
         values_.open(*services, kValues) && constants_.open(*services, kValues) &&
         statics_.open(*services, kValues);
}

void HeapWriter::close() {
  if (services_ == nullptr) return;
  begun_.close();
  expected_.close();
  arrays_.close();
  bytes_buffer_.close();
  elements_.close();
  values_.close();
  constants_.close();
  statics_.close();
}

void HeapWriter::begin(bool counting) {
  counting_ = counting;
  objects_ = bytes_ = traced_ = 0;
  kind_ = Kind::kNone;
  id_ = 0;
}

void HeapWriter::fail(const char* why) {
  if (status_ != HPROF_OK) return;
  status_ = HPROF_FAILED;
  failure_ = why;
}

void HeapWriter::emit(hprof_record* record) {
  if (status_ != HPROF_OK || counting_) return;
  status_ = services_->emit->write(services_->host, record);
}

void HeapWriter::root(const hprof_rec_heap_root& root) {
  hprof_rec_heap_root copy = root;
  emit(&copy.head);
}

void HeapWriter::learn_size(uint64_t id, uint32_t class_number, int64_t length, uint64_t bytes) {
  ClassEntry& entry = classes_->at(class_number);
  if (length < 0) {
    if (class_number != classes_->class_class) entry.heap_bytes = static_cast<uint32_t>(bytes);
    return;
  }
  if (entry.kind != ClassKind::kObjectArray) return;
  ArraySize* at = arrays_.make(id);
  if (at == nullptr) return fail("no memory for the lengths of arrays");
  *at = {static_cast<uint32_t>(length), static_cast<uint32_t>(bytes >> 3)};
}

bool HeapWriter::select(uint64_t id, uint32_t class_number, hprof_trace_serial trace) {
  if (id == id_) return kind_ != Kind::kNone;
  begin_object(id, class_number, trace);
  return kind_ != Kind::kNone;
}

void HeapWriter::begin_object(uint64_t id, uint32_t class_number, hprof_trace_serial trace) {
  write_object();
  id_ = id;
  trace_ = trace;
  kind_ = Kind::kNone;
  class_ = class_number;
  if (!classes_->has(class_number) || id == 0 || (has_classes_ && classes_->has(id))) return;
  const bool is_numbered = first_address_ == kNoAddress || id < first_address_;
  if (!counting_ && is_numbered && !begun_.add(id)) {
    return fail(is_written(id) ? "the VM reported the references of one object in several places"
                               : "no memory for the objects that are written");
  }
  if (classes_->has(id)) {
    kind_ = Kind::kClass;
    links_ = {};
    return;
  }
  const ClassEntry& entry = classes_->at(class_number);
  array_ = {};
  part_begin_ = part_filled_ = 0;
  array_written_ = false;
  switch (entry.kind) {
    case ClassKind::kObjectArray:
      kind_ = Kind::kObjectArray;
      if (const ArraySize* size = arrays_.find(id)) array_ = *size;
      break;
    case ClassKind::kPrimitiveArray:
      kind_ = Kind::kPrimitiveArray;
      break;
    default:
      if (entry.instance_size > kInstanceBytes || entry.instance_fields > kMostValues) {
        return fail("a class has too many fields");
      }
      if (!bytes_buffer_.cover(entry.instance_size) || !values_.cover(entry.instance_fields))
        return fail("no memory for the fields of an object");
      kind_ = Kind::kInstance;
      if (as_bytes_) std::memset(bytes_buffer_.data(), 0, entry.instance_size);
      if (as_fields_) std::memset(values_.data(), 0, entry.instance_fields * sizeof(hprof_value));
  }
}

void HeapWriter::write_object() {
  const Kind kind = kind_;
  kind_ = Kind::kNone;
  switch (kind) {
    case Kind::kClass:
      write_class(static_cast<uint32_t>(id_));
      break;
    case Kind::kInstance:
      write_instance();
      break;
    case Kind::kObjectArray:
      write_array_rest();
      break;
    case Kind::kPrimitiveArray:
      if (!array_written_) {  // it has no elements
        kind_ = kind;
        array_values(classes_->at(class_).element, 0, 0, nullptr);
        kind_ = Kind::kNone;
      }
      break;
    case Kind::kNone:
      break;
  }
}

void HeapWriter::put_bytes(uint32_t offset, uint32_t type, uint64_t bits) {
  uint8_t* to = bytes_buffer_.data() + offset;
  switch (width_of(type, id_size_)) {
    case 1:
      *to = static_cast<uint8_t>(bits);
      break;
    case 2:
      put_u2(to, static_cast<uint16_t>(bits));
      break;
    case 4:
      put_u4(to, static_cast<uint32_t>(bits));
      break;
    default:
      put_u8(to, bits);
  }
}

void HeapWriter::instance_reference(uint32_t index, uint64_t to) {
  instance_value(index, HPROF_TYPE_OBJECT, to);
}

void HeapWriter::instance_value(uint32_t index, uint32_t type, uint64_t bits) {
  if (kind_ != Kind::kInstance || counting_) return;
  const FoundField found = classes_->instance_field(class_, index);
  if (found.field == nullptr || found.field->type != type) return count_loss(lost_fields_);
  if (as_bytes_) put_bytes(found.offset, type, bits);
  if (as_fields_) {
    values_[found.ordinal] = {found.field->name, 0, static_cast<uint8_t>(type), 0, bits};
  }
}

void HeapWriter::write_instance() {
  const ClassEntry& entry = classes_->at(class_);
  count(entry.heap_bytes);
  hprof_rec_heap_instance record = {{sizeof(record), HPROF_RECORD_HEAP_INSTANCE, 0},
                                    id_,
                                    class_,
                                    entry.serial,
                                    trace_,
                                    entry.heap_bytes,
                                    as_fields_ ? entry.instance_fields : 0,
                                    entry.instance_size,
                                    as_fields_ ? values_.data() : nullptr,
                                    as_bytes_ ? bytes_buffer_.data() : nullptr};
  emit(&record.head);
}

void HeapWriter::fill_header(hprof_rec_heap_array* record, uint32_t kind, uint64_t bytes) {
  *record = {};
  record->head = {sizeof(*record), kind, 0};
  record->object = id_;
  record->class_object = class_;
  record->owner = classes_->at(class_).serial;
  record->trace = trace_;
  record->heap_bytes = bytes;
  record->length = array_.length;
}

// Writes the elements so far as a part of a long array.
void HeapWriter::write_part(uint32_t end) {
  const uint32_t size = end - part_begin_;
  if (!elements_.cover(size)) return fail("no memory for the elements of an array");
  std::memset(elements_.data() + part_filled_, 0, (size - part_filled_) * sizeof(uint64_t));
  hprof_rec_heap_array record;
  fill_header(&record, HPROF_RECORD_HEAP_OBJECT_ARRAY, heap_bytes());
  record.type = HPROF_TYPE_OBJECT;
  record.elements = elements_.data();
  if (array_.length > kPart) {
    record.first = part_begin_;
    record.count = size;
  }
  emit(&record.head);
  part_begin_ = end;
  part_filled_ = 0;
}

// Elements come in ascending order, without null elements.
void HeapWriter::element(uint32_t index, uint64_t to) {
  if (kind_ != Kind::kObjectArray || counting_) return;
  if (index >= array_.length || index < part_begin_ + part_filled_) return count_loss(lost_fields_);
  while (index - part_begin_ >= kPart && status_ == HPROF_OK) write_part(part_begin_ + kPart);
  const uint32_t at = index - part_begin_;
  if (!elements_.cover(uint64_t{at} + 1)) return fail("no memory for the elements of an array");
  std::memset(elements_.data() + part_filled_, 0, (at - part_filled_) * sizeof(uint64_t));
  elements_[at] = to;
  part_filled_ = at + 1;
}

void HeapWriter::write_array_rest() {
  count(heap_bytes());
  if (counting_) return;
  while (array_.length - part_begin_ > kPart && status_ == HPROF_OK) write_part(part_begin_ + kPart);
  write_part(array_.length);
}

void HeapWriter::array_values(uint32_t type, uint32_t length, uint64_t bytes, const void* elements) {
  if (kind_ != Kind::kPrimitiveArray || array_written_) return;
  array_written_ = true;
  array_.length = length;
  count(bytes);
  if (counting_) return;
  const bool is_text = type == HPROF_TYPE_CHAR || type == HPROF_TYPE_BYTE;
  hprof_rec_heap_array record;
  fill_header(&record, HPROF_RECORD_HEAP_PRIMITIVE_ARRAY, bytes);
  record.type = type;
  record.elements = config_.wants_arrays() && (!is_text || config_.wants_text()) ? elements : nullptr;
  emit(&record.head);
}

void HeapWriter::class_link(ClassLink link, uint64_t to) {
  if (kind_ != Kind::kClass) return;
  switch (link) {
    case ClassLink::kSuper:
      links_.super = to;
      break;
    case ClassLink::kLoader:
      links_.loader = to;
      break;
    case ClassLink::kSigners:
      links_.signers = to;
      break;
    case ClassLink::kDomain:
      links_.domain = to;
      break;
  }
}

void HeapWriter::class_constant(uint32_t index, uint64_t to) {
  if (kind_ != Kind::kClass || counting_ || to == 0) return;
  if (index > UINT16_MAX || links_.constant_count == kMostValues) return count_loss(lost_fields_);
  if (!constants_.cover(links_.constant_count + 1u)) return fail("no memory for the constants of a class");
  constants_[links_.constant_count++] = {0, static_cast<uint16_t>(index), HPROF_TYPE_OBJECT, 0, to};
}

// Statics are found by their position among the class's own fields, so that those without a value (null) are
// included.
void HeapWriter::static_value(uint32_t index, uint32_t type, uint64_t bits) {
  if (kind_ != Kind::kClass || counting_) return;
  const ClassEntry& entry = classes_->at(id_);
  const Field* field = classes_->static_field(static_cast<uint32_t>(id_), index);
  if (field == nullptr || field->type != type || entry.field_count > kMostValues)
    return count_loss(lost_fields_);
  if (links_.static_count == 0) {
    if (!statics_.cover(entry.field_count)) return fail("no memory for the fields of a class");
    std::memset(statics_.data(), 0, entry.field_count * sizeof(hprof_value));
    links_.static_count = 1;  // marks that there are values
  }
  statics_[field - entry.fields].bits = bits;
}

void HeapWriter::write_class(uint32_t number) {
  if (counting_) return;
  const ClassEntry& entry = classes_->at(number);
  hprof_rec_heap_class record = links_;
  record.head = {sizeof(record), HPROF_RECORD_HEAP_CLASS, 0};
  record.owner = entry.serial;
  record.object = number;
  if (record.super == 0 && entry.super != 0 && entry.is_interface == 0) record.super = entry.super;
  record.instance_size = entry.instance_size;
  const bool has_values = links_.static_count != 0;
  record.static_count = 0;
  const uint32_t field_count = entry.field_count < kMostValues ? entry.field_count : kMostValues;
  if (!values_.cover(field_count) || !statics_.cover(field_count))
    return fail("no memory for the fields of a class");
  hprof_value* fields = values_.data();
  for (uint32_t i = 0; i < field_count; i++) {
    const Field& field = entry.fields[i];
    if (field.is_static == 0) {
      fields[record.field_count++] = {field.name, 0, field.type, 0, 0};
      continue;
    }
    const uint64_t bits = has_values ? statics_[i].bits : 0;
    statics_[record.static_count++] = {field.name, 0, field.type, 0, bits};
  }
  record.constants = constants_.data();
  record.statics = statics_.data();
  record.fields = fields;
  emit(&record.head);
}

bool HeapWriter::expect(uint64_t id, uint32_t class_number) {
  if (!expected_.cover(expected_count_ + 1)) return false;
  expected_[expected_count_++] = {id, class_number};
  return true;
}

void HeapWriter::finish_classes(const uint64_t* loaders) {
  write_object();
  id_ = 0;
  write_classes_left(loaders);
  has_classes_ = true;
}

void HeapWriter::finish(const uint64_t* loaders) {
  write_object();
  for (uint32_t i = 0; i < bare_count_; i++) {
    if (!is_written(bare_[i])) select(bare_[i], classes_->class_class);
  }
  if (!counting_) write_dead();
  write_object();
  id_ = 0;
  if (!counting_) write_classes_left(loaders);
}

void HeapWriter::write_dead() {
  for (uint64_t i = 0; i < expected_count_; i++) {
    if (!is_written(expected_[i].id)) select(expected_[i].id, expected_[i].class_number);
  }
}

void HeapWriter::write_classes_left(const uint64_t* loaders) {
  for (uint32_t number = 1; number <= classes_->count(); number++) {
    const ClassEntry& entry = classes_->at(number);
    if (entry.is_gone != 0 || is_written(number)) continue;
    if (!begun_.add(number)) return fail("no memory for the objects that are written");
    links_ = {};
    links_.loader = loaders != nullptr ? loaders[number] : 0;
    write_class(number);
  }
}

}  // namespace hprof::dump
