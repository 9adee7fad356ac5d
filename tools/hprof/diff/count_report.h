// Checked conditions for the comment of a pull request, and for what shows tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/heap/output/document.h"
#include "tools/hprof/diff/count_check.h"

namespace hprof::tool {

// A table of the conditions, and one of the rows why they hold, in GitHub's Markdown. files: what was
// compared.
void write_markdown(const std::vector<CheckedCondition>& checked, const std::string& files,
                    std::ostream& out);
// JUnit's XML: a test case for each condition and table, failed if it holds.
std::string junit_text(const std::vector<CheckedCondition>& checked);
// The conditions in JSON; those that hold also have a part, with the rows and their callers.
Section json_of(const std::vector<CheckedCondition>& checked);

}  // namespace hprof::tool
