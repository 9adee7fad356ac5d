#include "class_layouts.h"

#include <cstring>

namespace hprof::dump {

bool ClassLayouts::open(const Services* services) {
  services_ = services;
  if (entries_.open(*services, kMost + 1) && arena_.open(*services, kArenaBytes)) return true;
  close();
  return false;
}

void ClassLayouts::close() {
  entries_.close();
  arena_.close();
  count_ = 0;
  arena_used_ = 0;
}

uint32_t ClassLayouts::add() { return entries_.cover(count_ + 2) ? ++count_ : 0; }

void* ClassLayouts::take(uint64_t bytes) {
  bytes = (bytes + 7) & ~uint64_t{7};
  if (!arena_.cover(arena_used_ + bytes)) return nullptr;
  void* taken = arena_.data() + arena_used_;
  arena_used_ += bytes;
  return taken;
}

Field* ClassLayouts::make_fields(uint32_t count) {
  return static_cast<Field*>(take(uint64_t{count} * sizeof(Field)));
}

uint32_t* ClassLayouts::make_numbers(uint32_t count) {
  return static_cast<uint32_t*>(take(uint64_t{count} * sizeof(uint32_t)));
}

// Classes come in any order, and a superclass is resolved first: as many rounds as the deepest hierarchy has
// levels in the wrong order.
void ClassLayouts::resolve(uint32_t id_size) {
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t n = 1; n <= count_; n++) {
      ClassEntry& entry = entries_[n];
      if (entry.is_resolved == 0 && entry.has_fields != 0 && try_resolve(entry, id_size)) progress = true;
    }
  }
  // A class that could not be linked has the fields of its superclasses only.
  for (uint32_t n = 1; n <= count_; n++) {
    ClassEntry& entry = entries_[n];
    uint32_t known = n;
    while (has(known) && entries_[known].is_resolved == 0) known = entries_[known].super;
    if (known == n || !has(known)) continue;
    entry.instance_size = entries_[known].instance_size;
    entry.instance_fields = entries_[known].instance_fields;
  }
}

bool ClassLayouts::try_resolve(ClassEntry& entry, uint32_t id_size) {
  const ClassEntry* super = has(entry.super) ? &entries_[entry.super] : nullptr;
  if (super != nullptr && super->is_resolved == 0) return false;
  for (uint32_t i = 0; i < entry.interface_count; i++) {
    if (entries_[entry.interfaces[i]].is_resolved == 0) return false;
  }
  if (!gather_interfaces(entry)) return false;
  entry.fields_before = super != nullptr ? super->fields_before + super->field_count : 0;
  uint32_t offset = 0;
  uint16_t ordinal = 0;
  for (uint32_t i = 0; i < entry.field_count; i++) {
    Field& field = entry.fields[i];
    if (field.is_static != 0) continue;
    field.offset = offset;
    field.ordinal = ordinal++;
    offset += width_of(field.type, id_size);
  }
  entry.instance_size = offset + (super != nullptr ? super->instance_size : 0);
  entry.instance_fields = ordinal + (super != nullptr ? super->instance_fields : 0);
  entry.is_resolved = 1;
  return true;
}

// Replaces the direct interfaces by all superinterfaces and the superclasses' that have fields, each once.
bool ClassLayouts::gather_interfaces(ClassEntry& entry) {
  const ClassEntry* super = has(entry.super) ? &entries_[entry.super] : nullptr;
  uint64_t most = super != nullptr ? super->interface_count : 0;
  for (uint32_t i = 0; i < entry.interface_count; i++) {
    most += 1 + uint64_t{entries_[entry.interfaces[i]].interface_count};
  }
  if (most == 0) return true;
  if (most > kMost) return false;
  uint32_t* all = make_numbers(static_cast<uint32_t>(most));
  if (all == nullptr) return false;
  uint32_t count = 0, fields = 0;
  const auto add = [&](uint32_t number) {
    if (entries_[number].field_count == 0) return;
    for (uint32_t i = 0; i < count; i++) {
      if (all[i] == number) return;
    }
    all[count++] = number;
    fields += entries_[number].field_count;
  };
  for (uint32_t i = 0; super != nullptr && i < super->interface_count; i++) add(super->interfaces[i]);
  for (uint32_t i = 0; i < entry.interface_count; i++) {
    const ClassEntry& direct = entries_[entry.interfaces[i]];
    for (uint32_t j = 0; j < direct.interface_count; j++) add(direct.interfaces[j]);
    add(entry.interfaces[i]);
  }
  entry.interfaces = all;
  entry.interface_count = count;
  entry.interface_fields = fields;
  return true;
}

FoundField ClassLayouts::instance_field(uint32_t number, uint32_t index) const {
  const ClassEntry& of = entries_[number];
  if (of.is_resolved == 0 || index < of.interface_fields) return {nullptr, 0, 0};
  index -= of.interface_fields;
  const ClassEntry* entry = &of;
  while (index < entry->fields_before) entry = &entries_[entry->super];
  index -= entry->fields_before;
  if (index >= entry->field_count || entry->fields[index].is_static != 0) return {nullptr, 0, 0};
  const Field& field = entry->fields[index];
  return {&field, of.instance_size - entry->instance_size + field.offset,
          of.instance_fields - entry->instance_fields + field.ordinal};
}

const Field* ClassLayouts::static_field(uint32_t number, uint32_t index) const {
  const ClassEntry& entry = entries_[number];
  const uint64_t before = uint64_t{entry.interface_fields} + entry.fields_before;
  if (entry.is_resolved == 0 || index < before || index - before >= entry.field_count) return nullptr;
  const Field* field = &entry.fields[index - before];
  return field->is_static != 0 ? field : nullptr;
}

}  // namespace hprof::dump
