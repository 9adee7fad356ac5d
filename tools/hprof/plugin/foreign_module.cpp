#include "tools/hprof/plugin/foreign_module.h"

#include <algorithm>

#include "core/plugin/verify.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kHeadOfModule = 16;  // size, version and layout word, on all machines
constexpr uint64_t kLayoutAt = 8;
constexpr uint32_t kOptionsMost = 256;

constexpr uint64_t aligned(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

// Offsets of members behind numbers of 64 bits, on a machine.
struct Layout {
  uint64_t pointer, alignment;
  uint64_t needs_of_unit() const { return aligned(8 + 4 * pointer + 16, alignment); }
  uint64_t help_of_option() const { return aligned(3 * pointer + 8, alignment) + 16 + pointer; }
};

Layout layout_of(const ElfFile& file) { return {file.pointer_size(), file.is_i386() ? 4u : 8u}; }

}  // namespace

uint64_t layout_word(uint64_t pointer_size, uint64_t alignment) {
  const Layout layout = {pointer_size, alignment};
  uint64_t word = 0xcbf29ce484222325ull;
  const uint64_t values[] = {pointer_size,
                             kHeadOfModule + 4 * pointer_size,
                             layout.needs_of_unit() + 24 + pointer_size,
                             layout.help_of_option(),
                             aligned(pointer_size, alignment) + 8,
                             offsetof(hprof_offer, layout),
                             HPROF_LAYOUT_WORD ^ HPROF_LAYOUT_STEP(HPROF_LAYOUT_6, 0)};
  for (const uint64_t value : values) word = HPROF_LAYOUT_STEP(word, value);
  return word;
}

const char* ForeignModule::text(ElfFile& file, uint64_t pointer) {
  const uint64_t target = file.pointer_at(pointer);
  if (target == 0) return nullptr;
  texts_.push_back(file.text_at(target));
  return texts_.back().c_str();
}

// A unit that is no null pointer.
void ForeignModule::read_unit(ElfFile& file, uint64_t at) {
  const uint64_t step = file.pointer_size();
  const Layout layout = layout_of(file);
  hprof_unit& unit = units_.emplace_back();
  std::vector<hprof_option>& rows = options_.emplace_back();
  const auto size = static_cast<uint32_t>(file.number_at(at, 4));
  unit.size = size < layout.needs_of_unit() + 24 + 2 * step ? size : uint32_t{sizeof unit};
  unit.kind = static_cast<uint32_t>(file.number_at(at + 4, 4));
  unit.id = text(file, at + 8);
  unit.select = text(file, at + 8 + step);
  unit.summary = text(file, at + 8 + 2 * step);
  unit.needs = file.number_at(at + layout.needs_of_unit(), 8);
  const uint64_t options = file.pointer_at(at + 8 + 3 * step), counts = at + 8 + 4 * step;
  const uint64_t count = file.number_at(counts, 4), stride = file.number_at(counts + 4, 4);
  for (uint64_t i = 0; i < std::min<uint64_t>(count, kOptionsMost) && file.ok(); ++i) {
    hprof_option& row = rows.emplace_back();
    row.name = text(file, options + i * stride);
    row.help = text(file, options + i * stride + layout.help_of_option());
    if (row.name == nullptr) row.name = "";
  }
  unit.options = rows.data();
  unit.option_count = static_cast<uint32_t>(rows.size());
  unit.option_stride = sizeof(hprof_option);
  list_.push_back(&unit);
}

std::string ForeignModule::read(ElfFile& file) {
  const std::vector<std::string> exported = file.exported();
  if (!std::binary_search(exported.begin(), exported.end(), HPROF_MODULE_ENTRY_NAME))
    return "does not export " HPROF_MODULE_ENTRY_NAME;
  const Layout layout = layout_of(file);
  uint64_t place = 0;
  if (!file.find(layout_word(layout.pointer, layout.alignment), &place))
    return "has no record with the layout word of such machines: was built with other plugin headers";
  const uint64_t at = place - kLayoutAt, step = file.pointer_size();
  const auto size = static_cast<uint32_t>(file.number_at(at, 4));
  module_.size = size < kHeadOfModule + 4 * step + 4 ? size : uint32_t{sizeof module_};
  module_.abi_major = static_cast<uint16_t>(file.number_at(at + 4, 2));
  module_.abi_minor = static_cast<uint16_t>(file.number_at(at + 6, 2));
  module_.layout = HPROF_LAYOUT_WORD;
  module_.name = text(file, at + kHeadOfModule);
  module_.version = text(file, at + kHeadOfModule + step);
  module_.vendor = text(file, at + kHeadOfModule + 2 * step);
  const uint64_t units = file.pointer_at(at + kHeadOfModule + 3 * step);
  const uint64_t count = file.number_at(at + kHeadOfModule + 4 * step, 4);
  list_.reserve(kUnitsPerModule);
  for (uint64_t i = 0; units != 0 && count <= kUnitsPerModule && i < count && file.ok(); ++i) {
    const uint64_t unit = file.pointer_at(units + i * step);
    if (unit != 0) read_unit(file, unit);
    if (unit == 0) list_.push_back(nullptr);
  }
  module_.units = units != 0 ? list_.data() : nullptr;
  module_.unit_count = static_cast<uint32_t>(count);
  if (!file.ok()) return "is cut short, or its record of the module refers to what is not in the file";
  return "";
}

}  // namespace hprof::tool
