// The classes that records refer to, and their names.
#include "core/model/class_table.h"

#include "core/base/hash.h"
#include "core/model/class_names.h"

namespace hprof {
namespace {

// Scratch for names: on the stack as a rule, from the account for the rare longer ones (once per class).
class Scratch {
 public:
  Scratch(MemoryAccount& memory, size_t bytes) : memory_(memory), bytes_(bytes) {
    data_ = bytes <= sizeof local_ ? local_ : static_cast<char*>(memory.allocate(bytes));
  }
  ~Scratch() {
    if (data_ != local_) memory_.release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() { return data_; }

 private:
  MemoryAccount& memory_;
  size_t bytes_;
  char* data_;
  char local_[1024];
};

}  // namespace

ClassSerial ClassTable::intern(Str signature, uint64_t identity) {
  if (!signature.data || signature.size > StringTable::kLongest / 4) return ClassSerial::kNone;
  const size_t stable_room = signature.size + 1;
  const size_t name_room = 2 * signature.size + 9;
  Scratch scratch(*memory_, stable_room + name_room);
  if (!scratch.data()) return ClassSerial::kNone;
  TextWriter stable(scratch.data(), stable_room);
  TextWriter name(scratch.data() + stable_room, name_room);
  if (raw_names_ || !write_stable_signature(signature, stable)) {
    return intern_with(signature, identity, false, name);
  }
  // The dropped part distinguishes classes with the same identity (two lambdas of one loader).
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

void ClassTable::set_trace(ClassSerial serial, TraceSerial trace) {
  if (Entry* entry = table_.at(raw(serial))) store_relaxed(&entry->info.trace, raw(trace));
}

}  // namespace hprof
