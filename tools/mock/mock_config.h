// Fills in a unit's config struct without the core's option parser.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <hprof/plugin.h>

namespace hprof {

// The struct, with the defaults of the unit's rows and `values` (by option name). A value that does not parse
// ends the test.
class MockConfig {
 public:
  explicit MockConfig(const hprof_unit& unit, const std::map<std::string, std::string>& values = {});
  const void* data() const { return bytes_.empty() ? nullptr : bytes_.data(); }

 private:
  std::vector<uint64_t> bytes_;
  std::vector<std::string> texts_;
};

// Opens a library's module as the core does; ends the test if it refuses.
const hprof_module* mock_open(hprof_module_entry entry);
// One of its units, by id.
const hprof_unit& mock_unit(hprof_module_entry entry, const std::string& id);

}  // namespace hprof
