// Appends constants; finds Class constants by name through a small hash table that is built when first
// needed.
#include "core/modules/bytecode/engine/class_writer.h"

#include "core/base/hash.h"

namespace hprof {

namespace {

// Names chosen to collide cost this many probes each, then get a second constant, which is legal.
constexpr uint32_t kMostProbes = 16;

}  // namespace

PoolWriter::PoolWriter(const ClassView& view, Scratch& scratch)
    : view_(view), tail_(scratch.pool_tail), table_buffer_(scratch.class_table), count_(view.pool.count) {
  tail_.clear();
}

uint16_t PoolWriter::next() {
  // constant_pool_count is a u2, and the count is one more than the last index.
  if (count_ >= 65535) {
    failed_ = true;
    return 0;
  }
  return static_cast<uint16_t>(count_++);
}

uint16_t PoolWriter::utf8(Span text) {
  uint16_t index = text.size <= 65535 ? next() : 0;
  if (index == 0) {
    failed_ = true;
    return 0;
  }
  tail_.put_u1(kTagUtf8);
  tail_.put_u2(text.size);
  tail_.put(text.data, text.size);
  return index;
}

uint16_t PoolWriter::integer(int32_t value) {
  uint16_t index = next();
  if (index == 0) return 0;
  tail_.put_u1(kTagInteger);
  tail_.put_u4(static_cast<uint32_t>(value));
  return index;
}

uint16_t PoolWriter::method(uint16_t owner, Span name, Span descriptor) {
  uint16_t name_index = utf8(name);
  uint16_t descriptor_index = utf8(descriptor);
  uint16_t name_and_type = next();
  if (name_and_type == 0) return 0;
  tail_.put_u1(kTagNameAndType);
  tail_.put_u2(name_index);
  tail_.put_u2(descriptor_index);
  uint16_t index = next();
  if (index == 0) return 0;
  tail_.put_u1(kTagMethodref);
  tail_.put_u2(owner);
  tail_.put_u2(name_and_type);
  return index;
}

bool PoolWriter::build_table() {
  const ConstantPool& pool = view_.pool;
  uint32_t classes = 0;
  for (uint32_t i = 1; i < pool.count; i++) classes += pool.tag(i) == kTagClass;
  uint32_t size = 64;
  while (size < classes * 2 + 32) size *= 2;
  table_ = table_buffer_.array<Entry>(size);
  if (table_ == nullptr) {
    no_memory_ = true;
    return false;
  }
  for (uint32_t i = 0; i < size; i++) table_[i] = {};
  table_mask_ = size - 1;
  table_free_ = size / 4 * 3;
  for (uint32_t i = 1; i < pool.count; i++) {
    Span name;
    if (!pool.class_name(i, &name)) continue;
    Entry* entry = find(name);
    if (entry == nullptr || entry->index != 0) continue;
    *entry = {name, static_cast<uint16_t>(i)};
    table_free_--;
  }
  return true;
}

// The entry of that name, or a free one for it; NULL: too many names collide.
PoolWriter::Entry* PoolWriter::find(Span name) {
  uint32_t slot = static_cast<uint32_t>(hash_bytes(name.data, name.size)) & table_mask_;
  for (uint32_t probe = 0; probe < kMostProbes; probe++, slot = (slot + 1) & table_mask_) {
    if (table_[slot].index == 0 || table_[slot].name.equals(name)) return &table_[slot];
  }
  return nullptr;
}

uint16_t PoolWriter::new_class(Span name) {
  uint16_t text = utf8(name);
  uint16_t index = next();
  if (index == 0) return 0;
  tail_.put_u1(kTagClass);
  tail_.put_u2(text);
  return index;
}

uint16_t PoolWriter::class_of(Span name) {
  if (table_ == nullptr && !build_table()) return 0;
  Entry* entry = find(name);
  if (entry != nullptr && entry->index != 0) return entry->index;
  uint16_t index = new_class(name);
  if (index == 0) return 0;
  if (entry != nullptr && table_free_ != 0) {
    *entry = {name, index};
    table_free_--;
  }
  return index;
}

}  // namespace hprof
