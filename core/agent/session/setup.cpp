#include "core/agent/session/setup.h"

#include <cstring>

#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/record.h>
#include <hprof/sink.h>

#include "core/agent/vm/capabilities.h"
#include "core/base/build.h"
#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "core/plugin/static_modules.h"
#include "platform/platform.h"

namespace hprof {

namespace {

constexpr const char* kDefaultFile = "java.hprof";

void print_to_stdout(void*, Str text) {
  platform::file_write_all(platform::standard_output(), text.data, text.size);
}

}  // namespace

Configured Setup::prepare(const char* options, bool attached, const Messages& messages) {
  attached_ = attached;
  ModuleSearch search;
  search.linked_in = static_modules();
  search.loader = platform_library_loader();
  // Units that were linked in are verified by the checks of their build.
  if (kHasModules || kChecks) search.verify = &verify_foreign;
  size_t size =
      platform::library_path_of(reinterpret_cast<const void*>(&print_to_stdout), agent_folder_, kPathMost);
  search.agent_folder = folder_of(Str(agent_folder_, size));
  Configured result = configure(Str(options), Str(platform::environment(kOptionEnvironment)), search,
                                messages, &configuration_, &error_);
  if (result == Configured::kHelp && !print_help()) result = Configured::kFailed;
  if (result == Configured::kRun && !is_without_effect() && !choose_address()) result = Configured::kFailed;
  return result;
}

bool Setup::print_help() {
  ModuleSet& modules = configuration_.modules;
  const HelpTable* help = open_help(&modules);
  if (help == nullptr)
    return option_error(configuration_.list, Str("the module help_texts, is not in this build"), &error_);
  const TextOut out = help_.put != nullptr ? help_ : TextOut{&print_to_stdout, nullptr};
  switch (configuration_.list.help()) {
    case Help::kPlugins:
      help->print_modules(modules, nullptr, out);
      break;
    case Help::kUnits:
      help->print_modules(modules, need_name, out);
      break;
    default:
      help->print_help(modules, out);
  }
  return true;
}

// The sink expands percent signs, so they are doubled.
void Setup::put_folder(const char* file, TextWriter* out) const {
  if (folder_.empty() || platform::is_absolute_path(file)) return;
  for (size_t i = 0; i < folder_.size; i++) {
    out->put(folder_[i]);
    if (folder_[i] == '%') out->put('%');
  }
  out->put('/');
}

void Setup::put_filter_suffix(TextWriter* out) const {
  if (kEmbedded || selection().filter == Selection::kNone) return;
  auto* filter = static_cast<const hprof_filter_ops*>(unit(selection().filter).record->ops);
  if (HPROF_HAS(filter, hprof_filter_ops, file_suffix)) out->put(filter->file_suffix);
}

bool Setup::choose_address() {
  const CoreConfig& config = core();
  TextWriter address(address_, sizeof(address_));
  if (config.net != nullptr && config.net[0] != '\0') {
    address.put(config.net);
  } else if (config.file != nullptr && config.file[0] != '\0') {
    put_folder(config.file, &address);
    address.put(config.file);
  } else {
    auto* encoder = static_cast<const hprof_encoder_ops*>(unit(selection().encoder).record->ops);
    put_folder(kDefaultFile, &address);
    address.put(kDefaultFile)
        .put(HPROF_HAS(encoder, hprof_encoder_ops, file_suffix) ? encoder->file_suffix : "");
    put_filter_suffix(&address);
  }
  if (!address.cut()) return true;
  return option_error(configuration_.list, Str("the output's name is too long"), &error_);
}

uint32_t Setup::existing() const {
  if (core().force == 0) return HPROF_EXISTING_KEEP;
  return attached_ && !is_typed("force") ? HPROF_EXISTING_NUMBER : HPROF_EXISTING_REPLACE;
}

void Setup::put_options(TextWriter* out) const {
  const OptionList& list = configuration_.list;
  for (uint32_t i = 0; i < list.count(); i++) {
    const OptionItem& item = list[i];
    if (!item.replaced && !is_free_text(item)) out->put(" ").put(item.name).put("=").put(item.value);
  }
}

bool Setup::is_free_text(const OptionItem& item) const {
  if (is_profile_selector(item.name)) return false;
  const hprof_option* row = find_core_option(item.name);
  for (uint32_t i = 0; row == nullptr && i < selection().collector_count; i++)
    row = options_of(*unit(selection().collectors[i]).record).find(item.name);
  return row != nullptr ? row->type == HPROF_OPTION_TEXT : Str(item.value) != "y";
}

bool Setup::emits(const char* name) const {
  for (uint32_t i = 0; i < selection().collector_count; i++) {
    if (hprof_is_listed(unit(selection().collectors[i]).record->records, name) != 0) return true;
  }
  return false;
}

// A heap dump shows what there is, and leaves nothing behind for another one.
const char* Setup::common_profile(const Setup& other) const {
  for (uint32_t i = 0; i < modules().unit_count(); i++) {
    const hprof_unit* own = unit(i).record;
    if (!unit(i).is_profile || hprof_is_listed(own->records, HPROF_KIND_HEAP_DUMP_BEGIN) != 0) continue;
    for (uint32_t j = 0; j < other.modules().unit_count(); j++) {
      const Unit& theirs = other.unit(j);
      if (theirs.is_profile && strcmp(own->id, theirs.record->id) == 0) return own->id;
    }
  }
  return nullptr;
}

const void* Setup::find_extension(const char* unit_id, const char* id) const {
  const ModuleSet& modules = configuration_.modules;
  for (uint32_t i = 0; i < modules.unit_count(); i++) {
    const Unit& unit = modules.unit(i);
    if (!unit.runs || (unit_id != nullptr && Str(unit.record->id) != Str(unit_id))) continue;
    const bool has_some = HPROF_HAS(unit.record, hprof_unit, extension);
    if (const void* table = has_some ? unit.record->extension(id) : nullptr) return table;
  }
  return nullptr;
}

bool Setup::selects_pattern(const char* pattern) const {
  Str text(pattern);
  const size_t equals = text.find('=');
  const OptionItem* item = configuration_.list.find(text.part(0, equals));
  return item != nullptr && equals < text.size && matches_pattern(text.part(equals + 1), item->value);
}

}  // namespace hprof
