// Command lines of asprof, jcmd, jmap and others, typed behind hprof.
#pragma once

#include <string>

#include "tools/hprof/command.h"

namespace hprof::tool {

// Our command line that does the same: "hprof profile --seconds=10 4711 cpu=samples"; "": none is known.
std::string ours_for(const Arguments& line);

}  // namespace hprof::tool
