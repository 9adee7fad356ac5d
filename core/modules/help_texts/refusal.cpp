#include "core/modules/help_texts/refusal.h"

#include "core/option/core_options.h"
#include "core/option/select_text.h"
#include "core/option/selection.h"
#include "core/option/shipped.h"

namespace hprof {

namespace {

// Appends the ids of all units, or of the collectors.
void put_ids(const ModuleSet& modules, bool collectors, const char* between, TextWriter* out) {
  const size_t before = out->size();
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_unit& unit = *modules.unit(i).record;
    if (unit.kind == kUnitOfCore || (collectors && unit.kind != HPROF_UNIT_COLLECTOR)) continue;
    out->put(out->size() == before ? "" : between).put(unit.id);
  }
}

void put_plugin(const ModuleSet& modules, Str name, TextWriter* out) {
  if (modules.state_of(name) == ModuleState::kRefused) {
    out->put(" cannot be: the module was refused");
    return;
  }
  modules.search().put_folders(&out->put(" is not a unit of this build, or of "));
  out->put("; there are: ");
  const size_t before = out->size();
  put_ids(modules, false, " ", out);
  if (out->size() == before) out->put("none");
}

void put_module(const ModuleSet& modules, Str module, TextWriter* out) {
  out->put(" is not in this build: ");
  if (modules.state_of(module) == ModuleState::kRefused) {
    out->put("module ").put(module).put(" was refused");
  } else {
    modules.search().put_folders(&out->put("no module ").put(module).put(" in "));
  }
}

void put_missing(const ModuleSet& modules, Str name, Str value, TextWriter* out) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (row.serves(name, value) && modules.state_of(row.module) != ModuleState::kOpen)
      return put_module(modules, row.module, out);
  }
  out->put(" is not supported by any unit of this build");
}

void put_choices(ModuleSet& modules, TextWriter* out) {
  modules.open_all();
  out->put("nothing to profile is chosen; choose from: ");
  const OptionTable profiles = core_options(CoreGroup::kProfile);
  for (uint32_t i = 0; i < profiles.count; ++i) {
    put_selector_values(modules, profiles[i].name, &out->put(profiles[i].name).put('='));
    out->put(' ');
  }
  put_ids(modules, true, "|", &out->put("plugin="));
}

// Appends the option that selected the unit; else its select text, or of an encoder its id.
void put_unit(const ModuleSet& modules, const OptionList& list, Str id, TextWriter* out) {
  const hprof_unit& unit = *modules.find_unit(id)->record;
  for (uint32_t i = 0; i < list.count(); ++i) {
    const OptionItem& typed = list[i];
    if (typed.replaced || !select_matches(unit.select, typed.name, typed.value)) continue;
    out->put(typed.name).put('=').put_printable(typed.value, 60);
    return;
  }
  if (unit.kind != HPROF_UNIT_COLLECTOR) {
    out->put(id);
  } else if (unit.select == nullptr) {
    out->put("plugin=").put(id);
  } else {
    put_condensed(unit.select, out);
  }
}

// Appends the values of format= whose encoders take all that the collector emits.
void put_formats(ModuleSet& modules, Str collector, TextWriter* out) {
  modules.open_all();
  const hprof_unit& unit = *modules.find_unit(collector)->record;
  const size_t before = out->size();
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_unit& encoder = *modules.unit(i).record;
    if (encoder.kind != HPROF_UNIT_ENCODER || !takes_all_of(encoder, unit)) continue;
    const Str id(encoder.id);
    out->put(out->size() == before ? "; supported with format=" : "|");
    out->put(id.part(0, kEncoderPrefix.size) == kEncoderPrefix ? id.part(kEncoderPrefix.size) : id);
  }
}

}  // namespace

void explain_refusal(const Refusal& refusal, const OptionList& list, ModuleSet& modules, Error* error) {
  char text[700], more[200];
  TextWriter out(text, sizeof(text)), after(more, sizeof(more));
  const Str name = refusal.name, value = refusal.value;
  switch (refusal.why) {
    case Refusal::kPlugin:
      put_plugin(modules, value, &out.put(name).put('=').put(value));
      break;
    case Refusal::kMissing:
      put_missing(modules, name, value, &out.put(name).put('=').put_printable(value, 60));
      break;
    case Refusal::kModule:
      put_module(modules, refusal.module, &out.put(name).put('=').put_printable(value, 60));
      break;
    case Refusal::kValue:
      put_selector_values(modules, name, &out.put(name).put(" option value must be "));
      break;
    case Refusal::kNothing:
      put_choices(modules, &out);
      break;
    case Refusal::kFormat:
      put_unit(modules, list, name, &out);
      put_unit(modules, list, value, &out.put(" is not supported with "));
      put_formats(modules, name, &after);
      break;
    case Refusal::kWindows:
      put_unit(modules, list, name, &out);
      out.put(" is not supported with ")
          .put(value)
          .put(": it has no counts to take a window from; hprof profile takes it beside the windows");
      break;
  }
  option_error(list, out.text(), error, after.text());
}

}  // namespace hprof
