#include "tools/heap/read/heap_classes.h"

#include "tools/format/utf8.h"

namespace hprof::tool {

HeapClasses::HeapClasses() {
  list.emplace_back();
  list[0].name = "(unknown class)";
  for (uint8_t type = HPROF_TYPE_BOOLEAN; type <= HPROF_TYPE_LONG; ++type) {
    primitives_[type] = static_cast<uint32_t>(list.size());
    list.emplace_back();
    list.back().element = type;
    list.back().name = std::string(type_name(type)) + "[]";
  }
}

uint32_t HeapClasses::take(uint64_t id) {
  auto [place, fresh] = by_id_.try_emplace(id, static_cast<uint32_t>(list.size()));
  if (fresh) {
    list.emplace_back();
    list.back().id = id;
  }
  return place->second;
}

uint32_t HeapClasses::find(uint64_t id) const {
  auto found = by_id_.find(id);
  return found == by_id_.end() ? kNoClass : found->second;
}

uint32_t HeapClasses::named(const std::string& name) const {
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (list[i].loader == 0 && list[i].name == name) return i;
  }
  return kNoClass;
}

void HeapClasses::add_dump(const ClassRecord& record) {
  HeapClass& to = list[take(record.id)];
  if (to.dumped) return;
  to.dumped = true;
  to.super_id = record.super;
  to.loader = record.loader;
  to.signers = record.signers;
  to.domain = record.domain;
  to.fields = record.fields;
  to.statics = record.statics;
  for (const DumpedConstant& constant : record.constants) {
    if (constant.type == HPROF_TYPE_OBJECT && constant.value != 0) to.constants.push_back(constant.value);
  }
}

void HeapClasses::finish(const Definitions& names, unsigned size, Follow follow) {
  id_size = size;
  name_all(names);
  for (HeapClass& each : list) {
    each.super = each.super_id == 0 ? kNoClass : find(each.super_id);
  }
  class_class = named("java.lang.Class");
  string_class = named("java.lang.String");
  thread_class = named("java.lang.Thread");
  loader_class = named("java.lang.ClassLoader");
  string_value = offset_of(string_class, "value", HPROF_TYPE_OBJECT, names);
  string_coder = offset_of(string_class, "coder", HPROF_TYPE_BYTE, names);
  string_offset = offset_of(string_class, "offset", HPROF_TYPE_INT, names);
  string_count = offset_of(string_class, "count", HPROF_TYPE_INT, names);
  find_kinds();
  find_references(names, follow);
}

// A primitive array class of the dump replaces the synthetic one.
void HeapClasses::name_all(const Definitions& names) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    HeapClass& each = list[i];
    if (each.id == 0) continue;
    each.name = names.class_name(each.id);
    size_t size = each.name.size();
    if (size < 2 || each.name.compare(size - 2, 2, "[]") != 0) continue;
    each.element = HPROF_TYPE_OBJECT;
    for (uint8_t type = HPROF_TYPE_BOOLEAN; type <= HPROF_TYPE_LONG; ++type) {
      if (each.name != std::string(type_name(type)) + "[]" || list[primitives_[type]].id != 0) continue;
      each.element = type;
      each.instances += list[primitives_[type]].instances;
      primitives_[type] = i;
    }
  }
}

bool HeapClasses::extends(uint32_t index, uint32_t ancestor) const {
  for (unsigned depth = 0; index != kNoClass && depth < kDeepest; ++depth) {
    if (index == ancestor) return true;
    index = list[index].super;
  }
  return false;
}

void HeapClasses::find_kinds() {
  static constexpr struct {
    const char* name;
    ReferenceKind kind;
  } kKinds[] = {{"java.lang.ref.SoftReference", ReferenceKind::kSoft},
                {"java.lang.ref.WeakReference", ReferenceKind::kWeak},
                {"java.lang.ref.PhantomReference", ReferenceKind::kPhantom},
                {"java.lang.ref.FinalReference", ReferenceKind::kFinal}};
  for (const auto& each : kKinds) {
    uint32_t base = named(each.name);
    if (base == kNoClass) continue;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].instances != 0 && extends(i, base)) list[i].kind = each.kind;
    }
  }
}

std::vector<InstanceField> HeapClasses::instance_fields(uint32_t index, uint64_t most) const {
  std::vector<InstanceField> result;
  uint64_t offset = 0;
  for (unsigned depth = 0; index != kNoClass && depth < kDeepest; ++depth) {
    for (const DumpedField& field : list[index].fields) {
      unsigned width = width_of(field.type, id_size);
      if (offset + width > most) return result;
      result.push_back({static_cast<uint32_t>(offset), field.type, field.name, index});
      offset += width;
    }
    index = list[index].super;
  }
  return result;
}

uint32_t HeapClasses::offset_of(uint32_t index, const std::string& name, uint8_t type,
                                const Definitions& names) const {
  uint32_t offset = UINT32_MAX;
  if (index == kNoClass) return offset;
  for (const InstanceField& field : instance_fields(index, UINT32_MAX)) {
    if (field.type == type && names.string(field.name) == name) offset = field.offset;
  }
  return offset;
}

// Only classes with instances, and only up to their number of values, so that offsets take no more memory
// than a hostile file has instances.
void HeapClasses::find_references(const Definitions& names, Follow follow) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    HeapClass& each = list[i];
    if (each.instances == 0 || each.is_array()) continue;
    bool followed = each.kind == ReferenceKind::kNone || each.kind == ReferenceKind::kFinal ||
                    follow == Follow::kAll || (follow == Follow::kSoft && each.kind == ReferenceKind::kSoft);
    each.references.clear();
    for (const InstanceField& field : instance_fields(i, each.most_values)) {
      if (field.type != HPROF_TYPE_OBJECT) continue;
      if (each.kind != ReferenceKind::kNone && list[field.declared].name == "java.lang.ref.Reference") {
        const std::string_view name = names.string(field.name);
        if (!followed && name == "referent") continue;
        if (name == "next") each.next = field.offset;
        if (name == "discovered") each.discovered = field.offset;
      }
      each.references.push_back(field.offset);
    }
  }
}

}  // namespace hprof::tool
