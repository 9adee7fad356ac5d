#include "core/model/class_table.h"

#include "core/base/hash.h"
#include "core/base/scratch_text.h"
#include "core/model/class_names.h"

namespace hprof {

ClassSerial ClassTable::intern(Str signature, uint64_t identity) {
  if (!signature.data || signature.size > StringTable::kLongest / 4) return ClassSerial::kNone;
  const size_t stable_room = signature.size + 1;
  const size_t name_room = 2 * signature.size + 9;
  ScratchText scratch(*memory_, stable_room + name_room);
  if (!scratch.data()) return ClassSerial::kNone;
  TextWriter stable(scratch.data(), stable_room);
  TextWriter name(scratch.data() + stable_room, name_room);
  if (!write_stable_signature(signature, stable)) {
    return intern_with(signature, identity, false, name);
  }
  // The dropped suffix tells classes of the same identity apart (two lambdas of one loader).
  const uint64_t dropped = hash_bytes(signature.data, signature.size);
  return intern_with(stable.text(), hash_pair(identity, dropped), true, name);
}

ClassSerial ClassTable::intern_with(Str signature, uint64_t identity, bool folds, TextWriter& name) {
  const uint32_t id = raw(strings_->intern(signature));
  if (!id) return ClassSerial::kNone;
  const auto same = [&](const Entry& entry) {
    return entry.info.signature == id && entry.identity == identity;
  };
  const auto fill = [&](Entry& entry, uint32_t serial) {
    write_java_name(signature, name);
    entry = Entry{};
    entry.info.serial = serial;
    entry.info.name = raw(strings_->intern(name.text()));
    entry.info.signature = id;
    entry.identity = identity;
    entry.folds = folds;
    return entry.info.name != 0;
  };
  return ClassSerial{table_.intern(hash_pair(id, identity), same, fill)};
}

ClassSerial ClassTable::representative(ClassSerial serial) {
  const Entry* entry = table_.at(raw(serial));
  if (!entry) return ClassSerial::kNone;
  if (!entry->folds) return serial;
  std::atomic<uint32_t>* mark = strings_->mark(StringId{entry->info.signature});
  uint32_t first = mark->load(std::memory_order_acquire);
  if (!first && mark->compare_exchange_strong(first, raw(serial), std::memory_order_acq_rel)) return serial;
  return ClassSerial{first};
}

void ClassTable::set_source(ClassSerial serial, StringId source) {
  if (Entry* entry = table_.at(raw(serial))) store_relaxed(&entry->info.source, raw(source));
}

void ClassTable::set_object(ClassSerial serial, hprof_object_id object) {
  if (Entry* entry = table_.at(raw(serial))) store_relaxed(&entry->info.object, object);
}

}  // namespace hprof
