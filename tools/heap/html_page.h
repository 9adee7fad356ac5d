// A document as one self-contained HTML page: no script, no font, no image.
#pragma once

#include <iosfwd>

#include "tools/heap/document.h"

namespace hprof::tool {

void write_html(const Document& document, const std::string& title, std::ostream& out);

}  // namespace hprof::tool
