// The examples that `hprof plugin new` copies, with the name of the new unit in place of theirs.
#pragma once

namespace hprof::tool {

struct Template {
  const char* path;  // "<example>/<file>"
  const char* text;
};
extern const Template kTemplates[];  // ends with nullptr

}  // namespace hprof::tool
