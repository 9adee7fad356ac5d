#include "core/plugin/verify.h"

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/sink.h>

#include "core/plugin/option_row.h"

namespace hprof {
namespace {

constexpr size_t kRowMost = 1024;  // bytes of a row
constexpr uint32_t kVariantsMost = 32;

bool say(TextWriter* reason, Str text) {
  reason->put(text);
  return false;
}

bool say_number(TextWriter* reason, Str before, uint64_t number, Str after) {
  reason->put(before).put_unsigned(number).put(after);
  return false;
}

// True: rows have at least the first version's members, and are aligned.
bool is_row_stride(uint32_t stride, size_t least) {
  return stride >= least && stride <= kRowMost && stride % alignof(void*) == 0;
}

bool is_bounded_text(const char* text, size_t most) { return memchr(text, '\0', most + 1) != nullptr; }

bool verify_version(const hprof_module& module, TextWriter* reason) {
  if (module.abi_major != HPROF_ABI_MAJOR || module.abi_minor > HPROF_ABI_MINOR) {
    reason->put("needs version ").put_unsigned(module.abi_major).put('.').put_unsigned(module.abi_minor);
    reason->put(" of the plugin ABI, this agent has ").put_unsigned(HPROF_ABI_MAJOR).put('.');
    reason->put_unsigned(HPROF_ABI_MINOR);
    return false;
  }
  if (module.layout != HPROF_LAYOUT_WORD) {
    return say(reason, "was built with other plugin headers or another C ABI: the layout word differs");
  }
  return true;
}

bool verify_select(const char* select, TextWriter* reason) {
  if (select == nullptr) return true;
  if (!is_bounded_text(select, kSelectMost)) return say(reason, "has a select text of more than 255 bytes");
  Str rest(select);
  Str typed;
  while (next_part(&rest, '|', &typed)) {
    if (!is_plain_name(typed.part(0, typed.find('=')), kOptionNameMost, true)) {
      return say(reason, "has a select text that is not of the form name=value|name=value");
    }
  }
  return true;
}

bool verify_options(const hprof_unit& unit, TextWriter* reason) {
  if (unit.config_size > kConfigBytesMost) {
    return say_number(reason, "has a config struct of more than ", kConfigBytesMost, " bytes");
  }
  if (unit.option_count == 0) return true;
  if (unit.options == nullptr) return say(reason, "counts options but has none");
  if (unit.option_count > kOptionRowsMost) {
    return say_number(reason, "has more than ", kOptionRowsMost, " options");
  }
  if (!is_row_stride(unit.option_stride, HPROF_SIZE_TO(hprof_option, help))) {
    return say_number(reason, "has option rows of ", unit.option_stride, " bytes");
  }
  const OptionTable table = options_of(unit);
  for (uint32_t i = 0; i < table.count; ++i) {
    const char* problem = option_row_problem(table[i], unit.config_size);
    if (problem != nullptr) {
      say_number(reason, "has an option row that is wrong (row ", i + 1, ": ");
      return say(&reason->put(problem), ")");
    }
    if (table.find(table[i].name) != &table[i]) {
      reason->put("has two options named ").put(table[i].name);
      return false;
    }
  }
  return true;
}

bool verify_variants(const hprof_unit* unit, TextWriter* reason) {
  if (!HPROF_REACHES(unit, hprof_unit, variant_stride) || unit->variant_count == 0) return true;
  if (unit->variant_count > kVariantsMost ||
      !is_row_stride(unit->variant_stride, HPROF_SIZE_TO(hprof_variant, wants)) ||
      unit->variants == nullptr) {
    return say(reason, "has a list of variants that is wrong");
  }
  const char* row = reinterpret_cast<const char*>(unit->variants);
  for (uint32_t i = 0; i < unit->variant_count; ++i, row += unit->variant_stride) {
    const auto& variant = *reinterpret_cast<const hprof_variant*>(row);
    if (variant.when == nullptr) return say(reason, "has a variant without an option");
  }
  return true;
}

bool verify_collector(const hprof_collector_ops& ops, TextWriter* reason) {
  const hprof_handlers* handlers =
      ops.size >= HPROF_SIZE_TO(hprof_collector_ops, handlers) ? ops.handlers : nullptr;
  if (ops.size < HPROF_SIZE_TO(hprof_collector_ops, destroy))
    return say(reason, "has a collector's function table cut short");
  if (ops.create == nullptr || ops.start == nullptr || ops.report == nullptr || ops.reset == nullptr ||
      ops.stop == nullptr || ops.destroy == nullptr) {
    return say(reason, "lacks one of create, start, report, reset, stop and destroy");
  }
  if (handlers != nullptr && handlers->size < offsetof(hprof_handlers, vm_init)) {
    return say(reason, "has a handler table cut short");
  }
  return true;
}

bool verify_encoder(const hprof_encoder_ops& ops, TextWriter* reason) {
  if (ops.size < HPROF_SIZE_TO(hprof_encoder_ops, destroy))
    return say(reason, "has an encoder's function table cut short");
  if (ops.create == nullptr || ops.encode == nullptr || ops.destroy == nullptr) {
    return say(reason, "lacks one of create, encode and destroy");
  }
  return true;
}

bool verify_sink(const hprof_sink_ops& ops, TextWriter* reason) {
  if (ops.size < HPROF_SIZE_TO(hprof_sink_ops, name))
    return say(reason, "has a sink's function table cut short");
  if (ops.open == nullptr || ops.write == nullptr || ops.close == nullptr || ops.name == nullptr) {
    return say(reason, "lacks one of open, write, close and name");
  }
  return true;
}

bool verify_filter(const hprof_filter_ops& ops, TextWriter* reason) {
  if (ops.size < HPROF_SIZE_TO(hprof_filter_ops, destroy))
    return say(reason, "has a filter's function table cut short");
  if (ops.create == nullptr || ops.write == nullptr || ops.finish == nullptr || ops.destroy == nullptr) {
    return say(reason, "lacks one of create, write, finish and destroy");
  }
  return true;
}

bool verify_ops(const hprof_unit& unit, TextWriter* reason) {
  if (unit.ops == nullptr) return say(reason, "has no function table");
  switch (unit.kind) {
    case HPROF_UNIT_COLLECTOR:
      return verify_collector(*static_cast<const hprof_collector_ops*>(unit.ops), reason);
    case HPROF_UNIT_ENCODER:
      return verify_encoder(*static_cast<const hprof_encoder_ops*>(unit.ops), reason);
    case HPROF_UNIT_SINK:
      return verify_sink(*static_cast<const hprof_sink_ops*>(unit.ops), reason);
    case HPROF_UNIT_FILTER:
      return verify_filter(*static_cast<const hprof_filter_ops*>(unit.ops), reason);
    case kUnitOfCore:  // the caller checks it
      return true;
    default:
      return say_number(reason, "is of kind ", unit.kind, ", which this agent does not know");
  }
}

}  // namespace

hprof_offer make_offer() {
  hprof_offer offer;
  memset(&offer, 0, sizeof(offer));
  offer.size = sizeof(offer);
  offer.abi_major = HPROF_ABI_MAJOR;
  offer.abi_minor = HPROF_ABI_MINOR;
  offer.layout = HPROF_LAYOUT_WORD;
  return offer;
}

bool verify_unit(const hprof_unit* unit, TextWriter* reason) {
  if (unit == nullptr) return say(reason, "is missing from the module's list");
  if (unit->size < HPROF_SIZE_TO(hprof_unit, ops))
    return say_number(reason, "has a record of only ", unit->size, " bytes");
  if (unit->id == nullptr || !is_bounded_text(unit->id, kUnitIdMost) ||
      !is_plain_name(unit->id, kUnitIdMost, false)) {
    return say(reason, "has an id that is not made of letters, digits and _");
  }
  // Unknown bits: a need is demanded, events and a variant's needs are not there.
  if ((unit->needs & ~kKnownNeeds) != 0)
    return say(reason, "has bits in `needs` that this agent does not know");
  if (!verify_variants(unit, reason)) return false;
  return verify_select(unit->select, reason) && verify_options(*unit, reason) && verify_ops(*unit, reason);
}

bool verify_record(const hprof_module* module, Str expected_name, TextWriter* reason) {
  if (module->size < HPROF_SIZE_TO(hprof_module, abi_minor))
    return say(reason, "returned a record without a version");
  // The version first: if it differs, the rest of the record has no meaning.
  if (module->abi_major != HPROF_ABI_MAJOR || module->abi_minor > HPROF_ABI_MINOR) {
    return verify_version(*module, reason);
  }
  if (module->size < HPROF_SIZE_TO(hprof_module, unit_count)) {
    return say_number(reason, "returned a record of only ", module->size, " bytes");
  }
  if (!verify_version(*module, reason)) return false;
  if (module->name == nullptr || !is_bounded_text(module->name, kUnitIdMost))
    return say(reason, "has no name");
  if (Str(module->name) != expected_name) {
    reason->put("calls itself ").put_printable(module->name);
    return false;
  }
  if (module->unit_count == 0 || module->units == nullptr) return say(reason, "has no units");
  if (module->unit_count > kUnitsPerModule)
    return say_number(reason, "has more than ", kUnitsPerModule, " units");
  return true;
}

bool verify_module(const hprof_module* module, Str expected_name, TextWriter* reason) {
  if (!verify_record(module, expected_name, reason)) return false;
  for (uint32_t i = 0; i < module->unit_count; ++i) {
    char text[320];
    TextWriter problem(text, sizeof(text));
    if (verify_unit(module->units[i], &problem)) continue;
    say_number(reason, "has a unit that is wrong (unit ", i + 1, " ");
    return say(&reason->put(problem.text()), ")");
  }
  return true;
}

}  // namespace hprof
