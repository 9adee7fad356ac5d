// The files that `hprof plugin new` writes, with my_unit, MyUnit and MY_UNIT in place of the unit's name.
#pragma once

namespace hprof::tool {

struct Template {
  const char* path;  // "<kind or language>/<file>"
  const char* text;
};
extern const Template kTemplates[];  // ends with nullptr

}  // namespace hprof::tool
