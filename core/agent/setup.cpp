#include "core/agent/setup.h"

#include <cstdio>

#include <hprof/encoder.h>
#include <hprof/record.h>

#include "core/option/help.h"
#include "core/plugin/static_modules.h"
#include "platform/platform.h"

namespace hprof {

namespace {

constexpr const char* kDefaultFile = "java.hprof";

void print_to_stdout(void*, Str text) {
  platform::file_write_all(platform::standard_output(), text.data, text.size);
}

}  // namespace

Configured Setup::prepare(const char* options, const Messages& messages) {
  ModuleSearch search;
  search.linked_in = static_modules();
  search.loader = platform_library_loader();
  size_t size =
      platform::library_path_of(reinterpret_cast<const void*>(&print_to_stdout), agent_folder_, kPathMost);
  search.agent_folder = folder_of(Str(agent_folder_, size));
  Configured result = configure(Str(options), Str(platform::environment(kOptionEnvironment)), search,
                                messages, &configuration_, &error_);
  if (result == Configured::kHelp) print_help(configuration_.modules, {&print_to_stdout, nullptr});
  if (result == Configured::kRun && selection().collector_count != 0 && !choose_address())
    result = Configured::kFailed;
  return result;
}

bool Setup::choose_address() {
  const CoreConfig& config = core();
  const char* typed = config.net != nullptr && config.net[0] != '\0' ? config.net : config.file;
  int size;
  if (typed != nullptr && typed[0] != '\0') {
    size = snprintf(address_, sizeof(address_), "%s", typed);
  } else {
    auto* encoder = static_cast<const hprof_encoder_ops*>(unit(selection().encoder).record->ops);
    const char* suffix = HPROF_HAS(encoder, hprof_encoder_ops, file_suffix) ? encoder->file_suffix : "";
    size = snprintf(address_, sizeof(address_), "%s%s", kDefaultFile, suffix);
  }
  if (size >= 0 && static_cast<size_t>(size) < sizeof(address_)) return true;
  return option_error(configuration_.list, Str("the output's name is too long"), &error_);
}

bool Setup::emits(uint32_t kind) const {
  for (uint32_t i = 0; i < selection().collector_count; i++) {
    if ((unit(selection().collectors[i]).record->records & HPROF_RECORD_BIT(kind)) != 0) return true;
  }
  return false;
}

bool Setup::selects(const char* option, const char* value) const {
  const OptionItem* item = configuration_.list.find(Str(option));
  return item != nullptr && Str(item->value) == Str(value);
}

bool Setup::selects_pattern(const char* pattern) const {
  Str text(pattern);
  const size_t equals = text.find('=');
  const OptionItem* item = configuration_.list.find(text.part(0, equals));
  if (item == nullptr || equals >= text.size) return false;
  Str wanted = text.part(equals + 1);
  Str value(item->value);
  if (wanted.empty() || wanted[wanted.size - 1] != '*') return value == wanted;
  wanted = wanted.part(0, wanted.size - 1);
  return value.size >= wanted.size && value.part(0, wanted.size) == wanted;
}

}  // namespace hprof
