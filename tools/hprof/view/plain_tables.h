// Tables without stacks as text and as HTML.
#pragma once

#include <ostream>
#include <string>

#include "tools/heap/output/document.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// A table of lines by their words, if each row has as many as the headings; else by their only cell. One that
// has columns as it is.
PlainTable with_columns(const PlainTable& table);
// "the sum of 3 windows", "the last of 3 windows"; "": it is not of several.
std::string windows_text(const PlainTable& table);
// Writes the first rows of a table that has columns: headings, and cells below each other. top: 0 = all.
void write_cells(const PlainTable& table, uint64_t top, std::ostream& out);
// A number of JSON, if the text is one in decimal digits.
Cell data_cell(const std::string& text);
// The table in JSON: a field for each column, or for each line of a table without columns.
Section section_of(const PlainTable& table, uint64_t top);
// The tables of a profile that have rows, each to be unfolded; "": there are none.
std::string html_of_plain_tables(const Profile& profile);

}  // namespace hprof::tool
