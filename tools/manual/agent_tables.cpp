// The lists of the agent's commands and of what it knows of HotSpot, for the pages.
#include <cstdio>
#include <cstring>
#include <string>

#include "core/protocol/command_table.h"
#include "tools/hprof/command.h"
#include "tools/manual/manual.h"

namespace hprof::manual {
namespace {

// What the body holds, after the u2 of a control option.
const char* body(const CommandRow& row) {
  switch (row.form) {
    case CommandForm::kSites:
      return "; u2 flags: 1 incremental, 2 by allocation, 4 force GC first; f4 cutoff";
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

// " (tag and body)"; "": has none.
std::string on_the_wire(const CommandRow& row) {
  if (row.tag == kTagNone) return "";
  char text[20];
  if (row.tag == kTagControl)
    snprintf(text, sizeof(text), " (0x%02x %u", row.tag, row.option);
  else
    snprintf(text, sizeof(text), " (0x%02x", row.tag);
  return std::string(text) + body(row) + ")";
}

struct Row {
  const char* name;
  const char* effect;
  const char* what;
  const char* seen;
  const char* proof;
  const char* otherwise;
  const char* option;
};
constexpr Row kRows[] = {
#define HPROF_ITEM(id, ...) {__VA_ARGS__},
#include "core/vm_tables/items.def"
#undef HPROF_ITEM
};

// "8 11 17" -> "8, 11, 17"
std::string with_commas(const char* words) {
  std::string text;
  for (; *words != '\0'; words++) text += *words == ' ' ? std::string(", ") : std::string(1, *words);
  return text;
}

// "": those of the first row, which the page lists.
std::string versions(const Row& row) {
  return strcmp(row.seen, kRows[0].seen) == 0 ? "" : "; Java " + with_commas(row.seen);
}

std::string otherwise(const Row& row) {
  return row.option[0] == '\0' ? row.otherwise
                               : std::string(row.otherwise) + " Also with " + row.option + ".";
}

void print_commands() {
  for (const CommandRow& row : kCommands)
    printf("- `%s`%s: %s\n", tool::usage_of(row).c_str(), on_the_wire(row).c_str(), row.help);
}

void print_items(bool that_change) {
  for (const Row& row : kRows) {
    if ((strcmp(row.effect, "changes") == 0 || strcmp(row.effect, "writes") == 0) != that_change) continue;
    printf("- **`%s`** (%s%s): %s *Verified*: %s *Otherwise*: %s\n", row.name, row.effect,
           versions(row).c_str(), row.what, row.proof, otherwise(row).c_str());
  }
}

}  // namespace

bool print_agent_table(const std::string& name) {
  if (name == "agent-commands") {
    print_commands();
  } else if (name == "agent-items-change" || name == "agent-items-read") {
    print_items(name == "agent-items-change");
  } else {
    return false;
  }
  return true;
}

}  // namespace hprof::manual
