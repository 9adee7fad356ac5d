// Prints the commands of core/control as Markdown, for docs/control.md: as lines of text, and as net= takes
// them.
#include "core/control/command_table.h"

#include <cstdio>
#include <string>

using namespace hprof;

namespace {

std::string usage(const CommandRow& row) {
  char text[100];
  TextWriter out(text, sizeof(text));
  put_usage(row, &out);
  return text;
}

// What the body holds, after the u2 of a control option.
const char* body(const CommandRow& row) {
  switch (row.form) {
    case CommandForm::kSites:
      return "; u2 flags (1 incremental, 2 by allocation, 4 force GC first), f4 cutoff";
    case CommandForm::kSamples:
      return "; u2 ignored, f4 cutoff";
    case CommandForm::kThread:
      return "; id of a thread object";
    case CommandForm::kDepth:
      return ", u2 frames";  // not to be left out
    case CommandForm::kPlain:
    case CommandForm::kDetach:
      break;
  }
  return row.tag == kTagControl && row.option == kControlClearSites ? "; with u2: depth" : "";
}

std::string on_the_wire(const CommandRow& row) {
  if (row.tag == kTagNone) return "";
  char text[20];
  if (row.tag == kTagControl)
    snprintf(text, sizeof(text), "0x%02x %u", row.tag, row.option);
  else
    snprintf(text, sizeof(text), "0x%02x", row.tag);
  return std::string(text) + body(row);
}

}  // namespace

int main() {
  puts("| command | tag and body of `net=` | what it does |\n| --- | --- | --- |");
  for (const CommandRow& row : kCommands)
    printf("| `%s` | %s | %s |\n", usage(row).c_str(), on_the_wire(row).c_str(), row.help);
  return 0;
}
