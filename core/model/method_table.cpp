#include "core/model/method_table.h"

#include "core/base/hash.h"

namespace hprof {
namespace {

// Mark the two states that need no table of their own.
constexpr LineTable kNoLines{0};
constexpr LineTable kAmbiguousLines{0};

}  // namespace

MethodId MethodTable::intern(ClassSerial owner, StringId name, StringId signature) {
  const uint32_t first = raw(classes_->representative(owner));
  if (!first || name == StringId::kNone) return MethodId::kNone;
  const MethodInfo wanted{first, raw(name), raw(signature)};
  const auto same = [&](const Entry& entry) {
    return entry.info.owner == wanted.owner && entry.info.name == wanted.name &&
           entry.info.signature == wanted.signature;
  };
  const auto fill = [&](Entry& entry, uint32_t) {
    entry.info = wanted;
    entry.lines.store(nullptr, std::memory_order_relaxed);
    return true;
  };
  const uint64_t names = uint64_t{wanted.name} << 32 | wanted.signature;
  return MethodId{table_.intern(hash_pair(names, wanted.owner), same, fill)};
}

bool MethodTable::set_lines(MethodId id, const LineStart* rows, uint32_t count) {
  Entry* entry = table_.at(raw(id));
  if (!entry) return false;
  const LineTable* known = entry->lines.load(std::memory_order_acquire);
  if (known == &kAmbiguousLines || (known && same_rows(*known, rows, count))) return true;
  const LineTable* table = count ? make_line_table(lines_, rows, count) : &kNoLines;
  if (!table) return false;
  if (!known && entry->lines.compare_exchange_strong(known, table, std::memory_order_acq_rel)) return true;
  if (known != &kAmbiguousLines && !same_rows(*known, table->rows(), table->count)) {
    entry->lines.store(&kAmbiguousLines, std::memory_order_release);
  }
  if (table != &kNoLines) drop_line_table(lines_, table);
  return true;
}

}  // namespace hprof
