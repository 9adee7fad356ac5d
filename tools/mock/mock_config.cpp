#include "mock_config.h"

#include <cstdio>
#include <cstdlib>

namespace hprof {

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "mock_config: %s\n", why.c_str());
  std::abort();
}

uint64_t parse_size(const std::string& text, const std::string& name) {
  char* end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) give_up(name + "=" + text);
  switch (*end) {
    case 0:
      return value;
    case 'k':
      return value << 10;
    case 'm':
      return value << 20;
    case 'g':
      return value << 30;
    default:
      give_up(name + "=" + text);
  }
}

uint32_t parse_choice(const hprof_option& row, const std::string& text) {
  const std::string all = row.choices;
  size_t at = 0;
  for (uint32_t n = 0;; n++) {
    const size_t end = all.find('|', at);
    if (all.substr(at, end - at) == text) return n;
    if (end == std::string::npos) give_up(std::string(row.name) + "=" + text);
    at = end + 1;
  }
}

}  // namespace

MockConfig::MockConfig(const hprof_unit& unit, const std::map<std::string, std::string>& values)
    : bytes_((unit.config_size + 7) / 8) {
  texts_.reserve(unit.option_count);
  std::map<std::string, std::string> left = values;
  uint8_t* base = reinterpret_cast<uint8_t*>(bytes_.data());
  for (uint32_t i = 0; i < unit.option_count; i++) {
    const auto& row = *reinterpret_cast<const hprof_option*>(reinterpret_cast<const char*>(unit.options) +
                                                             size_t{i} * unit.option_stride);
    const auto given = left.find(row.name);
    if (given == left.end() && row.default_text == nullptr) continue;
    const std::string text = given != left.end() ? given->second : row.default_text;
    if (given != left.end()) left.erase(given);
    void* at = base + row.offset;
    switch (row.type) {
      case HPROF_OPTION_FLAG:
        *static_cast<uint32_t*>(at) = text == "y";
        break;
      case HPROF_OPTION_INT:
        *static_cast<int64_t*>(at) = std::strtoll(text.c_str(), nullptr, 10);
        break;
      case HPROF_OPTION_REAL:
        *static_cast<double*>(at) = std::strtod(text.c_str(), nullptr);
        break;
      case HPROF_OPTION_TEXT:
        texts_.push_back(text);
        *static_cast<const char**>(at) = texts_.back().c_str();
        break;
      case HPROF_OPTION_CHOICE:
        *static_cast<uint32_t*>(at) = parse_choice(row, text);
        break;
      case HPROF_OPTION_SIZE:
        *static_cast<uint64_t*>(at) = parse_size(text, row.name);
        break;
      case HPROF_OPTION_MILLIS:
        *static_cast<uint64_t*>(at) = static_cast<uint64_t>(std::strtod(text.c_str(), nullptr) * 1e6);
        break;
      default:
        give_up(std::string("unknown type of option ") + row.name);
    }
  }
  if (!left.empty()) give_up("no such option: " + left.begin()->first);
}

const hprof_module* mock_open(hprof_module_entry entry) {
  const hprof_offer offer = {sizeof(hprof_offer), HPROF_ABI_MAJOR, HPROF_ABI_MINOR, HPROF_LAYOUT_WORD};
  const char* reason = nullptr;
  const hprof_module* module = entry(&offer, &reason);
  if (module == nullptr) give_up(reason != nullptr ? reason : "the module refused without a reason");
  return module;
}

const hprof_unit& mock_unit(hprof_module_entry entry, const std::string& id) {
  const hprof_module* module = mock_open(entry);
  for (uint32_t i = 0; i < module->unit_count; i++) {
    if (id == module->units[i]->id) return *module->units[i];
  }
  give_up("no unit " + id);
}

}  // namespace hprof
