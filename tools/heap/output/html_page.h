// A document as one self-contained HTML page: no script, no font, no image.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/heap/output/document.h"

namespace hprof::tool {

// For element content and attributes.
std::string html_text(const std::string& text);
// Without ids: another page has the section.
void write_html_section(const Section& section, std::ostream& out);
void write_html(const Document& document, const std::string& title, std::ostream& out);

}  // namespace hprof::tool
